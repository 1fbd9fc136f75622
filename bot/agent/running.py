"""Doing a confirmed action: by one process, to an end that is told, whatever happens."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog

from bot.agent.action_store import ActionStore, Run
from bot.agent.actions import ActionId, ActionState, PendingAction
from bot.agent.audit import AuditLog
from bot.agent.write_skill import SkillResult, TraceableSkill, WriteSkill
from core.clock import Clock
from core.errors import PermanentError, ZhixingError
from core.process_identity import is_dead, name_process

RUN_TIMEOUT_S = 30.0
# A process that has not told what became of a run by then never will.
GRACE_S = 30.0
NONCE_BYTES = 16

_log = structlog.get_logger()

Notify = Callable[[PendingAction], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRunner:
    """Does actions, and gives up those of processes that died.

    Attributes:
        notify: Told after every step, to bring messages up to date; None = nobody is.
        timeout_s: After that long the result is `unknown`.
        name: Of this process.
    """

    store: ActionStore
    audit: AuditLog
    clock: Clock
    notify: Notify | None = None
    timeout_s: float = RUN_TIMEOUT_S
    name: str = ""

    async def run(
        self, skill: WriteSkill, action: PendingAction, person: str, *, event: str
    ) -> PendingAction | None:
        """Do an action; None when another click or process was first.

        Args:
            skill: The one it was drafted for.
            action: As the button that was pressed shows it.
            person: Who pressed.
            event: For the audit log.
        """
        now = self.clock.now()
        run = Run(
            runner=self.name or name_process(),
            until=now + timedelta(seconds=self.timeout_s + GRACE_S),
            nonce=secrets.token_hex(NONCE_BYTES),
        )
        is_ours = await self.store.begin(
            action,
            run,
            alongside=[self.audit.build_entry(event, **describe(action, person))],
            decided_by=person,
            now=now,
        )
        if not is_ours:
            return None
        await self.tell(action.action_id)
        begun = replace(action, nonce=run.nonce, runs=action.runs + 1, decided_by=person)
        # Shielded: who gives up waiting must not leave the action running for ever.
        return await asyncio.shield(self._run_to_the_end(skill, begun, person))

    async def find_outcome(
        self, skill: WriteSkill | None, action: PendingAction
    ) -> SkillResult | None:
        """Ask the other side what became of an action; None when it does not say."""
        if not (isinstance(skill, TraceableSkill) and skill.is_traceable):
            return None
        try:
            async with asyncio.timeout(self.timeout_s):
                return await skill.find_outcome(
                    action.parameters, idempotency_key=action.idempotency_key
                )
        except (TimeoutError, ZhixingError) as error:
            _log.warning("action_not_checked", action=action.action_id, reason=str(error))
            return None

    async def recover(self) -> list[PendingAction]:
        """Give up what a process that died was doing: it may or may not have been done.

        Safe to call at any time: what a living process does is left to it.
        """
        found = []
        for action, runner, until in await self.store.list_running():
            if until is not None and until > self.clock.now() and not is_dead(runner):
                continue
            entry = self.audit.build_entry("interrupted", **describe(action, action.decided_by))
            if await self.store.move(
                action, sources=(ActionState.RUNNING,), to=ActionState.UNKNOWN, alongside=[entry]
            ):
                await self.tell(action.action_id)
                found.append(action)
        return found

    async def tell(self, action_id: ActionId) -> None:
        """Have the messages of an action brought up to date."""
        action = await self.store.find(action_id)
        if self.notify is None or action is None:
            return
        try:
            await self.notify(action)
        except Exception:  # noqa: BLE001 - a message that can't be updated changes nothing that was done
            _log.exception("action_message_failed", action=action_id)

    async def _run_to_the_end(
        self, skill: WriteSkill, action: PendingAction, person: str
    ) -> PendingAction | None:
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await skill.run(action.parameters, idempotency_key=action.idempotency_key)
        except TimeoutError:
            result = SkillResult(state=ActionState.UNKNOWN, text="no reply in time")
        except PermanentError as error:
            result = SkillResult(state=ActionState.FAILED, text=str(error))
        except Exception as error:  # noqa: BLE001 - whatever happened, the state must tell
            _log.exception("action_failed", action=action.action_id)
            result = SkillResult(state=ActionState.UNKNOWN, text=f"failed unexpectedly: {error!r}")
        await self.store.end(
            action,
            to=result.state,
            result=result.text,
            alongside=[self.audit.build_entry(result.state.value, **describe(action, person))],
        )
        await self.tell(action.action_id)
        return await self.store.find(action.action_id)


def describe(action: PendingAction, person: str) -> dict[str, str]:
    """Return what the audit log tells of a step: the parameters as their hash only."""
    return {
        "action": action.action_id,
        "skill": action.skill,
        "parameters_hash": action.parameters_hash,
        "asker": action.asker,
        "place": action.place,
        "person": person,
    }
