import pytest

from knowledge.documents import DocumentId, Hit
from knowledge.retrieval.named_pages import (
    BELOW,
    LIFT,
    MOST_BEARERS,
    build_title_index,
    find_named_documents,
    lift_named,
)
from tests.unit.knowledge.retrieval.hit_samples import make_hit

TITLES = build_title_index(
    (DocumentId(document), title)
    for document, title in [
        ("net", "Cartoon Network"),
        ("show", "Thumb League (series)"),
        ("leave", "年假制度"),
        ("leave-2", "年假制度补充说明"),
        ("it", "IT"),
        ("hr", "人事"),
        ("ops", "Runbook"),
    ]
)


def ids(hits: list[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("It runs on the cartoon network daily.", {"net"}),
        ("See Thumb League.", {"show"}),
        ("请参照《年假制度》办理", {"leave"}),
        ("见年假制度补充说明", {"leave-2"}),
        ("Ask IT or 人事 about it", set()),
        ("the RUNBOOK says", {"ops"}),
        ("cartoons of a networks", set()),
        ("", set()),
    ],
)
def test_titles_are_found_as_whole_names(text: str, documents: set[str]) -> None:
    found = {one for name in TITLES.find(text) for one in TITLES.documents[name]}
    assert found == documents


def test_a_page_named_by_a_hit_comes_right_below_it() -> None:
    hits = [
        make_hit("a", 3.0, document="show", text="It was shown on Cartoon Network."),
        make_hit("b", 2.5, document="other"),
        make_hit("c", 2.0, document="net"),
        make_hit("d", 1.0, document="net"),
    ]
    ceilings = find_named_documents("Who founded the network of it?", hits, TITLES)
    assert ceilings == {"net": 3.0 - BELOW}
    lifted = lift_named(hits, ceilings)
    assert ids(lifted) == ["a", "c", "b", "d"]
    assert lifted[1].score == pytest.approx(3.0 - BELOW)


def test_the_lift_is_bounded() -> None:
    hits = [
        make_hit("a", 5.0, document="show", text="Cartoon Network"),
        make_hit("b", 1.0, document="net"),
    ]
    lifted = lift_named(hits, find_named_documents("?", hits, TITLES))
    assert lifted[1].score == pytest.approx(1.0 + LIFT)


def test_a_page_is_not_lifted_by_naming_itself() -> None:
    hits = [make_hit("a", 3.0, document="net", text="Cartoon Network is a channel.")]
    assert find_named_documents("what is it", hits, TITLES) == {}


def test_both_pages_of_a_comparison_get_a_place_near_the_top() -> None:
    hits = [
        *(make_hit(f"a{i}", 4.0 - i / 10, document="net") for i in range(5)),
        make_hit("b", 2.4, document="show"),
    ]
    ceilings = find_named_documents("Compare Cartoon Network and Thumb League", hits, TITLES)
    assert ids(lift_named(hits, ceilings))[:3] == ["a0", "a1", "b"]


def test_the_best_hit_keeps_its_place() -> None:
    hits = [
        make_hit("a", 3.0, document="x", text="Cartoon Network and Thumb League, Runbook"),
        make_hit("b", 2.99, document="net"),
        make_hit("c", 2.98, document="show"),
    ]
    assert ids(lift_named(hits, find_named_documents("q", hits, TITLES)))[0] == "a"


def test_no_hits_name_nothing() -> None:
    assert find_named_documents("Cartoon Network", [], TITLES) == {}
    assert lift_named([], {}) == []
    assert build_title_index([]).find("Cartoon Network") == []


@pytest.mark.parametrize(("bearers", "is_name"), [(MOST_BEARERS, True), (MOST_BEARERS + 1, False)])
def test_a_title_that_many_pages_bear_names_none(bearers: int, *, is_name: bool) -> None:
    index = build_title_index(
        (DocumentId(f"d{number}"), "Minutes of the board") for number in range(bearers)
    )
    assert bool(index.find("See the minutes of the board.")) is is_name
