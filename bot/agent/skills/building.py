"""What a kind of skill is built from, and what it is built into."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from bot.agent.actions import Parameters
from bot.agent.caller import Caller
from bot.agent.skills.definition import Words
from bot.agent.skills.http_call import SafeCaller
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.trackers import Tracker
from bot.agent.tools import JsonSchema, ToolResult
from bot.agent.write_skill import SkillResult
from core.clock import Clock
from core.pacing import Timing
from core.readonly_database import ReadOnlyDatabase
from core.settings import MailSettings
from core.skill_settings import SkillSettings


@runtime_checkable
class Lookup(Protocol):
    """Looks something up for somebody whose right to the skill has been checked."""

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """Look it up; raises as `Tool.run`.

        Args:
            arguments: Checked against the skill's parameters.
            caller: Whose rights count.
        """
        ...


@runtime_checkable
class Act(Protocol):
    """Does something for a person who has agreed to exactly these values."""

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return the values in canonical form; the same for values that are so already.

        Raises:
            PermanentError: They can't be used; the message says what to mend.
        """
        ...

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Do it; as `WriteSkill.run`."""
        ...


@runtime_checkable
class TraceableAct(Protocol):
    """An act whose system can be asked whether it has been done."""

    async def find_outcome(
        self, parameters: Parameters, *, idempotency_key: str
    ) -> SkillResult | None:
        """Return what became of it; None when the system does not (yet) know of it.

        Raises:
            ZhixingError: The system can't be asked now.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillParts:
    """What the kinds stand on; opened once, shared by all skills.

    Attributes:
        home: What relative paths are relative to.
        http: Calls the hosts that are listed in the settings.
        databases: By name; nothing is connected before it is asked.
        trackers: By name.
        timing: How it is waited.
    """

    home: Path
    clock: Clock
    skills: SkillSettings
    mail: MailSettings
    http: SafeCaller
    databases: Mapping[str, ReadOnlyDatabase]
    trackers: Mapping[str, Tracker]
    timing: Timing = field(default_factory=Timing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a file became; either `lookup` or `act` is set.

    Attributes:
        schema: What has to be filled in, where the kind knows better than the file.
        fields: Of an act: what its values are called, in the order in which they are shown.
        version: What else the effect depends on, such as a server's address; another one makes
            another skill of it.
    """

    lookup: Lookup | None = None
    act: Act | None = None
    schema: JsonSchema | None = None
    fields: Mapping[str, Words] = field(default_factory=dict)
    version: Mapping[str, JsonValue] = field(default_factory=dict)


Builder = Callable[[SkillFile, SkillParts], Built]
"""Builds one kind; raises `SkillFileError` when the file names what is not there."""
