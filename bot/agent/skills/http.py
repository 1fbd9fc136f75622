"""Skills that ask a service over HTTP: GET looks something up, everything else is an action."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue
from yarl import URL

from bot.agent.actions import ActionState, Parameters
from bot.agent.caller import Caller
from bot.agent.skills.building import Built, SkillParts
from bot.agent.skills.definition import BOUND_NAMES, HttpSkill
from bot.agent.skills.http_call import NotSentError, SafeCaller
from bot.agent.skills.parameters import build_schema, check_given
from bot.agent.skills.selection import select
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.tabulation import tabulate
from bot.agent.skills.templates import fill_path, fill_secrets, fill_value, find_names, find_secrets
from bot.agent.tools import JsonSchema, ToolResult
from bot.agent.write_skill import SkillResult
from core.errors import (
    PermanentError,
    RefusedError,
    SettingsError,
    ToolFailedError,
    ToolRetryError,
    TransientError,
    ZhixingError,
)
from core.http_reply import HttpReply

_MOST_ROWS = 100
_HAPPY = range(200, 300)
_CLIENT_FAULTS = range(400, 500)
# The service may have begun all the same.
_UNDECIDED = frozenset({408, 409, 423, 425})
_NOT_FOUND = frozenset({404, 410})


def build_http(file: SkillFile, parts: SkillParts) -> Built:
    """Build a skill.

    Raises:
        SkillFileError: Its address is not a listed host's, or a secret is not in the settings.
    """
    definition = file.read_as(HttpSkill)
    address = _check_address(file, definition, parts)
    secrets = {name: one.get_secret_value() for name, one in parts.skills.secrets.items()}
    for name, value in definition.headers.items():
        if missing := find_secrets(value) - secrets.keys():
            raise file.fail(
                f"the header {name!r} uses ${{{min(missing)}}}; add it to skills.secret_variables "
                "and set the variable",
                "headers",
                name,
            )
    request = HttpRequest(
        definition=definition,
        address=address,
        headers={name: fill_secrets(one, secrets) for name, one in definition.headers.items()},
        caller=parts.http,
    )
    if definition.is_write:
        act = HttpAct(request, build_schema(definition.parameters))
        return Built(
            act=act, fields={name: one.title for name, one in definition.parameters.items()}
        )
    return Built(lookup=HttpLookup(request))


def _check_address(file: SkillFile, definition: HttpSkill, parts: SkillParts) -> str:
    scheme, _, rest = definition.url.partition("://")
    authority, _, path = rest.partition("/")
    if find_names(authority) or "{" in authority:
        raise file.fail("`url`: the host is fixed; parameters belong into its path", "url")
    if "?" in rest or "#" in rest:
        raise file.fail("`url` ends before `?`; write what follows under `query`", "url")
    try:
        parts.http.hosts.check(URL(f"{scheme}://{authority}/"))
    except (SettingsError, ValueError) as error:
        raise file.fail(f"`url`: {error}", "url") from error
    return f"{scheme}://{authority}/{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """How a skill asks, secrets in place."""

    definition: HttpSkill
    address: str
    headers: Mapping[str, str]
    caller: SafeCaller

    async def send(self, values: Mapping[str, JsonValue], *, key: str = "") -> HttpReply:
        """Ask once.

        Raises:
            ToolRetryError: A value can't stand in an address.
            ZhixingError: As `SafeCaller.call`.
        """
        definition = self.definition
        headers = {"Accept": "application/json", **self.headers}
        body = None
        if definition.body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(fill_value(definition.body, values), ensure_ascii=False).encode()
        if key:
            headers[definition.idempotency_header] = key
        return await self.caller.call(
            definition.method,
            self._build_url(values),
            headers=headers,
            body=body,
            timeout_s=definition.timeout_s,
            most_bytes=definition.max_reply_kb * 1000,
        )

    def _build_url(self, values: Mapping[str, JsonValue]) -> URL:
        try:
            url = URL(fill_path(self.address, values), encoded=True)
        except ValueError as error:
            raise ToolRetryError(str(error)) from error
        filled = fill_value(dict(self.definition.query), values)
        query: Mapping[str, Any] = filled if isinstance(filled, dict) else {}
        return url.update_query(
            {name: str(one) for name, one in query.items() if one not in {None, ""}}
            if query
            else {}
        )


@dataclass(frozen=True, slots=True)
class HttpLookup:
    """Looks something up with GET."""

    request: HttpRequest

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Ask, and pick the result out of the reply.

        Raises:
            ToolRetryError: A value can't stand in an address.
            ToolFailedError: The service does not answer, refuses, or sends something else.
        """
        definition = self.request.definition
        person = caller.person
        used = find_names([definition.url, dict(definition.query)])
        is_personal = bool(used & (BOUND_NAMES - {"today"}))
        if is_personal and person is None:
            raise RefusedError(f"{definition.name!r} is about whoever asks, who is not known")
        bound: dict[str, JsonValue] = {
            "asker": str(person.person_id) if person else None,
            "asker_email": person.email if person else None,
            "asker_name": person.name if person else None,
            "today": caller.now.date().isoformat(),
        }
        try:
            reply = await self.request.send({**arguments, **bound})
        except (PermanentError, TransientError, SettingsError, RefusedError) as error:
            raise ToolFailedError(str(error)) from error
        if reply.status in _NOT_FOUND:
            return ToolResult(text="", has_found=False)
        rows = self._read(reply)
        return ToolResult(
            text=tabulate(rows) if rows else "",
            rows=tuple(rows),
            has_found=bool(rows),
            is_for_asker_alone=is_personal and bool(caller.listeners),
        )

    def _read(self, reply: HttpReply) -> list[dict[str, JsonValue]]:
        definition = self.request.definition
        if reply.status not in _HAPPY:
            raise ToolFailedError(f"{definition.name!r}: the service answered {reply.status}")
        found = select(_parse(reply, definition.name), definition.select)
        entries = found if isinstance(found, list) else [] if found is None else [found]
        rows = []
        for entry in entries[:_MOST_ROWS]:
            if definition.fields:
                row = {name: select(entry, path) for name, path in definition.fields.items()}
            else:
                row = dict(entry) if isinstance(entry, dict) else {"value": entry}
            rows.append(row)
        return rows


class HttpAct:
    """Does something at a service, once a person has agreed."""

    def __init__(self, request: HttpRequest, schema: JsonSchema) -> None:
        self._request = request
        self._schema = schema

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return the parameters; raises as `WriteSkill.normalise`."""
        try:
            checked = check_given(self._schema, parameters)
            fill_path(self._request.address, checked)
        except (ToolRetryError, ValueError) as error:
            raise PermanentError(str(error)) from error
        return checked

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Ask the service; a second time only if it tells a second try by its key."""
        result = await self._try(parameters, idempotency_key)
        if result.state is ActionState.UNKNOWN and self._request.definition.idempotent:
            return await self._try(parameters, idempotency_key)
        return result

    async def _try(self, parameters: Parameters, key: str) -> SkillResult:
        try:
            reply = await self._request.send(parameters, key=key)
        except (NotSentError, RefusedError, SettingsError, ToolRetryError) as error:
            return SkillResult(state=ActionState.FAILED, text=str(error))
        except ZhixingError as error:
            # It was sent; what became of it nobody knows.
            return SkillResult(state=ActionState.UNKNOWN, text=str(error))
        if reply.status in _HAPPY:
            return SkillResult(state=ActionState.DONE, text=self._describe(reply))
        text = f"the service answered {reply.status}: {reply.excerpt()}"
        is_refused = reply.status in _CLIENT_FAULTS and reply.status not in _UNDECIDED
        return SkillResult(
            state=ActionState.FAILED if is_refused else ActionState.UNKNOWN, text=text
        )

    def _describe(self, reply: HttpReply) -> str:
        definition = self._request.definition
        if not definition.fields:
            return f"the service answered {reply.status}"
        try:
            found = select(_parse(reply, definition.name), definition.select)
        except ToolFailedError:
            return f"the service answered {reply.status}"
        return tabulate([{name: select(found, path) for name, path in definition.fields.items()}])


def _parse(reply: HttpReply, name: str) -> JsonValue:
    try:
        parsed: JsonValue = json.loads(reply.body)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ToolFailedError(
            f"{name!r}: the service sent {reply.media_type or 'something'} that is not JSON"
        ) from error
    return parsed
