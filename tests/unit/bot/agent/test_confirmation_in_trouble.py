"""What becomes of an action when something breaks off, is silent, or comes late."""

import asyncio
from datetime import timedelta

import pytest

from bot.agent.action_store import purge_actions
from bot.agent.actions import ActionState, PendingAction
from bot.agent.card_store import CardPlace, CardStore
from bot.agent.confirmation import Confirmation, SkillResult, Verdict
from core.database import Database
from core.errors import PermanentError
from core.process_identity import name_process
from tests.unit.bot.agent.desks import DONE, START, Desk


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database)


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
