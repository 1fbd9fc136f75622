"""Drafts, and who may do what with them."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import update

from bot.agent.action_store import pending_actions
from bot.agent.actions import ActionId, ActionState, PendingAction, hash_parameters
from bot.agent.audit import AuditCheck, AuditLog, audit_entries
from bot.agent.confirmation import LIFETIME, Confirmation, Verdict
from core.database import Database
from core.errors import PermanentError
from tests.unit.bot.agent.desks import Desk


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


async def test_an_unknown_skill_is_no_draft(desk: Desk) -> None:
    with pytest.raises(PermanentError, match="no skill 'fax'"):
        await desk.open().propose("fax", {}, asker="anna", place="dm")
    rows = await desk.database.read(
        lambda connection: list(connection.execute(pending_actions.select()))
    )
    assert rows == []
