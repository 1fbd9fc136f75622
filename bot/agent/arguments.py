"""Arguments of tool calls: mended where it is plain what is meant, checked by JSON Schema.

What can't be mended goes back to the model, with what is wrong and how it is written.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from pydantic import JsonValue

from bot.agent.dates_said import read_day, read_moment
from bot.agent.tools import JsonSchema
from bot.agent.written_calls import load_json
from bot.rag.numerals import CHINESE_NUMERAL, fold_width, parse_chinese
from bot.rag.values import ValueKind, extract_values
from core.errors import ToolRetryError

Restore = Callable[[str], str]

MOST_CHARS = 20_000
MOST_FAULTS = 3
_WRAPPERS = ("arguments", "parameters", "args", "input", "properties")
_WIDE = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0d\uff0f\u3000]+")
_BETWEEN = re.compile(r"\s*[,，、;；\n]\s*")
_KEY_SIGNS = re.compile(r"[\s_-]+")
_COUNT = re.compile(r"(?<=[\d零一二两三四五六七八九十百千万])[\s-]*(?:个?[^\d\s.,]+)$")
_TRUE = frozenset({"true", "yes", "y", "1", "是", "对", "需要"})
_FALSE = frozenset({"false", "no", "n", "0", "否", "不", "不需要"})
_FORMATS = FormatChecker(formats=("date", "email"))


@_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or bool(datetime.fromisoformat(value))


def read_arguments(
    raw: str, schema: JsonSchema, now: datetime, *, restore: Restore | None = None
) -> dict[str, JsonValue]:
    """Parse, mend and check the arguments of a call.

    Args:
        raw: As the model wrote them.
        schema: Of the tool, an object.
        now: What "tomorrow" is counted from.
        restore: Puts text back that was kept from the model; None = nothing was.

    Raises:
        ToolRetryError: They can't be used; the message says what to mend.
    """
    arguments = _parse(raw, schema)
    if restore is not None:
        arguments = {key: change_texts(value, restore) for key, value in arguments.items()}
    return check_arguments(mend_arguments(arguments, schema, now), schema)


def change_texts(value: JsonValue, change: Restore) -> JsonValue:
    """Return a value with every text in it changed, keys left as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [change_texts(one, change) for one in value]
    if isinstance(value, dict):
        return {key: change_texts(one, change) for key, one in value.items()}
    return value


def mend_arguments(
    arguments: Mapping[str, JsonValue], schema: JsonSchema, now: datetime
) -> dict[str, JsonValue]:
    """Write arguments the way the schema wants them, where it is plain what is meant."""
    properties = _get_properties(schema)
    mended: dict[str, JsonValue] = {}
    for key, value in _mend_keys(arguments, schema).items():
        one = properties.get(key)
        # What is not given is often sent as null or an empty text.
        if value is None or (value == "" and key not in _get_required(schema)):
            continue
        mended[key] = _mend(value, one, now) if isinstance(one, Mapping) else value
    return mended


def check_arguments(arguments: Mapping[str, JsonValue], schema: JsonSchema) -> dict[str, JsonValue]:
    """Return arguments that meet the schema.

    Raises:
        ToolRetryError: They do not; the message names each fault.
    """
    validator = Draft202012Validator(dict(schema), format_checker=_FORMATS)
    faults = sorted(validator.iter_errors(dict(arguments)), key=lambda one: list(one.path))
    if faults:
        raise ToolRetryError("; ".join(_describe(one) for one in faults[:MOST_FAULTS]))
    return dict(arguments)


def _parse(raw: str, schema: JsonSchema) -> Mapping[str, JsonValue]:
    if len(raw) > MOST_CHARS:
        raise ToolRetryError(
            f"the arguments have {len(raw)} characters; {MOST_CHARS} are allowed, write less"
        )
    if not raw.strip():
        return {}
    try:
        value = load_json(raw)
    except ValueError:
        value = raw.strip()
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = load_json(value)
        except ValueError as error:
            known = ", ".join(_get_properties(schema))
            raise ToolRetryError(
                f"the arguments are no JSON object; write one with {known}"
            ) from error
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict):
        return _unwrap(value, schema)
    required = _get_required(schema)
    if len(required) == 1 and isinstance(value, str | int | float):
        return {required[0]: value}
    known = ", ".join(_get_properties(schema))
    raise ToolRetryError(f"the arguments must be one JSON object with {known}")


def _unwrap(value: Mapping[str, JsonValue], schema: JsonSchema) -> Mapping[str, JsonValue]:
    """Take arguments out of an object that holds nothing else."""
    if len(value) == 1:
        [(key, inner)] = value.items()
        if key in _WRAPPERS and key not in _get_properties(schema) and isinstance(inner, dict):
            return inner
    return value


def _mend_keys(arguments: Mapping[str, JsonValue], schema: JsonSchema) -> dict[str, JsonValue]:
    """Name arguments as the schema does; a single one of another name is the one missing."""
    by_fold = {_fold_key(key): key for key in _get_properties(schema)}
    named = {by_fold.get(_fold_key(key), key): value for key, value in arguments.items()}
    missing = [key for key in _get_required(schema) if key not in named]
    unknown = [key for key in named if key not in _get_properties(schema)]
    if len(missing) == len(unknown) == 1:
        named[missing[0]] = named.pop(unknown[0])
    return named


def _fold_key(key: str) -> str:
    return _KEY_SIGNS.sub("", fold_width(key)).casefold()


def _mend(value: JsonValue, schema: Mapping[str, JsonValue], now: datetime) -> JsonValue:
    if isinstance(enum := schema.get("enum"), list):
        return _choose(value, enum)
    kind = schema.get("type")
    if kind == "array":
        return _mend_list(value, schema, now)
    if kind == "string":
        return _mend_text(value, schema, now)
    mend = _MENDERS.get(str(kind))
    return mend(value) if mend else value


def _choose(value: JsonValue, options: list[JsonValue]) -> JsonValue:
    if value in options or not isinstance(value, str | int | float):
        return value
    folded = _fold_key(str(value))
    same = [one for one in options if _fold_key(str(one)) == folded]
    return same[0] if len(same) == 1 else value


def _mend_number(value: JsonValue) -> JsonValue:
    """Read "30 万", "3.2 million", "１,２００ 元" or 三十 as a number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, str):
        return value
    text = fold_width(value).strip()
    found = [
        one for one in extract_values(text) if one.kind not in {ValueKind.DATE, ValueKind.TIME}
    ]
    if len(found) != 1:
        return _read_plain(text, value)
    amount = found[0].amount
    if found[0].kind is ValueKind.DURATION:
        # Its amount is in seconds; the unit asked for is in the tool's own words.
        bare = _COUNT.sub("", found[0].text)
        if re.fullmatch(CHINESE_NUMERAL, bare):
            amount = parse_chinese(bare)
        elif len(counts := extract_values(bare)) == 1:
            amount = counts[0].amount
    if text.startswith("-") and found[0].start <= 1:
        amount = -abs(amount)
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def _read_plain(text: str, value: JsonValue) -> JsonValue:
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return value
    # Infinity and NaN are no JSON.
    if number != number or abs(number) == float("inf"):  # noqa: PLR0124 - NaN alone differs
        return value
    return int(number) if number.is_integer() else number


def _mend_claim(value: JsonValue) -> JsonValue:
    text = fold_width(str(value)).strip().casefold()
    if text in _TRUE:
        return True
    return False if text in _FALSE else value


def _mend_list(value: JsonValue, schema: Mapping[str, JsonValue], now: datetime) -> JsonValue:
    if isinstance(value, str):
        try:
            loaded = load_json(value)
        except ValueError:
            loaded = None
        texts: list[JsonValue] = [one for one in _BETWEEN.split(value.strip()) if one]
        value = loaded if isinstance(loaded, list) else texts
    if not isinstance(value, list):
        value = [value]
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return value
    return [_mend(one, items, now) for one in value]


def _mend_object(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    try:
        loaded = load_json(value)
    except ValueError:
        return value
    return loaded if isinstance(loaded, dict) else value


_MENDERS: Mapping[str, Callable[[JsonValue], JsonValue]] = {
    "integer": _mend_number,
    "number": _mend_number,
    "boolean": _mend_claim,
    "object": _mend_object,
}


def _mend_text(value: JsonValue, schema: Mapping[str, JsonValue], now: datetime) -> JsonValue:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = _WIDE.sub(lambda match: fold_width(match.group()), str(value)).strip()
    match schema.get("format"):
        case "date":
            return read_day(text, now) or text
        case "date-time":
            return read_moment(text, now) or text
        case "email":
            return "".join(fold_width(text).split())
    if isinstance(pattern := schema.get("pattern"), str):
        return _mend_code(text, pattern)
    return text


def _mend_code(text: str, pattern: str) -> str:
    """Write a code the way its pattern has it, when case, width and blanks are all that differs."""
    bare = "".join(fold_width(text).split())
    for one in (text, fold_width(text).strip(), bare, bare.upper(), bare.lower()):
        if re.search(pattern, one):
            return one
    return text


def _describe(fault: ValidationError) -> str:
    place = ".".join(str(part) for part in fault.path)
    said = _shorten(str(fault.message))
    match fault.validator:
        case "enum":
            options = json.dumps(fault.validator_value, ensure_ascii=False)
            return f"{place!r} must be one of {_shorten(options)}"
        case "format" if fault.validator_value == "date":
            return f"{place!r} must be a date such as 2026-11-30"
        case "format" if fault.validator_value == "date-time":
            return f"{place!r} must be a time such as 2026-11-30T09:00"
        case "type":
            return f"{place!r} must be of type {fault.validator_value}" if place else said
        case _:
            return f"{place!r}: {said}" if place else said


def _shorten(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def _get_properties(schema: JsonSchema) -> Mapping[str, JsonValue]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _get_required(schema: JsonSchema) -> list[str]:
    required = schema.get("required")
    return [str(one) for one in required] if isinstance(required, list) else []
