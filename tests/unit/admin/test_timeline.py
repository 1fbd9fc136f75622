"""A trace as its page tells it: along the time, and never more than the viewer may see."""

from dataclasses import replace
from datetime import UTC, datetime

from pydantic import JsonValue

from admin.replay import compare_searches
from admin.sight import Sight
from admin.timeline import Story, build_story
from bot.trace import Trace
from tests.fakes.evidence import build_hit

OPEN, CLOSED = build_hit("open", passage_id="p1"), build_hit("closed", passage_id="p2")


def step(name: str, note: str = "", **more: JsonValue) -> dict[str, JsonValue]:
    return {"step": name, "took_ms": None, "rows": [], "note": note, "at_ms": 0.0, **more}


STEPS: list[JsonValue] = [
    step("understand", "sick leave in Berlin", rows=[["p2", 0.0]]),
    step("analyse (public)", "sick leave Berlin"),
    step("route", "multi_hop: two questions"),
    step("recall: terms (public)", took_ms=20.0, at_ms=10.0, rows=[["p1", 2.0], ["p2", 1.0]]),
    step(
        "sufficiency (public)",
        "enough, 0.90",
        fates=[["p2", "kept", {"bm25": 3.0}], ["p1", "cut", {"bm25": 2.0, "odd": 1.0}]],
    ),
    step("plan 2", "look up Berlin (by the model, after search)", rows=[["p1", 1.0]]),
    step("tool: search_docs", "found nothing", took_ms=30.0, at_ms=70.0, is_ok=True),
    step("tool: query", "refused: no such table", is_ok=False),
    step(
        "agent: step 1",
        "10+5 tokens",
        took_ms=40.0,
        at_ms=30.0,
        usage={"calls": 1, "prompt_tokens": 10, "completion_tokens": 5, "cost": 0.5},
    ),
]
TRACE = Trace(
    trace_id="t1",
    at=datetime(2026, 11, 30, tzinfo=UTC),
    asker="ann",
    place="dm",
    question="and there?",
    outcome="answered",
    payload={"steps": STEPS, "cited": ["p2", "p1"]},
    took_ms=100.0,
)
SIGHT = Sight(
    trace=TRACE,
    is_own=True,
    has_content=True,
    has_understanding=True,
    has_findings=True,
    hits={"p1": OPEN, "p2": CLOSED},
    may_break=False,
)


def test_all_of_it_is_told_to_who_may_see_all() -> None:
    story = build_story(SIGHT)
    assert (story.understood, story.routing) == ("sick leave in Berlin", "multi_hop: two questions")
    recall = story.bars[3]
    assert (recall.name, recall.detail) == ("recall: terms", "public")
    assert (recall.start_share, recall.width_share) == (10.0, 20.0)
    assert (story.bars[-1].tokens, story.bars[-1].cost) == (15, 0.5)
    [search] = story.searches
    assert (search.audience, search.verdict) == ("public", "enough, 0.90")
    assert search.columns == ("bm25", "odd")
    assert [(row.hit.passage_id, row.fate, row.scores) for row in search.rows] == [
        ("p2", "kept", (3.0, None)),
        ("p1", "cut", (2.0, 1.0)),
    ]
    assert all(row.is_cited for row in search.rows)
    [revision] = story.revisions
    assert (revision.name, revision.causes) == ("2", (OPEN,))
    assert [(one.name, one.is_ok, one.took_ms) for one in story.tools] == [
        ("search_docs", True, 30.0),
        ("query", False, None),
    ]
    assert story.cited == (CLOSED, OPEN)


def test_passages_that_may_not_be_read_leave_no_gap() -> None:
    story = build_story(replace(SIGHT, hits={"p1": OPEN}, has_findings=False))
    [search] = story.searches
    assert [row.hit.passage_id for row in search.rows] == ["p1"]
    assert story.cited == (OPEN,)


def test_what_was_found_is_not_told_by_notes_and_neither_is_what_made_it_understood() -> None:
    sight = replace(SIGHT, hits={"p1": OPEN}, has_understanding=False, has_findings=False)
    story = build_story(sight)
    assert story.understood == ""
    assert "Berlin" not in repr((story.bars, story.revisions, story.tools))
    assert story.routing == "multi_hop: two questions"


def test_an_outline_tells_names_and_times_alone() -> None:
    sight = replace(SIGHT, has_content=False, has_findings=False, hits={}, is_own=False)
    story = build_story(sight)
    assert story == Story(bars=story.bars, understood="", routing="")
    assert [bar.name for bar in story.bars][:3] == ["understand", "analyse", "route"]
    assert not any(bar.note or bar.detail for bar in story.bars)
    assert story.bars[3].took_ms == 20.0


def test_an_older_trace_without_starts_is_told_as_well() -> None:
    old: list[JsonValue] = [{"step": "recall", "took_ms": 2.5, "rows": [], "note": ""}]
    story = build_story(replace(SIGHT, trace=replace(TRACE, payload={"steps": old}, took_ms=0.0)))
    assert (story.bars[0].start_share, story.bars[0].width_share) == (0.0, 100.0)


def test_two_searches_are_compared_by_the_places_of_their_passages() -> None:
    [before] = build_story(SIGHT).searches
    first, second = before.rows
    after = replace(before, rows=(replace(second, fate="kept"), replace(first, fate="cut")))
    moved = compare_searches(before, after)
    assert [(one.hit.passage_id, one.before, one.after, one.steps) for one in moved] == [
        ("p1", 2, 1, 1),
        ("p2", 1, 2, -1),
    ]
    assert [(one.steps, one.after) for one in compare_searches(before, None)] == [(None, None)] * 2
    assert compare_searches(None, None) == ()
