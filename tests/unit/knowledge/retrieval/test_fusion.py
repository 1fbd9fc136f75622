import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.documents import Hit
from knowledge.retrieval.fusion import (
    CODE_BONUS,
    MEANING,
    add_standardised,
    fuse,
    measure_meaning,
)
from knowledge.retrieval.recall import Recalled
from tests.unit.knowledge.retrieval.hit_samples import make_hit


def ids(hits: list[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


def test_a_passage_both_routes_like_comes_first() -> None:
    recalled = Recalled(
        terms=(make_hit("words", 12.0), make_hit("both", 11.0), make_hit("weak", 2.0)),
        vector=(make_hit("sense", 0.90), make_hit("both", 0.89), make_hit("far", 0.80)),
    )
    assert ids(fuse(recalled, method="score"))[0] == "both"
    assert ids(fuse(recalled, method="rrf"))[0] == "both"


def test_every_passage_comes_once_with_the_scores_of_its_routes() -> None:
    recalled = Recalled(
        terms=(make_hit("a", 3.0), make_hit("b", 1.0)), vector=(make_hit("b", 0.8),)
    )
    hits = {str(hit.passage_id): hit for hit in fuse(recalled, method="score")}
    assert set(hits) == {"a", "b"}
    assert hits["b"].scores["bm25"] == 1.0
    assert hits["b"].scores["vector"] == 0.8
    assert hits["b"].scores["fused"] == hits["b"].score


def test_a_near_section_lifts_its_passage() -> None:
    recalled = Recalled(
        vector=(make_hit("a", 0.85), make_hit("b", 0.85, section="s2"), make_hit("c", 0.70)),
        sections=(make_hit("row", 0.95, section="s2"), make_hit("row2", 0.60, section="s-a")),
    )
    assert ids(fuse(recalled, method="score"))[0] == "b"


def test_a_section_no_search_reported_counts_as_near_as_its_passage() -> None:
    near = make_hit("a", 0.9)
    near.scores["vector"] = 0.9
    lost = make_hit("b")
    meaning = measure_meaning([near, lost], [make_hit("row", 0.5, section="elsewhere")])
    assert meaning.tolist() == pytest.approx([1.8, 1.8])


def test_words_alone_are_enough() -> None:
    recalled = Recalled(terms=(make_hit("a", 9.0), make_hit("b", 4.0), make_hit("c", 1.0)))
    assert ids(fuse(recalled, method="score")) == ["a", "b", "c"]


def test_meaning_alone_is_enough() -> None:
    recalled = Recalled(vector=(make_hit("a", 0.9), make_hit("b", 0.8), make_hit("c", 0.7)))
    assert ids(fuse(recalled, method="score")) == ["a", "b", "c"]


def test_an_exact_code_lifts_a_passage() -> None:
    found = {
        "terms": (make_hit("a", 5.0), make_hit("b", 4.9), make_hit("c", 1.0)),
        "vector": (make_hit("a", 0.81), make_hit("b", 0.80), make_hit("c", 0.7)),
    }
    plain = fuse(Recalled(**found), method="score")
    lifted = fuse(Recalled(**found, codes=(make_hit("b", 2.0),)), method="score")
    assert ids(plain)[0] == "a"
    assert ids(lifted)[0] == "b"
    assert lifted[0].score == pytest.approx(plain[1].score + CODE_BONUS)


def test_a_passage_found_by_its_code_alone_is_kept() -> None:
    recalled = Recalled(terms=(make_hit("a", 5.0),), codes=(make_hit("only", 1.0),))
    assert set(ids(fuse(recalled, method="score"))) == {"a", "only"}
    assert set(ids(fuse(recalled, method="rrf"))) == {"a", "only"}


def test_nothing_recalled_gives_nothing() -> None:
    assert fuse(Recalled(), method="score") == []
    assert fuse(Recalled(), method="rrf") == []


def test_one_passage_is_no_division_by_zero() -> None:
    (hit,) = fuse(
        Recalled(terms=(make_hit("a", 3.0),), vector=(make_hit("a", 0.8),)), method="score"
    )
    assert hit.score == 0.0
    assert hit.scores[MEANING] == pytest.approx(1.6)


def test_ties_are_ordered_by_passage_id() -> None:
    recalled = Recalled(terms=(make_hit("z", 3.0), make_hit("a", 3.0), make_hit("m", 3.0)))
    assert ids(fuse(recalled, method="score")) == ["a", "m", "z"]


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30),
    st.floats(0.01, 100),
    st.floats(-50, 50),
)
def test_scales_do_not_depend_on_unit_or_origin(
    values: list[float], unit: float, origin: float
) -> None:
    scale = np.array(values)
    if scale.std() < 0.01:
        return
    np.testing.assert_allclose(
        add_standardised(scale), add_standardised(scale * unit + origin), atol=1e-5
    )


def test_a_scale_without_differences_adds_nothing() -> None:
    scale = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(add_standardised(scale, np.ones(3)), add_standardised(scale))
