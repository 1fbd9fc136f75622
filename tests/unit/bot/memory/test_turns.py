from datetime import UTC, datetime, timedelta

from bot.memory.summarising import Summariser
from bot.memory.turns import SUMMARIES_KEPT, TURNS_KEPT, Remembered, Turn, TurnStore
from core.database import Database
from knowledge.documents import PassageId

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def turn(number: int) -> Turn:
    return Turn(at=NOW, question=f"q{number}", answer=f"a{number}", passages=(PassageId("p"),))


async def test_the_last_turns_of_a_person_in_a_thread_come_back_in_order(
    database: Database,
) -> None:
    store = TurnStore(database)
    for number in range(TURNS_KEPT + 4):
        await store.append("t1", "li", turn(number))
    await store.append("t1", "wang", turn(100))
    await store.append("t2", "li", turn(200))
    found = await store.load("t1", "li")
    assert [one.question for one in found] == [f"q{n}" for n in range(4, TURNS_KEPT + 4)]
    assert found[0] == turn(4)
    assert [one.question for one in await store.load("t1", "wang")] == ["q100"]


async def test_forgetting_a_person_leaves_the_others(database: Database) -> None:
    store = TurnStore(database)
    await store.append("t1", "li", turn(1))
    await store.append("t1", "wang", turn(2))
    assert await store.forget("li") == Remembered(turns=1, summaries=0, threads=1)
    assert await store.load("t1", "li") == []
    assert await store.load("t1", "wang") == [turn(2)]


async def test_older_turns_are_summarised_two_at_a_time_with_all_they_rest_on(
    database: Database,
) -> None:
    store = TurnStore(database)
    summariser = Summariser(store)
    for number in range(TURNS_KEPT + 1):
        said = Turn(
            at=NOW,
            question=f"q{number}?",
            answer=f"| a | b |\n\n**Number {number}** is it [1]. And more.",
            passages=(PassageId(f"p{number}"),),
            is_private=number == 1,
        )
        await summariser.keep("t1", "li", said)
    [waiting] = await store.load_older("t1", "li")
    assert waiting.question == "q0?", "one turn waits for another, and is not lost meanwhile"
    await summariser.keep("t1", "li", turn(7))
    [summary] = await store.load_older("t1", "li")
    assert summary.is_summary
    assert summary.answer == "q0? → a b Number 0 is it.\nq1? → a b Number 1 is it."
    assert summary.passages == ("p0", "p1")
    assert summary.is_private, "one of them was"
    assert (await store.load("t1", "li"))[0].question == "q2?"


async def test_a_summary_goes_with_a_passage_its_turns_rest_on(database: Database) -> None:
    store = TurnStore(database)
    summariser = Summariser(store)
    for number in range(TURNS_KEPT + 2):
        said = Turn(at=NOW, question="q", answer="a.", passages=(PassageId(f"p{number}"),))
        await summariser.keep("t1", "li", said)
    assert len(await store.load_older("t1", "li")) == 1
    assert await store.forget_passages([PassageId("p1")]) == 1
    assert await store.load_older("t1", "li") == []
    await store.forget("li")
    assert await store.load("t1", "li") == []


async def test_a_summary_of_turns_that_were_forgotten_meanwhile_is_not_kept(
    database: Database,
) -> None:
    store = TurnStore(database)
    for number in range(TURNS_KEPT + 2):
        await store.append("t1", "li", turn(number))
    due = await store.load_due("t1", "li")
    await store.forget("li")
    assert not await store.replace(due, Turn(at=NOW, question="", answer="s", is_summary=True))
    assert await store.load_all("li") == []


async def test_summaries_do_not_grow_without_end(database: Database) -> None:
    store = TurnStore(database)
    summariser = Summariser(store)
    for number in range(40):
        await summariser.keep("t1", "li", turn(number))
    summaries = await store.load_older("t1", "li")
    assert len(summaries) == SUMMARIES_KEPT
    assert summaries[-1].answer.startswith("q32")


async def test_what_was_said_long_ago_is_forgotten(database: Database) -> None:
    store = TurnStore(database, kept_for=timedelta(days=3))
    await store.append("t1", "li", turn(1))
    later = NOW + timedelta(days=4)
    assert await store.load("t1", "li", now=NOW + timedelta(days=2)) == [turn(1)]
    assert await store.load("t1", "li", now=later) == []
    await store.append("t2", "wang", Turn(at=later, question="q", answer="a"))
    assert await store.purge(later) == 1
    assert await store.load("t1", "li") == [], "it is deleted, not only left out"
    assert len(await store.load("t2", "wang")) == 1


async def test_one_thread_alone_can_be_forgotten(database: Database) -> None:
    store = TurnStore(database)
    for thread, person in (("t1", "li"), ("t1", "wang"), ("t2", "li"), ("t3", "li")):
        await store.append(thread, person, turn(1))
    assert (await store.count("li")).threads == 3
    assert await store.forget("li", "t1") == Remembered(turns=1, summaries=0, threads=1)
    assert {one.thread for one in await store.load_all("li")} == {"t2", "t3"}
    assert len(await store.load("t1", "wang")) == 1


async def test_what_others_said_since_does_not_push_out_ones_own(database: Database) -> None:
    store = TurnStore(database)
    await store.append("t1", "li", Turn(at=NOW, question="own", answer="a"))
    for number in range(TURNS_KEPT + 3):
        await store.append("t1", "wang", turn(number))
    found = await store.load("t1", "li", with_others=True)
    assert [one.question for one in found] == ["own", *(f"q{n}" for n in range(3, 9))]


async def test_others_share_what_was_posted_in_the_thread_and_nothing_else(
    database: Database,
) -> None:
    store = TurnStore(database)
    await store.append("t1", "li", Turn(at=NOW, question="public", answer="a"))
    await store.append("t1", "li", Turn(at=NOW, question="secret", answer="a", is_private=True))
    await store.append("t2", "li", Turn(at=NOW, question="elsewhere", answer="a"))
    shared = await store.load("t1", "wang", with_others=True)
    assert [one.question for one in shared] == ["public"]
    assert await store.load("t1", "wang") == []
    own = await store.load("t1", "li", with_others=True)
    assert [one.question for one in own] == ["public", "secret"]
