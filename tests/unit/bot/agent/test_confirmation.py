import asyncio
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import JsonValue
from sqlalchemy import update

from bot.agent.action_store import ActionStore, Run, pending_actions, purge_actions
from bot.agent.actions import ActionId, ActionState, Parameters, PendingAction, hash_parameters
from bot.agent.audit import AuditCheck, AuditLog, audit_entries
from bot.agent.card_store import CardPlace, CardStore
from bot.agent.confirmation import LIFETIME, Confirmation, SkillResult, Verdict
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


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database)


async def test_nothing_is_done_before_somebody_agrees(desk: Desk) -> None:
    action = await desk.propose()
    assert action.state is ActionState.PENDING
    assert action.parameters == {"text": "hello"}
    assert desk.skill.notes == []
    assert await desk.store.find(action.action_id) == action


async def test_who_agrees_has_it_done_once(desk: Desk) -> None:
    action = await desk.propose()
    decision = await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert decision.verdict is Verdict.ACCEPTED
    assert decision.action is not None
    assert (decision.action.state, decision.action.result) == (ActionState.DONE, "sent")
    assert decision.action.decided_by == "anna"
    assert desk.told == [ActionState.RUNNING, ActionState.DONE]
    assert desk.skill.keys == [action.idempotency_key]


async def test_of_many_clicks_at_once_one_wins(desk: Desk) -> None:
    desk.skill.delay_s = 0.05
    action = await desk.propose(deciders=["anna", "bo"])
    desks = [desk.open() for _ in range(8)]
    decisions = await asyncio.gather(
        *(
            one.confirm(action.action_id, action.nonce, person)
            for one, person in zip(desks, ["anna", "bo"] * 4, strict=True)
        )
    )
    verdicts = [one.verdict for one in decisions]
    assert verdicts.count(Verdict.ACCEPTED) == 1
    assert verdicts.count(Verdict.ALREADY_DECIDED) == 7
    assert len(desk.skill.notes) == 1


async def test_what_is_unknown_is_done_again_once_for_each_press_that_was_meant(
    desk: Desk,
) -> None:
    action = await desk.leave_unknown()
    desk.skill.result = DONE
    desk.skill.delay_s = 0.05
    stranger = await desk.open().send_again(action.action_id, action.nonce, "bo")
    assert stranger.verdict is Verdict.NOT_YOURS
    decisions = await asyncio.gather(
        *(desk.open().send_again(action.action_id, action.nonce, "anna") for _ in range(3))
    )
    verdicts = sorted(one.verdict for one in decisions)
    assert verdicts == [Verdict.ACCEPTED, Verdict.ALREADY_DECIDED, Verdict.ALREADY_DECIDED]
    assert desk.skill.keys == [action.idempotency_key] * 2
    assert await desk.state(action) is ActionState.DONE


async def test_a_button_of_an_earlier_try_does_nothing(desk: Desk) -> None:
    action = await desk.leave_unknown()
    again = await desk.open().send_again(action.action_id, action.nonce, "anna")
    assert again.action is not None
    assert again.action.state is ActionState.UNKNOWN
    # The message was slow, or the click was.
    late = await desk.open().send_again(action.action_id, action.nonce, "anna")
    assert late.verdict is Verdict.ALREADY_DECIDED
    assert (await desk.open().send_again(action.action_id, "guess", "bo")).action is None
    assert len(desk.skill.notes) == 2


async def test_where_a_second_person_confirms_the_asker_may_edit_or_drop_it_and_no_more(
    desk: Desk,
) -> None:
    action = await desk.propose(deciders=["bo"])
    confirmation = desk.open()
    alone = await confirmation.confirm(action.action_id, action.nonce, "anna")
    assert alone.verdict is Verdict.NOT_YOURS
    other = await confirmation.edit(action.action_id, action.nonce, "bo", {"text": "mine"})
    assert other.verdict is Verdict.NOT_YOURS
    edited = await confirmation.edit(action.action_id, action.nonce, "anna", {"text": "better"})
    assert edited.action is not None
    assert edited.action.deciders == {"bo"}
    done = await confirmation.confirm(edited.action.action_id, edited.action.nonce, "bo")
    assert done.verdict is Verdict.ACCEPTED
    dropped = await desk.propose("drop", deciders=["bo"])
    decision = await confirmation.reject(dropped.action_id, dropped.nonce, "anna")
    assert decision.verdict is Verdict.ACCEPTED


async def test_who_may_no_longer_decide_does_not(desk: Desk) -> None:
    async def may_decide(action: PendingAction, person: str) -> bool:
        return person not in action.deciders

    confirmation = Confirmation(
        desk.store, desk.audit, {"note": desk.skill}, desk.clock, may_decide=may_decide
    )
    action = await desk.propose()
    decision = await confirmation.confirm(action.action_id, action.nonce, "anna")
    assert decision.verdict is Verdict.NOT_YOURS
    assert desk.skill.notes == []


async def test_a_draft_that_arrives_twice_is_kept_once(desk: Desk) -> None:
    chosen = ActionId("a" * 32)
    first = await desk.propose(action_id=chosen)
    assert await desk.propose(action_id=chosen) == first
    fresh = ActionId("b" * 32)
    edits = [
        await desk.open().edit(
            first.action_id, first.nonce, "anna", {"text": "better"}, fresh_id=fresh
        )
        for _ in range(2)
    ]
    assert [one.verdict for one in edits] == [Verdict.ACCEPTED] * 2
    assert edits[0].action == edits[1].action
    assert [one.event for one in await desk.audit.load()] == ["proposed", "replaced", "proposed"]


async def test_of_an_edit_and_a_confirmation_at_once_one_holds(desk: Desk) -> None:
    action = await desk.propose()
    confirmed, edited = await asyncio.gather(
        desk.open().confirm(action.action_id, action.nonce, "anna"),
        desk.open().edit(action.action_id, action.nonce, "anna", {"text": "better"}),
    )
    assert sorted((confirmed.verdict, edited.verdict)) == [
        Verdict.ACCEPTED,
        Verdict.ALREADY_DECIDED,
    ]
    assert len(desk.skill.notes) == (confirmed.verdict is Verdict.ACCEPTED)


async def test_others_may_not_decide_and_learn_why(desk: Desk) -> None:
    action = await desk.propose()
    for attempt in (desk.open().confirm, desk.open().reject):
        decision = await attempt(action.action_id, action.nonce, "bo")
        assert decision.verdict is Verdict.NOT_YOURS
    assert await desk.state(action) is ActionState.PENDING


async def test_a_button_of_another_draft_does_nothing(desk: Desk) -> None:
    action, other = await desk.propose(), await desk.propose("other")
    for action_id, nonce in ((action.action_id, other.nonce), (ActionId("none"), action.nonce)):
        decision = await desk.open().confirm(action_id, nonce, "anna")
        assert (decision.verdict, decision.action) == (Verdict.NOT_FOUND, None)
    assert desk.skill.notes == []


async def test_what_is_late_is_not_done(desk: Desk) -> None:
    action = await desk.propose()
    desk.clock.moment += LIFETIME
    decision = await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert decision.verdict is Verdict.EXPIRED
    assert await desk.state(action) is ActionState.EXPIRED
    assert desk.skill.notes == []


async def test_expiry_tells_the_message(desk: Desk) -> None:
    action, _ = await desk.propose(), await desk.propose()
    desk.clock.moment += timedelta(minutes=1)
    assert await desk.open().expire() == []
    desk.clock.moment += LIFETIME
    assert action.action_id in await desk.open().expire()
    assert desk.told == [ActionState.EXPIRED, ActionState.EXPIRED]
    assert await desk.open().expire() == []


async def test_rejected_is_rejected(desk: Desk) -> None:
    action = await desk.propose()
    decision = await desk.open().reject(action.action_id, action.nonce, "anna")
    assert decision.verdict is Verdict.ACCEPTED
    again = await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert again.verdict is Verdict.ALREADY_DECIDED
    assert await desk.state(action) is ActionState.REJECTED


async def test_a_skill_that_has_changed_voids_the_draft(desk: Desk) -> None:
    action = await desk.propose()
    desk.skill.definition_hash = "v2"
    decision = await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert decision.verdict is Verdict.SKILL_CHANGED
    assert desk.skill.notes == []


async def test_editing_makes_a_new_draft_with_buttons_of_its_own(desk: Desk) -> None:
    action = await desk.propose(from_pages=["text"])
    decision = await desk.open().edit(action.action_id, action.nonce, "anna", {"text": "better"})
    draft = decision.action
    assert draft is not None
    assert draft.parameters == {"text": "better"}
    assert draft.from_pages == frozenset()
    assert draft.nonce != action.nonce
    assert await desk.state(action) is ActionState.REPLACED
    old = await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert old.verdict is Verdict.ALREADY_DECIDED
    await desk.open().confirm(draft.action_id, draft.nonce, "anna")
    assert desk.skill.notes == [{"text": "better"}]


async def test_a_bad_edit_leaves_the_draft(desk: Desk) -> None:
    action = await desk.propose()
    with pytest.raises(PermanentError, match="needs a text"):
        await desk.open().edit(action.action_id, action.nonce, "anna", {"text": ""})
    assert await desk.state(action) is ActionState.PENDING


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (SkillResult(state=ActionState.FAILED, text="refused"), ActionState.FAILED),
        (PermanentError("no such mailbox"), ActionState.FAILED),
        (SkillResult(state=ActionState.UNKNOWN, text="broke off"), ActionState.UNKNOWN),
        (RuntimeError("a bug"), ActionState.UNKNOWN),
    ],
)
async def test_whatever_happens_the_state_tells(
    desk: Desk, result: SkillResult | Exception, state: ActionState
) -> None:
    desk.skill.result = result
    action = await desk.propose()
    await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert await desk.state(action) is state


async def test_what_does_not_answer_in_time_is_unknown(desk: Desk) -> None:
    desk.skill.delay_s = 5
    action = await desk.propose()
    await desk.open(timeout_s=0.05).confirm(action.action_id, action.nonce, "anna")
    assert await desk.state(action) is ActionState.UNKNOWN


async def test_who_stops_waiting_does_not_leave_it_running(desk: Desk) -> None:
    desk.skill.delay_s = 0.1
    action = await desk.propose()
    confirmation = desk.open()
    waiting = asyncio.create_task(confirmation.confirm(action.action_id, action.nonce, "anna"))
    await desk.skill.began.wait()
    waiting.cancel()
    await desk.ended.wait()
    assert await desk.state(action) is ActionState.DONE
    assert len(desk.skill.notes) == 1


async def test_after_a_restart_what_was_running_is_unknown_and_not_done_again(desk: Desk) -> None:
    action = await desk.propose()
    await desk.leave_running(action)
    assert [one.action_id for one in await desk.open().recover()] == [action.action_id]
    assert await desk.state(action) is ActionState.UNKNOWN
    assert await desk.open().recover() == []
    again = await desk.open().confirm(action.action_id, action.nonce, "anna")
    assert again.verdict is Verdict.ALREADY_DECIDED
    assert desk.skill.notes == []


async def test_what_a_living_process_does_is_left_to_it_while_it_may_take_that_long(
    desk: Desk,
) -> None:
    action = await desk.propose()
    await desk.leave_running(action, runner=name_process())
    assert await desk.open().recover() == []
    desk.clock.moment += timedelta(minutes=2)
    assert [one.action_id for one in await desk.open().recover()] == [action.action_id]


async def test_a_result_that_comes_late_is_the_truth_all_the_same(desk: Desk) -> None:
    desk.skill.delay_s = 0.2
    action = await desk.propose()
    running = asyncio.create_task(desk.open().confirm(action.action_id, action.nonce, "anna"))
    await desk.skill.began.wait()
    # Another process takes the slow one for dead.
    desk.clock.moment += timedelta(minutes=2)
    assert len(await desk.open().recover()) == 1
    assert await desk.state(action) is ActionState.UNKNOWN
    await running
    assert await desk.state(action) is ActionState.DONE


@pytest.mark.parametrize(
    ("has_arrived", "state"), [(True, ActionState.DONE), (False, ActionState.FAILED)]
)
async def test_a_person_settles_what_is_unknown(
    desk: Desk, *, has_arrived: bool, state: ActionState
) -> None:
    action = await desk.leave_unknown()
    stranger = await desk.open().settle_unknown(
        action.action_id, action.nonce, "bo", has_arrived=has_arrived
    )
    assert stranger.verdict is Verdict.NOT_YOURS
    for verdict in (Verdict.ACCEPTED, Verdict.ALREADY_DECIDED):
        decision = await desk.open().settle_unknown(
            action.action_id, action.nonce, "anna", has_arrived=has_arrived
        )
        assert decision.verdict is verdict
    assert await desk.state(action) is state


async def test_parameters_are_read_back_as_they_were(desk: Desk) -> None:
    action = await desk.propose("请假三天 ✓")
    found = await desk.store.find(action.action_id)
    assert found is not None
    assert found.parameters_hash == hash_parameters({"text": "请假三天 ✓"})


async def test_every_step_is_written_down_and_tampering_shows(desk: Desk) -> None:
    action = await desk.propose()
    await desk.open().confirm(action.action_id, action.nonce, "anna")
    events = [entry.event for entry in await desk.audit.load()]
    assert events == ["proposed", "confirmed", "done"]
    assert await desk.audit.verify() == AuditCheck(count=3, broken_at=None)
    assert "hello" not in str([entry.details for entry in await desk.audit.load()])

    await desk.database.write(
        lambda connection: connection.execute(
            update(audit_entries).where(audit_entries.c.number == 2).values(event="rejected")
        )
    )
    assert await desk.audit.verify() == AuditCheck(count=3, broken_at=2)
    other_key = AuditLog(desk.database, desk.clock, b"x" * 32)
    assert (await other_key.verify()).broken_at == 1


async def test_a_message_that_cannot_be_updated_changes_nothing(desk: Desk) -> None:
    async def fail(action: PendingAction) -> None:
        raise RuntimeError(action.action_id)

    confirmation = Confirmation(
        desk.store, desk.audit, {"note": desk.skill}, desk.clock, notify=fail
    )
    action = await desk.propose()
    await confirmation.confirm(action.action_id, action.nonce, "anna")
    assert await desk.state(action) is ActionState.DONE


async def test_what_is_over_is_forgotten_after_a_while_and_what_is_not_stays(desk: Desk) -> None:
    cards = CardStore(desk.database, desk.clock, platform="slack")
    place = CardPlace(account="U1", language="en")
    over = await desk.propose(
        announce=lambda action_id: cards.build_announcement(action_id, [place])
    )
    await desk.open().reject(over.action_id, over.nonce, "anna")
    unknown = await desk.leave_unknown()
    assert await purge_actions(desk.database, START + timedelta(days=29)) == 0
    assert await purge_actions(desk.database, START + timedelta(days=31)) == 1
    assert await desk.store.find(over.action_id) is None
    assert await cards.list_places(over.action_id) == []
    assert await desk.store.find(unknown.action_id) is not None


async def test_an_unknown_skill_is_no_draft(desk: Desk) -> None:
    with pytest.raises(PermanentError, match="no skill 'fax'"):
        await desk.open().propose("fax", {}, asker="anna", place="dm")
    rows = await desk.database.read(
        lambda connection: list(connection.execute(pending_actions.select()))
    )
    assert rows == []
