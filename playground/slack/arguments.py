"""The arguments of one call, as a form, as JSON or in the address."""

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from playground.slack.refusals import SlackRefusalError, refuse_argument

_TRUE = {"true", "1"}


class Arguments:
    """A call's arguments; values of a form are texts, in JSON they have their types."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def text(self, name: str) -> str:
        """Return a text; empty when it is not given."""
        value = self.values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise refuse_argument(f"[ERROR] must be a string [json-pointer:/{name}]")
        return value

    def need(self, name: str) -> str:
        """Return a text that must be given."""
        value = self.text(name)
        if not value:
            raise refuse_argument(f"[ERROR] missing required field: {name}")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a truth value."""
        value = self.values.get(name, default)
        return value if isinstance(value, bool) else str(value).lower() in _TRUE

    def number(self, name: str, default: int) -> int:
        """Return a whole number."""
        value = self.values.get(name, default)
        try:
            return int(value)
        except (TypeError, ValueError) as error:
            raise refuse_argument(f"[ERROR] must be an integer [json-pointer:/{name}]") from error

    def json(self, name: str) -> Any:  # noqa: ANN401 - JSON of any form
        """Return an object or list, which a form carries as text; None when it is not given."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError as error:
            raise refuse_argument(f"[ERROR] invalid json [json-pointer:/{name}]") from error


async def read_arguments(request: web.Request) -> Arguments:
    """Read a call's arguments.

    Raises:
        SlackRefusalError: The body is not what its content type says.
    """
    values: dict[str, Any] = dict(request.query)
    if request.method == "GET":
        return Arguments(values)
    match request.content_type:
        case "application/json":
            values |= _read_json(await request.text())
        case "application/x-www-form-urlencoded" | "multipart/form-data":
            values |= dict(await request.post())
        case _:
            if await request.read():
                raise SlackRefusalError("invalid_post_type")
    return Arguments(values)


def _read_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise SlackRefusalError("invalid_json") from error
    if not isinstance(found, dict):
        raise SlackRefusalError("json_not_object")
    return found
