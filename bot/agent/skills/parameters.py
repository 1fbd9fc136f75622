"""The parameters of a skill as JSON Schema, and values checked against it."""

from collections.abc import Mapping

from pydantic import JsonValue

from bot.agent.arguments import check_arguments
from bot.agent.skills.definition import Items, Parameter
from bot.agent.tools import JsonSchema


def build_schema(parameters: Mapping[str, Parameter]) -> JsonSchema:
    """Return the JSON Schema of parameters: an object that takes no others."""
    return {
        "type": "object",
        "properties": {name: _describe(one) for name, one in parameters.items()},
        "required": [name for name, one in parameters.items() if one.required],
        "additionalProperties": False,
    }


def check_given(schema: JsonSchema, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what was filled in, with defaults; what is empty counts as not given.

    Raises:
        ToolRetryError: It does not fit; the message says which value and what would.
    """
    properties = schema.get("properties")
    known: Mapping[str, JsonValue] = properties if isinstance(properties, dict) else {}
    values = {name: value for name, value in given.items() if value is not None and value != ""}
    for name, one in known.items():
        default = one.get("default") if isinstance(one, dict) else None
        if name not in values and default is not None:
            values[name] = default
    return check_arguments(values, schema)


def _describe(one: Parameter) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {"type": one.type, "description": one.description}
    if one.type == "string":
        schema["maxLength"] = one.max_length
    if one.type == "array":
        schema["items"] = _describe_items(one.items)
        schema["maxItems"] = 100
    optional: dict[str, JsonValue] = {
        "enum": list(one.enum),
        "format": one.format,
        "pattern": one.pattern,
    }
    schema.update({name: value for name, value in optional.items() if value})
    limits: dict[str, JsonValue] = {
        "minimum": one.minimum,
        "maximum": one.maximum,
        "default": one.default,
    }
    schema.update({name: value for name, value in limits.items() if value is not None})
    return schema


def _describe_items(items: Items) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {"type": items.type}
    if items.enum:
        schema["enum"] = list(items.enum)
    if items.format:
        schema["format"] = items.format
    return schema
