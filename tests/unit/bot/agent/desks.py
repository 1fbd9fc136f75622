"""A desk where notes are confirmed, with a skill that remembers what it did."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import JsonValue

from bot.agent.action_store import ActionStore, Run
from bot.agent.actions import ActionState, Parameters, PendingAction
from bot.agent.audit import AuditLog
from bot.agent.confirmation import Confirmation, SkillResult
from core.database import Database
from core.errors import PermanentError
from core.process_identity import name_process

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DONE = SkillResult(state=ActionState.DONE, text="sent")


def dead_process() -> str:
    """Return the name of a process of this machine that has ended."""
    machine, _, _ = name_process().partition("|")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return f"{machine}|{process.pid}|x"


@dataclass
class HandClock:
    moment: datetime = START

    def now(self) -> datetime:
        return self.moment


@dataclass
class NoteSkill:
    """Writes a note; remembers how often."""

    name: str = "note"
    definition_hash: str = "v1"
    result: SkillResult | Exception = DONE
    delay_s: float = 0.0
    notes: list[Parameters] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        if not parameters.get("text"):
            raise PermanentError("a note needs a text")
        return {"text": str(parameters["text"]).strip()}

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        self.notes.append(parameters)
        self.keys.append(idempotency_key)
        self.began.set()
        await asyncio.sleep(self.delay_s)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@dataclass
class Desk:
    database: Database
    clock: HandClock = field(default_factory=HandClock)
    skill: NoteSkill = field(default_factory=NoteSkill)
    told: list[ActionState] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def open(self, *, timeout_s: float = 30.0) -> Confirmation:
        async def notify(action: PendingAction) -> None:
            self.told.append(action.state)
            if action.state.is_final:
                self.ended.set()

        return Confirmation(
            self.store,
            self.audit,
            {"note": self.skill},
            self.clock,
            notify=notify,
            run_timeout_s=timeout_s,
        )

    @property
    def store(self) -> ActionStore:
        return ActionStore(self.database)

    @property
    def audit(self) -> AuditLog:
        return AuditLog(self.database, self.clock, b"k" * 32)

    async def propose(self, text: str = " hello ", **more: Any) -> PendingAction:
        return await self.open().propose("note", {"text": text}, asker="anna", place="dm", **more)

    async def leave_unknown(self) -> PendingAction:
        """Do an action that is said nothing of; return it with the buttons that stand then."""
        self.skill.result = SkillResult(state=ActionState.UNKNOWN, text="broke off")
        action = await self.propose()
        decision = await self.open().confirm(action.action_id, action.nonce, "anna")
        assert decision.action is not None
        assert decision.action.state is ActionState.UNKNOWN
        return decision.action

    async def leave_running(self, action: PendingAction, *, runner: str = "") -> None:
        """Begin an action as a process does that is killed then."""
        run = Run(
            runner=runner or dead_process(),
            until=self.clock.now() + timedelta(seconds=60),
            nonce="next",
        )
        assert await self.store.begin(
            action, run, alongside=[], decided_by="anna", now=self.clock.now()
        )

    async def state(self, action: PendingAction) -> ActionState:
        found = await self.store.find(action.action_id)
        assert found is not None
        return found.state
