"""Skills as the rest of the product meets them: rights, arguments and time checked in one place."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from bot.agent.actions import ActionState, Parameters, hash_parameters
from bot.agent.caller import Caller
from bot.agent.skills.building import Act, Built, Lookup, TraceableAct
from bot.agent.skills.definition import BaseSkill, Words
from bot.agent.skills.parameters import build_schema, check_given
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.templates import fill_text
from bot.agent.tools import JsonSchema, ToolResult
from bot.agent.write_skill import SkillResult
from core.errors import PermanentError, RefusedError, ToolFailedError, ToolRetryError

_MASK = "[…]"
_SHORTEST_SECRET = 6

Mask = Callable[[str], str]


def build_mask(secrets: Iterable[str]) -> Mask:
    """Return a function that hides secrets in a text, as when a service repeats them."""
    hidden = sorted((one for one in secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True)

    def mask(text: str) -> str:
        for secret in hidden:
            text = text.replace(secret, _MASK)
        return text

    return mask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guarded:
    """What both sorts of skills have.

    Attributes:
        parameters: JSON Schema of what has to be filled in.
        mask: Hides secrets in what comes back.
    """

    definition: BaseSkill
    parameters: JsonSchema
    mask: Mask

    @property
    def name(self) -> str:
        """Its name."""
        return self.definition.name

    @property
    def description(self) -> str:
        """What it does and when to use it, for a model."""
        return self.definition.description

    def is_offered_to(self, caller: Caller) -> bool:
        """Tell whether this person may know of it and use it at all."""
        return caller.has_any(self.definition.visible_to)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTool(_Guarded):
    """A skill that only looks something up; a `Tool`."""

    lookup: Lookup

    @property
    def timeout_s(self) -> float:
        """After that long it is given up."""
        return self.definition.timeout_s

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Look it up; raises as `Tool.run`."""
        if not self.is_offered_to(caller):
            raise RefusedError(f"{self.name!r} is not for this person")
        checked = check_given(self.parameters, arguments)
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await self.lookup.run(checked, caller)
        except TimeoutError as error:
            raise ToolFailedError(
                f"{self.name!r} did not finish within {self.timeout_s:g} s"
            ) from error
        except ToolFailedError as error:
            raise ToolFailedError(self.mask(str(error))) from error
        is_for_all = caller.everybody_has_any(self.definition.visible_to)
        return replace(
            result,
            text=self.mask(result.text),
            rows=tuple(_mask_row(row, self.mask) for row in result.rows),
            is_for_asker_alone=result.is_for_asker_alone or not is_for_all,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillAction(_Guarded):
    """A skill that does something once a person has agreed; a `WriteSkill`.

    Attributes:
        fields: What the values of a draft are called, in the order in which they are shown.
        version: What else the effect depends on.
    """

    act: Act
    fields: Mapping[str, Words] = field(default_factory=dict)
    version: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def definition_hash(self) -> str:
        """Of everything the file says, and of the servers it means."""
        said = self.definition.model_dump(mode="json")
        return hash_parameters({"definition": said, "version": dict(self.version)})

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return what would be done; raises as `WriteSkill.normalise`.

        Args:
            parameters: What was filled in, from which the skill's texts are made; or the values of
                a draft, as after an edit.
        """
        known = self.parameters.get("properties")
        values = dict(parameters)
        if isinstance(known, dict) and values.keys() <= known.keys():
            values = self._fill(values)
        return self.act.normalise(values)

    def _fill(self, given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        try:
            checked = check_given(self.parameters, given)
        except ToolRetryError as error:
            raise PermanentError(str(error)) from error
        templates = self.definition.templates
        kept = {name: value for name, value in checked.items() if name in self.fields}
        return kept | {name: fill_text(one, checked) for name, one in templates.items()}

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Do it; when the time is over nobody knows what became of it."""
        try:
            async with asyncio.timeout(self.definition.timeout_s):
                result = await self.act.run(parameters, idempotency_key=idempotency_key)
        except TimeoutError:
            text = f"no reply within {self.definition.timeout_s:g} s"
            return SkillResult(state=ActionState.UNKNOWN, text=text)
        return replace(result, text=self.mask(result.text))

    @property
    def is_traceable(self) -> bool:
        """Whether the other side can be asked what became of it."""
        return isinstance(self.act, TraceableAct)

    async def find_outcome(
        self, parameters: Parameters, *, idempotency_key: str
    ) -> SkillResult | None:
        """Ask the other side what became of it; as `TraceableSkill.find_outcome`."""
        if not isinstance(self.act, TraceableAct):
            return None
        return await self.act.find_outcome(parameters, idempotency_key=idempotency_key)


Skill = SkillTool | SkillAction


def guard(file: SkillFile, built: Built, mask: Mask) -> Skill:
    """Put the checks around what a kind has built."""
    definition = file.definition
    schema = built.schema or build_schema(definition.parameters)
    if built.act is not None:
        return SkillAction(
            definition=definition,
            parameters=schema,
            act=built.act,
            mask=mask,
            fields=built.fields,
            version=built.version,
        )
    if built.lookup is None:
        raise TypeError(f"{definition.name!r} was built into nothing")
    return SkillTool(definition=definition, parameters=schema, lookup=built.lookup, mask=mask)


def _mask_row(row: Mapping[str, JsonValue], mask: Mask) -> Mapping[str, JsonValue]:
    text = json.dumps(row, ensure_ascii=False)
    hidden = mask(text)
    return row if hidden == text else {"value": hidden}
