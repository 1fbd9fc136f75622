"""Confirming write actions: by the right person, for exactly these parameters, once, in time."""

import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import JsonValue

from bot.agent.action_store import ActionStore, Alongside
from bot.agent.actions import ActionId, ActionState, Parameters, PendingAction
from bot.agent.audit import AuditLog
from bot.agent.running import NONCE_BYTES, RUN_TIMEOUT_S, ActionRunner, Notify, describe
from bot.agent.verdicts import Decision, Verdict
from bot.agent.write_skill import SkillResult, WriteSkill
from core.clock import Clock
from core.errors import PermanentError
from core.process_identity import name_process

__all__ = ["Confirmation", "Decision", "SkillResult", "Verdict", "WriteSkill"]

LIFETIME = timedelta(minutes=30)

Announce = Callable[[ActionId], Alongside]
"""Returns what keeps, together with a new draft, where it is to be shown."""
MayDecide = Callable[[PendingAction, str], Awaitable[bool]]
MayUse = Callable[[str, str], Awaitable[bool]]
"""Tells whether a skill, as it is now, is for a person."""


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
        may_decide: MayDecide | None = None,
        may_use: MayUse | None = None,
        lifetime: timedelta = LIFETIME,
        run_timeout_s: float = RUN_TIMEOUT_S,
    ) -> None:
        """Prepare.

        Args:
            store: Where actions are kept.
            audit: Where every step is written down.
            skills: By name.
            clock: For expiry.
            notify: Told after every transition, to update the message with the buttons.
            may_decide: Whether somebody who might confirm it when it was drafted still may.
            may_use: Asked of the asker, before a draft is kept and before it is done.
            lifetime: For how long a draft can be confirmed.
            run_timeout_s: After that long the result is `unknown`.
        """
        self._store = store
        self._audit = audit
        self._skills = skills
        self._clock = clock
        self._may_decide = may_decide
        self._may_use = may_use
        self._lifetime = lifetime
        self._runner = ActionRunner(
            store=store,
            audit=audit,
            clock=clock,
            notify=notify,
            timeout_s=run_timeout_s,
            name=name_process(),
        )

    def get_skill(self, name: str) -> WriteSkill:
        """Return a skill.

        Raises:
            PermanentError: There is no such skill.
        """
        found = self._skills.get(name)
        if found is None:
            raise PermanentError(f"there is no skill {name!r}")
        return found

    async def propose(
        self,
        skill: str,
        parameters: Mapping[str, JsonValue],
        *,
        asker: str,
        place: str,
        deciders: Collection[str] = (),
        from_pages: Collection[str] = (),
        action_id: ActionId | None = None,
        announce: Announce | None = None,
    ) -> PendingAction:
        """Keep a draft that waits for consent; nothing is done.

        Args:
            skill: Its name.
            parameters: What would be done.
            asker: Who asks for it; a person's id.
            place: A channel id or `dm`.
            deciders: Who may consent; empty = the asker alone.
            from_pages: Names of parameters whose value was read on a page.
            action_id: The same one for a draft that may arrive twice; it is kept once.
            announce: Keeps where the draft is to be shown.

        Raises:
            PermanentError: There is no such skill for the asker, or it refuses the parameters.
        """
        if self._may_use is not None and not await self._may_use(skill, asker):
            raise PermanentError(f"there is no skill {skill!r} for {asker!r}")
        found = self.get_skill(skill)
        now = self._clock.now()
        action = PendingAction(
            action_id=action_id or ActionId(secrets.token_hex(NONCE_BYTES)),
            skill=skill,
            parameters=found.normalise(parameters),
            skill_hash=found.definition_hash,
            asker=asker,
            place=place,
            deciders=frozenset(deciders) or frozenset({asker}),
            nonce=secrets.token_hex(NONCE_BYTES),
            idempotency_key=secrets.token_hex(NONCE_BYTES),
            from_pages=frozenset(from_pages),
            created_at=now,
            expires_at=now + self._lifetime,
            state=ActionState.PENDING,
        )
        if await self._store.add(action, self._accompany(action, asker, announce)):
            return action
        return await self._store.find(action.action_id) or action

    async def find(self, action_id: ActionId, nonce: str) -> PendingAction | None:
        """Return the action of a button; None for one that no longer stands there, or a guess."""
        action = await self._store.find(action_id)
        is_known = action is not None and secrets.compare_digest(action.nonce, nonce)
        return action if is_known else None

    async def confirm(self, action_id: ActionId, nonce: str, person: str) -> Decision:
        """Do the action, if this person may say so and is the first to.

        Whoever moves it from pending to running runs it; all others are told what became of it.
        """
        refused, action = await self._check(action_id, nonce, person)
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        skill = await self._find_skill(action)
        if skill is None:
            voided = await self._close(action, person, ActionState.VOID, event="voided")
            is_void = voided.verdict is Verdict.ACCEPTED
            return replace(voided, verdict=Verdict.SKILL_CHANGED) if is_void else voided
        return await self._run(skill, action, person, event="confirmed")

    async def send_again(self, action_id: ActionId, nonce: str, person: str) -> Decision:
        """Do once more what may or may not have been done, by the same idempotency key."""
        refused, action = await self._check(action_id, nonce, person, wanted=ActionState.UNKNOWN)
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        skill = await self._find_skill(action)
        if skill is None:
            return Decision(verdict=Verdict.SKILL_CHANGED, action=action)
        return await self._run(skill, action, person, event="repeated")

    async def reject(self, action_id: ActionId, nonce: str, person: str) -> Decision:
        """Drop the action; its asker may as well as who decides."""
        refused, action = await self._check(action_id, nonce, person, is_asker_enough=True)
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        return await self._close(action, person, ActionState.REJECTED, event="rejected")

    async def edit(
        self,
        action_id: ActionId,
        nonce: str,
        person: str,
        parameters: Mapping[str, JsonValue],
        *,
        fresh_id: ActionId | None = None,
        announce: Announce | None = None,
    ) -> Decision:
        """Replace a draft by another one, with buttons of its own.

        Only its asker may: who confirms must not confirm what they wrote themselves.

        Args:
            action_id: The draft.
            nonce: Of its buttons.
            person: Who edits.
            parameters: The new ones.
            fresh_id: The id of the new draft, the same for an edit that may arrive twice.
            announce: Keeps where the new draft is to be shown.

        Raises:
            PermanentError: The skill refuses the new parameters; the old draft stays.
        """
        if known := await self._find_edited(fresh_id, person):
            return Decision(verdict=Verdict.ACCEPTED, action=known)
        refused, action = await self._check(action_id, nonce, person, is_asker_enough=True)
        if action is not None and person != action.asker:
            refused = Verdict.NOT_YOURS
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        fresh = self.get_skill(action.skill).normalise(parameters)
        now = self._clock.now()
        draft = replace(
            action,
            action_id=fresh_id or ActionId(secrets.token_hex(NONCE_BYTES)),
            parameters=fresh,
            skill_hash=self.get_skill(action.skill).definition_hash,
            nonce=secrets.token_hex(NONCE_BYTES),
            idempotency_key=secrets.token_hex(NONCE_BYTES),
            from_pages=keep_marks(action, fresh),
            created_at=now,
            expires_at=now + self._lifetime,
        )
        entry = self._audit.build_entry("replaced", **describe(action, person))
        is_ours = await self._store.replace(
            action,
            draft,
            decided_by=person,
            now=now,
            alongside=[entry, *self._accompany(draft, person, announce)],
        )
        if not is_ours:
            return await self._lost(action_id)
        await self._runner.tell(action_id)
        return Decision(verdict=Verdict.ACCEPTED, action=draft)

    async def settle_unknown(
        self, action_id: ActionId, nonce: str, person: str, *, has_arrived: bool
    ) -> Decision:
        """Let a person say what became of an action whose result is not known."""
        refused, action = await self._check(
            action_id, nonce, person, wanted=ActionState.UNKNOWN, is_asker_enough=True
        )
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        if has_arrived:
            return await self._close(action, person, ActionState.DONE, event="arrived")
        return await self._close(action, person, ActionState.FAILED, event="not_arrived")

    async def check_again(self, action_id: ActionId, nonce: str, person: str) -> Decision:
        """Ask the other side what became of an action whose result is not known.

        The verdict is `not_known` when it can't tell, or does not know of it (yet).
        """
        refused, action = await self._check(
            action_id, nonce, person, wanted=ActionState.UNKNOWN, is_asker_enough=True
        )
        if refused or action is None:
            return Decision(verdict=refused or Verdict.NOT_FOUND, action=action)
        found = await self._runner.find_outcome(await self._find_skill(action), action)
        if found is None:
            return Decision(verdict=Verdict.NOT_KNOWN, action=action)
        return await self._close(action, person, found.state, event="found", result=found.text)

    async def recover(self) -> list[PendingAction]:
        """Give up what a process that died was doing: it may or may not have been done.

        Safe to call at any time: what a living process does is left to it.
        """
        return await self._runner.recover()

    async def expire(self) -> list[ActionId]:
        """Expire what nobody has decided in time; a job of the scheduler calls this."""
        expired = await self._store.expire(
            self._clock.now(),
            lambda action: self._audit.build_entry("expired", **describe(action, "")),
        )
        for action_id in expired:
            await self._runner.tell(action_id)
        return expired

    async def _find_skill(self, action: PendingAction) -> WriteSkill | None:
        """Return the skill if it still is the one the draft was made for, and for its asker."""
        if self._may_use is not None and not await self._may_use(action.skill, action.asker):
            return None
        found = self._skills.get(action.skill)
        return found if found and found.definition_hash == action.skill_hash else None

    async def _find_edited(self, fresh_id: ActionId | None, person: str) -> PendingAction | None:
        """Return the draft that this very edit has made before, when it is delivered again."""
        known = await self._store.find(fresh_id) if fresh_id else None
        return known if known is not None and known.asker == person else None

    async def _check(
        self,
        action_id: ActionId,
        nonce: str,
        person: str,
        *,
        wanted: ActionState = ActionState.PENDING,
        is_asker_enough: bool = False,
    ) -> tuple[Verdict | None, PendingAction | None]:
        """Return why a button must not work, if so, and the action."""
        action = await self._store.find(action_id)
        if action is None:
            return Verdict.NOT_FOUND, None
        if not secrets.compare_digest(action.nonce, nonce):
            # A button of an earlier try, whose people may know; or a guess, which learns nothing.
            is_theirs = action.runs and person in action.deciders | {action.asker}
            return (Verdict.ALREADY_DECIDED, action) if is_theirs else (Verdict.NOT_FOUND, None)
        is_enough = is_asker_enough and person == action.asker
        if not (is_enough or await self._is_decider(action, person)):
            return Verdict.NOT_YOURS, action
        return await self._check_state(action, wanted)

    async def _check_state(
        self, action: PendingAction, wanted: ActionState
    ) -> tuple[Verdict | None, PendingAction | None]:
        if action.state is ActionState.EXPIRED:
            return Verdict.EXPIRED, action
        if action.state is not wanted:
            return Verdict.ALREADY_DECIDED, action
        if wanted is ActionState.PENDING and action.expires_at <= self._clock.now():
            await self.expire()
            return Verdict.EXPIRED, await self._store.find(action.action_id)
        return None, action

    async def _is_decider(self, action: PendingAction, person: str) -> bool:
        if person not in action.deciders:
            return False
        return self._may_decide is None or await self._may_decide(action, person)

    async def _close(
        self,
        action: PendingAction,
        person: str,
        to: ActionState,
        *,
        event: str,
        result: str | None = None,
    ) -> Decision:
        is_ours = await self._store.move(
            action,
            sources=(action.state,),
            to=to,
            decided_by=person,
            result=result,
            alongside=[self._audit.build_entry(event, **describe(action, person))],
        )
        if not is_ours:
            return await self._lost(action.action_id)
        await self._runner.tell(action.action_id)
        found = await self._store.find(action.action_id)
        return Decision(verdict=Verdict.ACCEPTED, action=found)

    async def _run(
        self, skill: WriteSkill, action: PendingAction, person: str, *, event: str
    ) -> Decision:
        ended = await self._runner.run(skill, action, person, event=event)
        if ended is None:
            return await self._lost(action.action_id)
        return Decision(verdict=Verdict.ACCEPTED, action=ended)

    async def _lost(self, action_id: ActionId) -> Decision:
        action = await self._store.find(action_id)
        is_late = action is not None and action.state is ActionState.EXPIRED
        verdict = Verdict.EXPIRED if is_late else Verdict.ALREADY_DECIDED
        return Decision(verdict=verdict, action=action)

    def _accompany(
        self, action: PendingAction, person: str, announce: Announce | None
    ) -> Sequence[Alongside]:
        entry = self._audit.build_entry("proposed", **describe(action, person))
        return [entry, announce(action.action_id)] if announce else [entry]


def keep_marks(action: PendingAction, fresh: Parameters) -> frozenset[str]:
    """Return which values still are those of a page: what a person typed over is theirs."""
    return frozenset(
        name for name in action.from_pages if action.parameters.get(name) == fresh.get(name)
    )
