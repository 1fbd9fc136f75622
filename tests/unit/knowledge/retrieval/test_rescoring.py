import math

import pytest

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval.fusion import MEANING, fuse
from knowledge.retrieval.recall import Recalled
from knowledge.retrieval.rescoring import rescore
from tests.unit.knowledge.retrieval.hit_samples import make_hit

STATISTICS = TermStatistics(
    rows=1000, average_length=4.0, document_frequency={"disk": 20, "clean": 200, "page": 900}
)
TERMS = {"disk": 1.0, "clean": 1.0, "page": 1.0}


def ids(hits: list[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


def with_meaning(hit: Hit, meaning: float) -> Hit:
    hit.scores[MEANING] = meaning
    return hit


def test_a_candidate_found_by_meaning_gets_its_words_counted() -> None:
    recalled = Recalled(
        terms=(make_hit("a", 2.0, terms="page page clean here"),),
        vector=(
            make_hit("b", 0.85, terms="clean disk page now"),
            make_hit("c", 0.84, terms="other words stand here"),
        ),
    )
    hits = rescore(fuse(recalled, method="score"), TERMS, STATISTICS)
    assert ids(hits)[0] == "b"
    assert hits[0].scores["words"] > 0


def test_words_rare_in_the_whole_index_weigh_more() -> None:
    hits = [
        with_meaning(make_hit("common", terms="page other other other"), 1.0),
        with_meaning(make_hit("rare", terms="disk other other other"), 1.0),
    ]
    assert ids(rescore(hits, TERMS, STATISTICS)) == ["rare", "common"]


def test_words_score_as_bm25_of_the_whole_index() -> None:
    hits = [make_hit("a", terms="disk disk clean other"), make_hit("b", terms="nothing at all")]
    scored = {str(hit.passage_id): hit for hit in rescore(hits, {"disk": 0.5}, STATISTICS)}
    idf = math.log(1 + (1000 - 20 + 0.5) / (20 + 0.5))
    assert scored["a"].scores["words"] == pytest.approx(0.5 * idf * 2 * 2.2 / (2 + 1.2))
    assert scored["b"].scores["words"] == 0.0


def test_two_candidates_keep_positive_scores() -> None:
    """rank-bm25 fitted on two texts gives terms of both a negative weight."""
    hits = [make_hit("a", terms="disk disk x"), make_hit("b", terms="disk y z")]
    assert all(hit.scores["words"] > 0 for hit in rescore(hits, TERMS, STATISTICS))


def test_the_section_shares_its_words_with_the_passage() -> None:
    hits = [
        with_meaning(make_hit("a", section="s1", terms="clean it"), 1.0),
        with_meaning(make_hit("b", section="s2", terms="clean it"), 1.0),
    ]
    sections = {
        SectionId("s1"): "clean it other words",
        SectionId("s2"): "clean it disk page words",
    }
    assert ids(rescore(hits, TERMS, STATISTICS, section_terms=sections)) == ["b", "a"]


def test_a_lone_passage_is_its_own_section() -> None:
    lone = with_meaning(make_hit("a", section="s1", terms="clean disk"), 1.0)
    other = with_meaning(make_hit("b", section="s2", terms="clean"), 1.0)
    (first, _) = rescore([lone, other], TERMS, STATISTICS, section_terms={SectionId("s2"): "clean"})
    (alone, _) = rescore([lone, other], TERMS, STATISTICS)
    assert first.scores["words"] == pytest.approx(alone.scores["words"])


def test_equal_words_are_ordered_by_meaning() -> None:
    hits = [
        with_meaning(make_hit("far", terms="disk"), 1.5),
        with_meaning(make_hit("near", terms="disk"), 1.7),
    ]
    assert ids(rescore(hits, TERMS, STATISTICS)) == ["near", "far"]


@pytest.mark.parametrize("hits", [[], [make_hit("a", 2.0), make_hit("b", 1.0)]])
def test_without_terms_or_statistics_the_order_stays(hits: list[Hit]) -> None:
    empty = TermStatistics(rows=0, average_length=0.0, document_frequency={})
    assert rescore(hits, {}, STATISTICS) == hits
    assert rescore(hits, TERMS, empty) == hits


def test_a_passage_without_terms_is_no_error() -> None:
    assert ids(rescore([make_hit("a"), make_hit("b", terms="disk")], TERMS, STATISTICS))[0] == "b"


def test_exact_closeness_replaces_what_fusion_knew() -> None:
    hits = [
        with_meaning(make_hit("a", terms="disk"), 1.9),
        with_meaning(make_hit("b", terms="disk"), 1.1),
    ]
    exact = {PassageId("a"): 0.2, PassageId("b"): 0.9}
    assert ids(rescore(hits, TERMS, STATISTICS, meaning=exact)) == ["b", "a"]
    partial = {PassageId("b"): 0.9}
    assert ids(rescore(hits, TERMS, STATISTICS, meaning=partial)) == ["a", "b"]
