"""Which questions are put to which corpus, and what is noted of each."""

import pytest

from core.errors import ServiceUnavailableError
from core.settings import RetrievalSettings
from evaluation.datasets import Dataset
from evaluation.records import Role
from evaluation.runner import Plan, choose_questions, run_evaluation
from evaluation.variants import STAGES, build_ablations, build_simple, turn_off
from knowledge.progress import NoProgress, ProgressReport
from tests.fakes.overlap_index import OverlapIndexer
from tests.unit.evaluation.sets import ENGINES, GARDEN

SHIPPED = RetrievalSettings()


class Seen:
    def __init__(self) -> None:
        self.reports: list[ProgressReport] = []

    def update(self, report: ProgressReport) -> None:
        self.reports.append(report)


async def test_every_question_is_measured_by_every_variant_over_one_index() -> None:
    indexer, progress = OverlapIndexer(), Seen()
    variants = {"shipped": SHIPPED, "vector": build_simple(SHIPPED, "vector")}
    plan = Plan(variants=variants, foreign_questions=0)
    records = await run_evaluation([ENGINES, GARDEN], plan, indexer, progress)
    assert [(one.asked.dataset, one.variant, one.asked.query.query_id) for one in records] == [
        ("engines", "shipped", "eq1"),
        ("engines", "shipped", "eq2"),
        ("engines", "shipped", "eq3"),
        ("engines", "vector", "eq1"),
        ("engines", "vector", "eq2"),
        ("engines", "vector", "eq3"),
        ("garden", "shipped", "gq1"),
        ("garden", "shipped", "gq2"),
        ("garden", "vector", "gq1"),
        ("garden", "vector", "gq2"),
    ]
    assert len(indexer.opened) == indexer.closed == 2
    assert plan.main_variant == "shipped"
    last = progress.reports[-1]
    assert (last.task, last.done, last.total) == ("2/2 garden · vector", 2, 2)


async def test_a_record_ranks_items_by_their_best_passage() -> None:
    plan = Plan(variants={"shipped": SHIPPED}, foreign_questions=0)
    records = await run_evaluation([ENGINES], plan, OverlapIndexer(), NoProgress())
    first, second, third = records
    assert first.ranking == ("e1", "e2")
    assert first.scores is not None
    assert first.scores.recall_at_1 == first.scores.recall_at_5 == 1
    assert second.scores is not None
    assert second.scores.recall_at_5 == 1
    assert third.scores is None
    assert third.is_refused
    assert (first.confidence, first.is_refused) == (1.0, False)
    assert first.stages_ms == {"bm25": 1.5}
    assert first.took_ms > 0


async def test_a_follow_up_is_searched_with_its_earlier_turns_and_its_moment() -> None:
    indexer = OverlapIndexer()
    plan = Plan(variants={"shipped": SHIPPED}, foreign_questions=0)
    await run_evaluation([ENGINES], plan, indexer, NoProgress())
    index = indexer.opened[0]
    place = index.searches.index("about my car\nengine petrol diesel")
    assert index.as_of[place] == ENGINES.queries[1].as_of


async def test_answers_are_judged_for_the_first_variant_only() -> None:
    variants = {"shipped": SHIPPED, "bm25": build_simple(SHIPPED, "bm25")}
    plan = Plan(variants=variants, foreign_questions=0, has_answers=True)
    records = await run_evaluation([ENGINES], plan, OverlapIndexer(), NoProgress())
    answers = [record.answer for record in records]
    assert answers[3:] == [None, None, None]
    assert answers[0] is not None
    assert answers[0].holds_required is True
    assert answers[0].point_coverage == 0.5
    assert answers[0].citation_precision == 1
    assert answers[2] is not None
    assert answers[2].is_refused
    assert answers[2].holds_required is answers[2].citation_precision is None


async def test_no_more_questions_run_at_once_than_allowed() -> None:
    many = Dataset(
        name="many",
        corpus=ENGINES.corpus,
        queries=ENGINES.queries * 5,
        content_hash=ENGINES.content_hash,
    )
    for concurrency in (1, 3):
        indexer = OverlapIndexer()
        plan = Plan(variants={"shipped": SHIPPED}, foreign_questions=0, concurrency=concurrency)
        records = await run_evaluation([many], plan, indexer, NoProgress())
        assert indexer.opened[0].most_running == concurrency
        assert [one.asked.query.query_id for one in records] == ["eq1", "eq2", "eq3"] * 5


async def test_a_search_that_fails_ends_the_run_with_its_own_error() -> None:
    class Broken(Seen):
        def update(self, report: ProgressReport) -> None:
            raise ServiceUnavailableError(report.task)

    plan = Plan(variants={"shipped": SHIPPED})
    with pytest.raises(ServiceUnavailableError, match="engines"):
        await run_evaluation([ENGINES], plan, OverlapIndexer(), Broken())


def test_foreign_questions_come_from_the_other_sets_and_have_no_right_item() -> None:
    plan = Plan(variants={"shipped": SHIPPED}, foreign_questions=1)
    chosen = choose_questions(GARDEN, [ENGINES, GARDEN], plan)
    assert [one.role for one in chosen] == [Role.OWN, Role.OWN, Role.FOREIGN]
    assert chosen[2].origin == "engines"
    assert chosen[2].query.is_answerable
    assert not chosen[2].is_answerable
    assert chosen == choose_questions(GARDEN, [ENGINES, GARDEN], plan)
    assert len(choose_questions(GARDEN, [GARDEN], plan)) == 2


def test_one_part_of_the_questions_can_be_run_alone() -> None:
    halves = [
        choose_questions(ENGINES, [ENGINES], Plan(variants={"shipped": SHIPPED}, part=part))
        for part in ("tune", "report")
    ]
    assert sorted(one.query.query_id for half in halves for one in half) == ["eq1", "eq2", "eq3"]
    assert all(one.query.part == "tune" for one in halves[0])


def test_variants_switch_stages_and_nothing_else() -> None:
    ablations = build_ablations(SHIPPED)
    assert next(iter(ablations)) == "shipped"
    assert ablations["shipped"] == SHIPPED
    assert ablations["bm25"].recall_vector == 0
    assert ablations["vector"].recall_terms == 0
    assert ablations["rrf"].fusion == "rrf"
    for name in ("bm25", "vector", "rrf"):
        simple = ablations[name]
        assert {getattr(simple, stage) for stage in STAGES} == {False}
    assert ablations["without rescore"] == turn_off(SHIPPED, ["rescore"])
    assert "without metadata" not in build_ablations(turn_off(SHIPPED, ["metadata"]))
    assert ablations["rrf fusion"].rescore == SHIPPED.rescore


def test_every_switch_of_retrieval_that_changes_the_ranking_is_a_stage() -> None:
    switches = {name for name, value in SHIPPED.model_dump().items() if isinstance(value, bool)}
    assert switches == {*STAGES, "sufficiency"}
