import math

import pytest

from knowledge.documents import Hit, PassageId
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval.fusion import fuse
from knowledge.retrieval.meaning import COSINE
from knowledge.retrieval.recall import Recalled
from knowledge.retrieval.rescoring import rescore
from tests.unit.knowledge.retrieval.hit_samples import make_hit, unit

STATISTICS = TermStatistics(
    rows=1000, average_length=4.0, document_frequency={"disk": 20, "clean": 200, "page": 900}
)
TERMS = {"disk": 1.0, "clean": 1.0, "page": 1.0}


def ids(hits: list[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


def with_cosine(hit: Hit, cosine: float) -> Hit:
    hit.scores[COSINE] = cosine
    return hit


def test_a_candidate_found_by_meaning_gets_its_words_counted() -> None:
    recalled = Recalled(
        terms=(make_hit("a", 2.0, terms="page page clean here"),),
        vector=(
            make_hit("b", 0.85, terms="clean disk page now"),
            make_hit("c", 0.84, terms="other words stand here"),
        ),
    )
    hits = rescore(fuse(recalled, method="score", asked_in=None), TERMS, STATISTICS, asked_in=None)
    assert ids(hits)[0] == "b"
    assert hits[0].scores["words"] > 0


def test_words_rare_in_the_whole_index_weigh_more() -> None:
    hits = [
        with_cosine(make_hit("common", terms="page other other other"), 1.0),
        with_cosine(make_hit("rare", terms="disk other other other"), 1.0),
    ]
    assert ids(rescore(hits, TERMS, STATISTICS, asked_in=None)) == ["rare", "common"]


def test_words_score_as_bm25_of_the_whole_index() -> None:
    hits = [make_hit("a", terms="disk disk clean other"), make_hit("b", terms="nothing at all")]
    scored = {
        str(hit.passage_id): hit for hit in rescore(hits, {"disk": 0.5}, STATISTICS, asked_in=None)
    }
    idf = math.log(1 + (1000 - 20 + 0.5) / (20 + 0.5))
    assert scored["a"].scores["words"] == pytest.approx(0.5 * idf * 2 * 2.2 / (2 + 1.2))
    assert scored["b"].scores["words"] == 0.0


def test_two_candidates_keep_positive_scores() -> None:
    """rank-bm25 fitted on two texts gives terms of both a negative weight."""
    hits = [make_hit("a", terms="disk disk x"), make_hit("b", terms="disk y z")]
    assert all(hit.scores["words"] > 0 for hit in rescore(hits, TERMS, STATISTICS, asked_in=None))


def test_the_section_shares_its_words_with_the_passage() -> None:
    hits = [
        with_cosine(make_hit("a", section="s1", terms="clean it"), 1.0),
        with_cosine(make_hit("b", section="s2", terms="clean it"), 1.0),
    ]
    sections = {
        PassageId("a"): make_hit("row a", section="s1", terms="clean it other words"),
        PassageId("b"): make_hit("row b", section="s2", terms="clean it disk page words"),
    }
    assert ids(rescore(hits, TERMS, STATISTICS, asked_in=None, sections=sections)) == ["b", "a"]


def test_a_lone_passage_is_its_own_section() -> None:
    lone = with_cosine(make_hit("a", section="s1", terms="clean disk"), 1.0)
    other = with_cosine(make_hit("b", section="s2", terms="clean"), 1.0)
    section = {PassageId("b"): make_hit("row", section="s2", terms="clean")}
    (first, _) = rescore([lone, other], TERMS, STATISTICS, asked_in=None, sections=section)
    (alone, _) = rescore([lone, other], TERMS, STATISTICS, asked_in=None)
    assert first.scores["words"] == pytest.approx(alone.scores["words"])


def test_equal_words_are_ordered_by_meaning() -> None:
    hits = [
        with_cosine(make_hit("far", terms="disk"), 1.5),
        with_cosine(make_hit("near", terms="disk"), 1.7),
    ]
    assert ids(rescore(hits, TERMS, STATISTICS, asked_in=None)) == ["near", "far"]


@pytest.mark.parametrize("hits", [[], [make_hit("a", 2.0), make_hit("b", 1.0)]])
def test_without_terms_or_statistics_the_order_stays(hits: list[Hit]) -> None:
    empty = TermStatistics(rows=0, average_length=0.0, document_frequency={})
    assert rescore(hits, {}, STATISTICS, asked_in=None) == hits
    assert rescore(hits, TERMS, empty, asked_in=None) == hits


def test_a_passage_without_terms_is_no_error() -> None:
    assert (
        ids(
            rescore([make_hit("a"), make_hit("b", terms="disk")], TERMS, STATISTICS, asked_in=None)
        )[0]
        == "b"
    )


def test_meaning_is_that_of_passage_and_section() -> None:
    hits = [with_cosine(make_hit(name, terms="disk", vector=unit(1, 0)), 1.0) for name in "ab"]
    sections = {
        PassageId("a"): make_hit("row a", section="s-a", terms="disk", vector=unit(0, 1)),
        PassageId("b"): make_hit("row b", section="s-b", terms="disk", vector=unit(1, 0)),
    }
    scored = rescore(hits, TERMS, STATISTICS, asked_in=None, sections=sections, vector=unit(1, 0))
    assert ids(scored) == ["b", "a"]
