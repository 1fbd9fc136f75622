"""Confirming write actions: by the right person, for exactly these parameters, once, in time."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

import structlog
from pydantic import JsonValue

from bot.agent.action_store import ActionStore
from bot.agent.actions import ActionId, ActionState, Parameters, PendingAction
from bot.agent.audit import AuditLog
from core.clock import Clock
from core.errors import PermanentError

LIFETIME = timedelta(minutes=30)
RUN_TIMEOUT_S = 30.0
_NONCE_BYTES = 16
_UNDECIDED = (ActionState.PENDING,)

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillResult:
    """What a write came to: `done`, `failed` (nothing was written) or `unknown`."""

    state: ActionState
    text: str


class WriteSkill(Protocol):
    """Something that can be done for a person after confirmation."""

    @property
    def name(self) -> str:
        """Its name, as in `proposed_action.skill`."""
        ...

    @property
    def definition_hash(self) -> str:
        """Changes whenever what it would do changes."""
        ...

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return the parameters in canonical form.

        Raises:
            PermanentError: They can't be used; the message says what to mend.
        """
        ...

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Do it; the same key must never lead to a second effect on a system that can tell."""
        ...


class Verdict(StrEnum):
    """What became of somebody pressing a button."""

    ACCEPTED = "accepted"
    NOT_YOURS = "not_yours"
    ALREADY_DECIDED = "already_decided"
    EXPIRED = "expired"
    SKILL_CHANGED = "skill_changed"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict, and the action as it is now; None when there is no such action."""

    verdict: Verdict
    action: PendingAction | None


Notify = Callable[[PendingAction], Awaitable[None]]


class Confirmation:
    """The one way in which anything is ever written outside."""

    def __init__(
        self,
        store: ActionStore,
        audit: AuditLog,
        skills: Mapping[str, WriteSkill],
        clock: Clock,
        *,
        notify: Notify | None = None,
        run_timeout_s: float = RUN_TIMEOUT_S,
    ) -> None:
        """Prepare.

        Args:
            store: Where actions are kept.
            audit: Where every step is written down.
            skills: By name.
            clock: For expiry.
            notify: Told after every transition, to update the message with the buttons.
            run_timeout_s: After that long the result is `unknown`.
        """
        self._store = store
        self._audit = audit
        self._skills = skills
        self._clock = clock
        self._notify = notify
        self._timeout_s = run_timeout_s

    async def propose(
        self,
        skill: str,
        parameters: Mapping[str, JsonValue],
        *,
        asker: str,
        place: str,
        deciders: Collection[str] = (),
        from_pages: Collection[str] = (),
    ) -> PendingAction:
        """Keep a draft that waits for consent; nothing is done.

        Args:
            deciders: Who may consent; empty = the asker alone.
            from_pages: Names of parameters whose value was read on a page.

        Raises:
            PermanentError: There is no such skill, or it refuses the parameters.
        """
        found = self._skills.get(skill)
        if found is None:
            raise PermanentError(f"there is no skill {skill!r}")
        now = self._clock.now()
        action = PendingAction(
            action_id=ActionId(secrets.token_hex(_NONCE_BYTES)),
            skill=skill,
            parameters=found.normalise(parameters),
            skill_hash=found.definition_hash,
            asker=asker,
            place=place,
            deciders=frozenset(deciders) or frozenset({asker}),
            nonce=secrets.token_hex(_NONCE_BYTES),
            idempotency_key=secrets.token_hex(_NONCE_BYTES),
            from_pages=frozenset(from_pages),
            created_at=now,
            expires_at=now + LIFETIME,
            state=ActionState.PENDING,
        )
        await self._store.add(action)
        await self._write_down("proposed", action, asker)
        return action

    async def confirm(self, action_id: ActionId, nonce: str, person: str) -> Decision:
        """Do the action, if this person may say so and is the first to.

        Whoever moves it from pending to running runs it; all others are told what became of it.
        """
        refused, action = await self._check(action_id, nonce, person)
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        skill = self._skills.get(action.skill)
        if skill is None or skill.definition_hash != action.skill_hash:
            return await self._void(action, person)
        is_ours = await self._store.move(
            action_id,
            sources=_UNDECIDED,
            to=ActionState.RUNNING,
            nonce=nonce,
            not_after=self._clock.now(),
            decided_by=person,
        )
        if not is_ours:
            return await self._lost(action_id)
        await self._write_down("confirmed", action, person)
        await self._tell(action_id)
        return await self._run(skill, action, person)

    async def reject(self, action_id: ActionId, nonce: str, person: str) -> Decision:
        """Drop the action."""
        return await self._close(action_id, nonce, person, ActionState.REJECTED, "rejected")

    async def edit(
        self,
        action_id: ActionId,
        nonce: str,
        person: str,
        parameters: Mapping[str, JsonValue],
    ) -> Decision:
        """Replace a draft by another one, with buttons of its own.

        Raises:
            PermanentError: The skill refuses the new parameters; the old draft stays.
        """
        refused, action = await self._check(action_id, nonce, person)
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        fresh = self._skills[action.skill].normalise(parameters)
        changed = {name for name, value in fresh.items() if action.parameters.get(name) != value}
        closed = await self._close(action_id, nonce, person, ActionState.REPLACED, "replaced")
        if closed.verdict is not Verdict.ACCEPTED:
            return closed
        draft = await self.propose(
            action.skill,
            fresh,
            asker=action.asker,
            place=action.place,
            deciders=action.deciders,
            # What a person has typed over is theirs.
            from_pages=action.from_pages - changed,
        )
        return Decision(verdict=Verdict.ACCEPTED, action=draft)

    async def settle_unknown(
        self, action_id: ActionId, nonce: str, person: str, *, has_arrived: bool
    ) -> Decision:
        """Let a person say what became of an action whose result is not known.

        Not arrived: it may be sent again, by confirming a new draft, which may double it.
        """
        action = await self._store.find(action_id)
        if action is None or action.nonce != nonce:
            return Decision(verdict=Verdict.NOT_FOUND, action=None)
        if person not in action.deciders:
            return Decision(verdict=Verdict.NOT_YOURS, action=action)
        to = ActionState.DONE if has_arrived else ActionState.FAILED
        is_ours = await self._store.move(
            action_id, sources=(ActionState.UNKNOWN,), to=to, decided_by=person
        )
        if not is_ours:
            return await self._lost(action_id)
        await self._write_down("settled", replace(action, state=to), person)
        await self._tell(action_id)
        return Decision(verdict=Verdict.ACCEPTED, action=await self._store.find(action_id))

    async def recover(self) -> list[PendingAction]:
        """After a restart: what was running may or may not have been done, and says so."""
        found = []
        for action in await self._store.list_in(ActionState.RUNNING):
            if await self._store.move(
                action.action_id, sources=(ActionState.RUNNING,), to=ActionState.UNKNOWN
            ):
                await self._write_down("interrupted", action, action.decided_by)
                await self._tell(action.action_id)
                found.append(action)
        return found

    async def expire(self) -> list[ActionId]:
        """Expire what nobody has decided in time; a job of the scheduler calls this."""
        expired = await self._store.expire(self._clock.now())
        for action_id in expired:
            await self._audit.append("expired", action=action_id)
            await self._tell(action_id)
        return expired

    async def _check(
        self, action_id: ActionId, nonce: str, person: str
    ) -> tuple[Verdict | None, PendingAction | None]:
        """Return why a button must not work, if so, and the action."""
        action = await self._store.find(action_id)
        # A wrong nonce is a button of another draft, or a guess: it learns nothing.
        if action is None or not secrets.compare_digest(action.nonce, nonce):
            return Verdict.NOT_FOUND, None
        if person not in action.deciders:
            return Verdict.NOT_YOURS, action
        if action.state is ActionState.EXPIRED:
            return Verdict.EXPIRED, action
        if action.state is not ActionState.PENDING:
            return Verdict.ALREADY_DECIDED, action
        if action.expires_at <= self._clock.now():
            await self.expire()
            return Verdict.EXPIRED, await self._store.find(action_id)
        return None, action

    async def _close(
        self, action_id: ActionId, nonce: str, person: str, to: ActionState, event: str
    ) -> Decision:
        refused, action = await self._check(action_id, nonce, person)
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        is_ours = await self._store.move(
            action_id, sources=_UNDECIDED, to=to, nonce=nonce, decided_by=person
        )
        if not is_ours:
            return await self._lost(action_id)
        await self._write_down(event, action, person)
        await self._tell(action_id)
        return Decision(verdict=Verdict.ACCEPTED, action=await self._store.find(action_id))

    async def _void(self, action: PendingAction, person: str) -> Decision:
        await self._store.move(
            action.action_id, sources=_UNDECIDED, to=ActionState.EXPIRED, decided_by=person
        )
        await self._write_down("voided", action, person)
        await self._tell(action.action_id)
        found = await self._store.find(action.action_id)
        return Decision(verdict=Verdict.SKILL_CHANGED, action=found)

    async def _lost(self, action_id: ActionId) -> Decision:
        action = await self._store.find(action_id)
        is_late = action is not None and action.state is ActionState.EXPIRED
        verdict = Verdict.EXPIRED if is_late else Verdict.ALREADY_DECIDED
        return Decision(verdict=verdict, action=action)

    async def _run(self, skill: WriteSkill, action: PendingAction, person: str) -> Decision:
        # Shielded: who gives up waiting must not leave the action running for ever.
        result = await asyncio.shield(self._run_to_the_end(skill, action, person))
        return Decision(verdict=Verdict.ACCEPTED, action=result)

    async def _run_to_the_end(
        self, skill: WriteSkill, action: PendingAction, person: str
    ) -> PendingAction | None:
        try:
            async with asyncio.timeout(self._timeout_s):
                result = await skill.run(action.parameters, idempotency_key=action.idempotency_key)
        except TimeoutError:
            result = SkillResult(state=ActionState.UNKNOWN, text="no reply in time")
        except PermanentError as error:
            result = SkillResult(state=ActionState.FAILED, text=str(error))
        except Exception as error:  # noqa: BLE001 - whatever happened, the state must tell
            _log.exception("action_failed", action=action.action_id)
            result = SkillResult(state=ActionState.UNKNOWN, text=f"failed unexpectedly: {error!r}")
        await self._store.move(
            action.action_id,
            sources=(ActionState.RUNNING,),
            to=result.state,
            result=result.text,
        )
        await self._write_down(result.state.value, action, person)
        await self._tell(action.action_id)
        return await self._store.find(action.action_id)

    async def _write_down(self, event: str, action: PendingAction, person: str) -> None:
        await self._audit.append(
            event,
            action=action.action_id,
            skill=action.skill,
            parameters_hash=action.parameters_hash,
            asker=action.asker,
            place=action.place,
            person=person,
        )

    async def _tell(self, action_id: ActionId) -> None:
        action = await self._store.find(action_id)
        if self._notify is None or action is None:
            return
        try:
            await self._notify(action)
        except Exception:  # noqa: BLE001 - a message that can't be updated changes nothing that was done
            _log.exception("action_message_failed", action=action_id)
