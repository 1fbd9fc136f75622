"""The inbox: accepted once whoever asks, taken up by one process, taken over when it dies."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.inbox.purging import purge_inbox
from bot.inbox.questions import IncomingQuestion, QuestionState
from bot.inbox.store import Inbox
from core.clock import FixedClock
from core.database import Database
from core.errors import ServiceUnavailableError

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def build(database: Database, *, now: datetime = NOW) -> Inbox:
    return Inbox(database, FixedClock(now), platform="slack", lease_s=30)


def ask(
    event_id: str, *, ts: str = "1.1", thread: str = "1.1", follows: bool = False
) -> IncomingQuestion:
    return IncomingQuestion(
        event_id=event_id,
        channel="C1",
        ts=ts,
        thread=thread,
        account="U1",
        text="why?",
        is_direct=False,
        needs_thread=follows,
    )


async def test_one_event_and_one_message_are_accepted_once_by_all_processes(
    database: Database,
) -> None:
    inboxes = [build(database) for _ in range(3)]
    claims = [inbox.accept(ask(event)) for inbox in inboxes for event in ("Ev1", "Ev1", "Ev2")]
    accepted = [one for one in await asyncio.gather(*claims) if one is not None]
    assert len(accepted) == 1
    assert (accepted[0].channel, accepted[0].attempts) == ("C1", 1)


async def test_a_follow_up_needs_a_thread_we_were_called_into(database: Database) -> None:
    inbox = build(database)
    assert await inbox.accept(ask("Ev1", ts="1.2", follows=True)) is None
    assert await inbox.accept(ask("Ev2", ts="1.1")) is not None
    assert await inbox.accept(ask("Ev3", ts="1.3", follows=True)) is not None
    assert await inbox.accept(ask("Ev4", ts="2.2", thread="2.1", follows=True)) is None


async def test_a_click_counts_once(database: Database) -> None:
    inbox = build(database)
    assert await inbox.claim_event("click-1")
    assert not await inbox.claim_event("click-1")


async def test_what_a_process_holds_is_left_to_it_until_its_lease_is_over(
    database: Database,
) -> None:
    first, second = build(database), build(database, now=NOW + timedelta(seconds=20))
    question = await first.accept(ask("Ev1"))
    assert question is not None
    assert await second.take_abandoned() == []
    late = build(database, now=NOW + timedelta(seconds=31))
    [taken] = await late.take_abandoned()
    assert (taken.question_id, taken.attempts) == (question.question_id, 2)
    assert await second.take_abandoned() == []


async def test_what_is_renewed_stays_and_what_is_released_goes_at_once(database: Database) -> None:
    first, second = build(database), build(database)
    one = await first.accept(ask("Ev1"))
    assert one is not None
    await build(database, now=NOW + timedelta(hours=1)).renew([one.question_id])
    await first.save_posts(one.question_id, ["9.9"])
    await first.release([one.question_id])
    [taken] = await second.take_abandoned()
    assert taken.posts == ("9.9",)


async def test_an_answered_question_may_be_taken_up_again_but_not_one_under_way(
    database: Database,
) -> None:
    inbox = build(database)
    question = await inbox.accept(ask("Ev1"))
    assert question is not None
    assert await inbox.reopen(question.question_id) is None
    await inbox.finish(question, outcome="answered", trace_id="t1", passages=["p1"])
    done = await inbox.find(question.question_id)
    assert done is not None
    assert (done.state, done.trace_id, done.passages) == (QuestionState.DONE, "t1", ("p1",))
    again = await inbox.reopen(question.question_id)
    assert again is not None
    assert again.attempts == 2
    assert await inbox.find("unknown") is None


async def test_what_is_not_written_down_is_not_accepted(database: Database) -> None:
    inbox = build(database)
    await database.write(lambda connection: connection.exec_driver_sql("DROP TABLE chat_feedback"))
    await database.write(lambda connection: connection.exec_driver_sql("DROP TABLE chat_events"))
    with pytest.raises(ServiceUnavailableError):
        await inbox.accept(ask("Ev1"))


async def test_feedback_is_kept_once_a_person_and_everything_is_purged_in_time(
    database: Database,
) -> None:
    inbox = build(database)
    question = await inbox.accept(ask("Ev1"))
    assert question is not None
    await inbox.save_feedback(question.question_id, "U1", is_solved=True)
    await inbox.save_feedback(question.question_id, "U1", is_solved=False, correction="no")
    assert await purge_inbox(database, NOW + timedelta(days=1)) == 0
    assert await purge_inbox(database, NOW + timedelta(days=31)) == 2
