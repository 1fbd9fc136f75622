"""Traces are found by SQL, a page at a time, and never what a viewer may not know of."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.engine import Connection

from admin.overview import load_overview
from admin.search import PAGE_LINES, TraceFilter, find_traces
from admin.viewers import Viewer
from bot.inbox.tables import chat_feedback, chat_help_requests, chat_questions
from bot.trace import KEPT_FOR, Trace, TraceStore
from core.database import Database
from knowledge.people import Person, PersonId

AT = datetime(2026, 11, 30, 9, tzinfo=UTC)
NOW = AT + timedelta(hours=1)
ANN = Viewer(person=Person(person_id=PersonId("ann"), name="Ann"), is_operator=False, came_by="")
KIM = replace(ANN, person=Person(person_id=PersonId("kim"), name="Kim"), is_operator=True)
OPERATOR = replace(ANN, person=None, is_operator=True)
TRACE = Trace(
    trace_id="t",
    at=AT,
    asker="ann",
    place="dm",
    question="How full is disk 50%_a?",
    outcome="answered",
    payload={},
    route="faq",
    took_ms=20.0,
)


async def fill(database: Database, *changes: dict[str, object]) -> None:
    store = TraceStore(database)
    for number, change in enumerate(changes):
        values = {"trace_id": f"t{number}", **change}
        await store.save(replace(TRACE, **values))  # type: ignore[arg-type]


async def find(database: Database, viewer: Viewer, **wanted: object) -> list[str]:
    found = await find_traces(database, viewer, TraceFilter(**wanted), NOW)  # type: ignore[arg-type]
    return [line.trace_id for line in found.lines]


async def test_every_page_is_seen_once_in_order(database: Database) -> None:
    at = [{"trace_id": f"t{n:03}", "at": AT - timedelta(seconds=n // 2)} for n in range(120)]
    await fill(database, *at)
    seen: list[str] = []
    before = None
    while True:
        found = await find_traces(database, ANN, TraceFilter(before=before), NOW)
        assert len(found.lines) <= PAGE_LINES
        seen += [line.trace_id for line in found.lines]
        before = found.next_before
        if before is None:
            break
    assert seen == [f"t{n:03}" for n in range(120)]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"words": "DISK full"}, ["t0"]),
        ({"words": "50%_A"}, ["t0"]),
        ({"words": "%"}, ["t0"]),
        ({"words": "5__"}, []),
        ({"route": "action"}, ["t1"]),
        ({"outcome": "failed"}, ["t2"]),
        ({"place": "c-hr"}, ["t3"]),
        ({"slow_ms": 1000.0}, ["t4"]),
        ({"tokens": 100}, ["t5"]),
        ({"since": AT + timedelta(minutes=1)}, ["t6"]),
        ({"until": AT}, ["t7"]),
        ({"replays": True}, ["t8"]),
    ],
)
async def test_each_filter_restricts(
    database: Database, wanted: dict[str, object], expected: list[str]
) -> None:
    other = {"question": "something else"}
    await fill(
        database,
        {},
        {**other, "route": "action"},
        {**other, "outcome": "failed"},
        {**other, "place": "c-hr"},
        {**other, "took_ms": 1500.0},
        {**other, "tokens": 100},
        {**other, "at": AT + timedelta(minutes=2)},
        {**other, "at": AT - timedelta(minutes=2)},
        {**other, "replay_of": "t0"},
    )
    assert await find(database, ANN, **wanted) == expected


async def test_what_is_too_old_is_gone_before_it_is_purged(database: Database) -> None:
    await fill(database, {"at": NOW - KEPT_FOR}, {})
    assert await find(database, OPERATOR) == ["t1"]


async def test_own_words_and_others_are_told_apart(database: Database) -> None:
    foreign = {"asker": "kim", "is_foreign": True, "replay_of": "t0"}
    await fill(database, {}, {"asker": "kim"}, {"asker": None}, foreign)
    assert await find(database, ANN, words="disk") == ["t0"]
    assert await find(database, KIM, words="disk") == ["t1"]
    assert await find(database, KIM, words="disk", replays=True) == []
    assert await find(database, OPERATOR, words="disk") == ["t2"]
    assert await find(database, KIM) == ["t0", "t1", "t2"]
    assert await find(database, ANN, asker="kim") == ["t0"]
    found = await find_traces(database, KIM, TraceFilter(replays=True), NOW)
    assert [line.question for line in found.lines] == [None]


async def test_the_overview_counts_days_routes_and_what_people_said(database: Database) -> None:
    await fill(
        database,
        {"tokens": 5, "cost": 0.25},
        {"outcome": "not_found", "at": AT - timedelta(days=1), "took_ms": 40.0},
        {"asker": "kim", "route": "action"},
        {"replay_of": "t0"},
        {"at": AT - timedelta(days=9)},
    )

    def say(connection: Connection) -> None:
        for number in range(3):
            row = {
                "question_id": f"q{number}", "platform": "slack", "channel": "C1",
                "ts": f"{number}", "thread": "", "account": "U1", "is_direct": False, "text": "",
                "accepted_at": AT, "state": "done", "owner": "", "owned_until": AT, "attempts": 1,
                "posts": [], "outcome": "answered", "trace_id": f"t{number}", "passages": [],
            }  # fmt: skip
            connection.execute(chat_questions.insert().values(row))
        for account, is_solved in (("U1", True), ("U2", True), ("U3", False)):
            said = {"question_id": "q0", "account": account, "is_solved": is_solved}
            said |= {"correction": "", "at": AT}
            connection.execute(chat_feedback.insert().values(said))
        called = {
            "question_id": "q2", "account": "U1", "called": [], "posts": [], "is_posted": True,
            "resolved_by": "", "at": AT, "owned_until": AT,
        }  # fmt: skip
        connection.execute(chat_help_requests.insert().values(called))

    await database.write(say)
    seen = await load_overview(database, KIM, days=7, now=NOW)
    assert [(one.day, one.total, one.outcomes) for one in seen.days] == [
        ("2026-11-30", 2, {"answered": 2}),
        ("2026-11-29", 1, {"not_found": 1}),
    ]
    assert [(one.route, one.total, one.median_ms, one.tokens, one.cost) for one in seen.routes] == [
        ("faq", 2, 30.0, 5, 0.25),
        ("action", 1, 20.0, 0, 0.0),
    ]
    said = seen.feedback
    assert (said.questions, said.solved, said.unsolved, said.handed_over) == (3, 1, 1, 1)
    own = await load_overview(database, ANN, days=7, now=NOW)
    assert [one.total for one in own.days] == [1, 1]
    assert (own.feedback.questions, own.feedback.handed_over, own.sources) == (2, 0, ())
