from dataclasses import replace

import pytest

from knowledge.documents import Hit
from knowledge.languages import Language
from knowledge.retrieval.fusion import CODE_BONUS, fuse
from knowledge.retrieval.meaning import COSINE
from knowledge.retrieval.recall import Recalled
from tests.unit.knowledge.retrieval.hit_samples import make_hit, unit


def ids(hits: list[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


def test_a_passage_both_routes_like_comes_first() -> None:
    recalled = Recalled(
        terms=(make_hit("words", 12.0), make_hit("both", 11.0), make_hit("weak", 2.0)),
        vector=(make_hit("sense", 0.90), make_hit("both", 0.89), make_hit("far", 0.80)),
    )
    assert ids(fuse(recalled, method="score", asked_in=None))[0] == "both"
    assert ids(fuse(recalled, method="rrf", asked_in=None))[0] == "both"


def test_every_passage_comes_once_with_the_scores_of_its_routes() -> None:
    recalled = Recalled(
        terms=(make_hit("a", 3.0), make_hit("b", 1.0)), vector=(make_hit("b", 0.8),)
    )
    hits = {str(hit.passage_id): hit for hit in fuse(recalled, method="score", asked_in=None)}
    assert set(hits) == {"a", "b"}
    assert hits["b"].scores["bm25"] == 1.0
    assert hits["b"].scores["vector"] == 0.8
    assert hits["b"].scores["fused"] == hits["b"].score


def test_a_passage_found_by_words_gets_its_cosine_too() -> None:
    recalled = Recalled(
        terms=(make_hit("a", 3.0, vector=unit(1, 0)), make_hit("b", 3.0, vector=unit(0, 1))),
        question=unit(1, 0),
    )
    first, second = fuse(recalled, method="score", asked_in=None)
    assert first.passage_id == "a"
    assert first.scores[COSINE] == pytest.approx(1.0)
    assert second.scores[COSINE] == pytest.approx(0.0)


def test_the_best_page_in_the_other_language_is_not_buried() -> None:
    own = [make_hit(f"own{n}", 5.0 - n, text=f"居家办公的第{n}条规则") for n in range(6)]
    near = [make_hit(hit.passage_id, 0.90 - n / 100, text=hit.text) for n, hit in enumerate(own)]
    foreign = tuple(
        make_hit(f"foreign{n}", score, text="rules for working at home")
        for n, score in enumerate([0.84, 0.75, 0.75, 0.74, 0.74])
    )
    recalled = Recalled(terms=tuple(own), vector=tuple(near), foreign=foreign)
    assert "foreign0" in ids(fuse(recalled, method="score", asked_in=Language.CHINESE))[:3]
    assert "foreign0" not in ids(fuse(recalled, method="score", asked_in=None))[:3]


def test_words_alone_are_enough() -> None:
    recalled = Recalled(terms=(make_hit("a", 9.0), make_hit("b", 4.0), make_hit("c", 1.0)))
    assert ids(fuse(recalled, method="score", asked_in=None)) == ["a", "b", "c"]


def test_meaning_alone_is_enough() -> None:
    recalled = Recalled(vector=(make_hit("a", 0.9), make_hit("b", 0.8), make_hit("c", 0.7)))
    assert ids(fuse(recalled, method="score", asked_in=None)) == ["a", "b", "c"]


def test_an_exact_code_lifts_a_passage() -> None:
    found = Recalled(
        terms=(make_hit("a", 5.0), make_hit("b", 4.9), make_hit("c", 1.0)),
        vector=(make_hit("a", 0.81), make_hit("b", 0.80), make_hit("c", 0.7)),
    )
    plain = fuse(found, method="score", asked_in=None)
    with_code = replace(found, codes=(make_hit("b", 2.0),))
    lifted = fuse(with_code, method="score", asked_in=None)
    assert ids(plain)[0] == "a"
    assert ids(lifted)[0] == "b"
    assert lifted[0].score == pytest.approx(plain[1].score + CODE_BONUS)


def test_a_passage_found_by_its_code_alone_is_kept() -> None:
    recalled = Recalled(terms=(make_hit("a", 5.0),), codes=(make_hit("only", 1.0),))
    assert set(ids(fuse(recalled, method="score", asked_in=None))) == {"a", "only"}
    assert set(ids(fuse(recalled, method="rrf", asked_in=None))) == {"a", "only"}


def test_no_more_come_than_wanted() -> None:
    recalled = Recalled(terms=(make_hit("a", 9.0), make_hit("b", 4.0), make_hit("c", 1.0)))
    assert ids(fuse(recalled, method="score", asked_in=None, limit=2)) == ["a", "b"]


def test_what_routes_report_is_left_as_it_was() -> None:
    hit = make_hit("a", 3.0, vector=unit(1, 0))
    fuse(Recalled(terms=(hit,), question=unit(1, 0)), method="score", asked_in=None)
    assert hit.scores == {}


def test_nothing_recalled_gives_nothing() -> None:
    assert fuse(Recalled(), method="score", asked_in=None) == []
    assert fuse(Recalled(), method="rrf", asked_in=None) == []


def test_one_passage_is_no_division_by_zero() -> None:
    (hit,) = fuse(
        Recalled(terms=(make_hit("a", 3.0),), vector=(make_hit("a", 0.8),)),
        method="score",
        asked_in=None,
    )
    assert hit.score == 0.0
    assert hit.scores[COSINE] == pytest.approx(0.8)


def test_ties_are_ordered_by_passage_id() -> None:
    recalled = Recalled(terms=(make_hit("z", 3.0), make_hit("a", 3.0), make_hit("m", 3.0)))
    assert ids(fuse(recalled, method="score", asked_in=None)) == ["a", "m", "z"]
