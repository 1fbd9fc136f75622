"""Why each passage that was found is among the evidence, or is not."""

from dataclasses import replace

from knowledge.retrieval import Fate
from knowledge.retrieval.fates import Sifting, judge_fates
from knowledge.retrieval.recall import Recalled
from tests.unit.knowledge.retrieval.hit_samples import make_hit

A, B, C, D, E, F = (make_hit(name, 1.0) for name in "abcdef")
B2 = make_hit("b2", 0.8, section="s-b")
SIFTING = Sifting(
    recalled=Recalled(terms=(A, B, B2, C, D, E, F)),
    fused=[A, B, B2, C, D, E],
    admitted=[A, B, B2, C, D],
    before_rerank=[A, D, B, B2, C],
    ranked=[A, B, B2, C, D],
    kept=[A, B, B2, C],
    sections=2,
    is_enough=True,
)


def judge(sifting: Sifting) -> dict[str, Fate]:
    return {one.passage_id: one.fate for one in judge_fates(sifting)}


def test_every_passage_has_the_fate_that_befell_it() -> None:
    assert judge(SIFTING) == {
        "a": Fate.KEPT,
        "b": Fate.KEPT,
        "b2": Fate.SAME_SECTION,
        "c": Fate.SECTION_LIMIT,
        "d": Fate.RERANKED,
        "e": Fate.LOCKED,
        "f": Fate.FUSION,
    }


def test_without_reranking_what_is_below_the_cut_was_cut() -> None:
    assert judge(replace(SIFTING, before_rerank=SIFTING.ranked))["d"] is Fate.CUT


def test_evidence_that_is_too_little_is_below_the_threshold() -> None:
    fates = judge(replace(SIFTING, is_enough=False))
    assert fates["a"] is fates["b"] is Fate.BELOW_THRESHOLD
    assert fates["d"] is Fate.RERANKED


def test_what_came_in_besides_recall_has_a_fate_too() -> None:
    named = make_hit("named", 2.0)
    sifting = replace(SIFTING, ranked=[named, *SIFTING.ranked], kept=[named, A], sections=5)
    assert judge(sifting)["named"] is Fate.KEPT


def test_scores_of_every_stage_go_with_it() -> None:
    hit = replace(A, scores={"bm25": 1.23456, "fused": 0.5})
    [only] = judge_fates(
        Sifting(
            recalled=Recalled(terms=(hit,)),
            fused=[hit],
            admitted=[hit],
            before_rerank=[hit],
            ranked=[hit],
            kept=[hit],
            sections=1,
            is_enough=True,
        )
    )
    assert only.scores == {"bm25": 1.2346, "fused": 0.5}
