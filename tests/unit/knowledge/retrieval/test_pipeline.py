import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.database import Database
from core.settings import RetrievalSettings
from knowledge.access import NOTHING, OPERATOR
from knowledge.documents import Status
from knowledge.retrieval import Retrieval
from knowledge.retrieval.rerank import Reranker
from knowledge.stores import PassageFilter
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.fakes.tiny_embedder import TinyEmbedder
from tests.unit.knowledge.ingesting import Workbench, open_workbench

WHERE = PassageFilter(access=OPERATOR)
STAGES = (
    "rescore",
    "named_pages",
    "metadata",
    "two_levels",
    "across_languages",
    "sufficiency",
)
PAGES = {
    "disk": MemoryPage(
        text="# Disk 磁盘\n\n"
        + "\n\n".join(f"Rule {n} of the disk. 磁盘规则第{n}条。" for n in range(8)),
        title="Disk rules",
    ),
    "code": MemoryPage(text="Error K8-023 means no space. 错误代码表示没有空间。", title="Errors"),
    "leave": MemoryPage(text="年假每年十五天。Annual leave is fifteen days.", title="年假制度"),
    "show": MemoryPage(text="Thumb League is shown on Falcon Network.", title="Thumb League"),
    "net": MemoryPage(text="It was founded by Ada in 1990.", title="Falcon Network"),
    **{
        f"noise{n}": MemoryPage(text=f"A page about matter {n}, shown to nobody in particular.")
        for n in range(5)
    },
}


class LastFirst:
    """Turns the order around; keeps the protocol."""

    name = "last-first"

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(0)
        del question
        return [float(number) for number in range(len(texts))]


@asynccontextmanager
async def open_filled(
    database: Database,
    folder: Path,
    *,
    reranker: Reranker | None = None,
    embedder: TinyEmbedder | None = None,
) -> AsyncIterator[Workbench]:
    async with open_workbench(database, folder, reranker=reranker, embedder=embedder) as opened:
        await opened.sync(MemorySource(dict(PAGES)))
        yield opened


@pytest.fixture(params=["words", "vectors"])
async def bench(
    request: pytest.FixtureRequest, database: Database, tmp_path: Path
) -> AsyncIterator[Workbench]:
    embedder = TinyEmbedder(dimension=256) if request.param == "vectors" else None
    async with open_filled(database, tmp_path, embedder=embedder) as opened:
        yield opened


@pytest.fixture
async def words(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_filled(database, tmp_path) as opened:
        yield opened


def stages(found: Retrieval) -> list[str]:
    return [record.stage for record in found.stages]


async def test_the_page_that_answers_comes_first_in_both_languages(bench: Workbench) -> None:
    for question, title in [
        ("How many days of annual leave?", "年假制度"),
        ("年假有多少天", "年假制度"),
        ("what does K8-023 mean", "Errors"),
        ("rule 3 of the disk", "Disk rules"),
        ("磁盘规则", "Disk rules"),
    ]:
        found = await bench.retriever.search(question, WHERE)
        assert found.hits[0].title == title, question
        assert found.question == question
        assert found.evidence[0].hit == found.hits[0]


async def test_evidence_is_the_whole_section(bench: Workbench) -> None:
    found = await bench.retriever.search("rule 3 of the disk", WHERE)
    assert "Rule 7" in found.evidence[0].section_text
    assert len(found.evidence[0].passages) <= len(found.hits)


async def test_every_stage_leaves_a_record(bench: Workbench) -> None:
    found = await bench.retriever.search("disk rule K8-023", WHERE)
    assert stages(found) == [
        "analyse", "recall: terms", "recall: vector", "recall: foreign", "recall: codes", "fuse",
        "lock", "rescore", "named pages", "prefer", "sufficiency", "cut",
    ]  # fmt: skip
    assert all(record.took_ms >= 0 for record in found.stages)
    last = found.stages[-1]
    assert last.rows[0] == (found.hits[0].passage_id, found.hits[0].score)
    assert found.took_ms >= sum(record.took_ms for record in found.stages[:3])


@pytest.mark.parametrize("stage", STAGES)
async def test_any_stage_may_be_left_out(bench: Workbench, stage: str) -> None:
    settings = RetrievalSettings.model_validate({stage: False})
    found = await bench.retriever.with_settings(settings).search("年假有多少天", WHERE)
    assert found.hits[0].title == "年假制度"


async def test_only_recall_and_fusion_are_enough_to_search(bench: Workbench) -> None:
    settings = RetrievalSettings.model_validate(dict.fromkeys(STAGES, False) | {"fusion": "rrf"})
    retriever = bench.retriever.with_settings(settings)
    found = await retriever.search("磁盘规则", WHERE)
    assert found.hits[0].title == "Disk rules"
    assert (found.sufficiency.is_enough, found.sufficiency.confidence) == (True, 1.0)
    assert "rescore" not in stages(found)
    nothing = await retriever.search("磁盘规则", PassageFilter(access=NOTHING))
    assert (nothing.sufficiency.is_enough, nothing.sufficiency.confidence) == (False, 0.0)


@pytest.mark.parametrize(
    ("question", "is_searched"), [("企鹅在哪里过冬", True), ("年假每年多少天", False)]
)
async def test_the_other_language_is_searched_when_words_find_little(
    database: Database, tmp_path: Path, question: str, *, is_searched: bool
) -> None:
    async with open_filled(database, tmp_path, embedder=TinyEmbedder()) as bench:
        found = await bench.retriever.search(question, WHERE)
        apart = await bench.retriever.with_settings(
            RetrievalSettings(across_languages=False)
        ).search(question, WHERE)
    by_stage = {record.stage: record.rows for record in found.stages}
    assert bool(by_stage["recall: foreign"]) is is_searched
    assert not {record.stage: record.rows for record in apart.stages}["recall: foreign"]


async def test_vectors_may_be_left_out(database: Database, tmp_path: Path) -> None:
    async with open_filled(database, tmp_path, embedder=TinyEmbedder()) as bench:
        settings = RetrievalSettings(recall_vector=0)
        found = await bench.retriever.with_settings(settings).search("磁盘规则", WHERE)
    assert found.hits[0].title == "Disk rules"
    assert "vector" not in found.hits[0].scores


async def test_a_page_named_by_the_best_hit_joins_though_no_route_found_it(
    words: Workbench,
) -> None:
    found = await words.retriever.search("Who founded the network of Thumb League?", WHERE)
    assert [hit.title for hit in found.hits[:2]] == ["Thumb League", "Falcon Network"]
    narrow = words.retriever.with_settings(RetrievalSettings(recall_terms=1))
    found = await narrow.search("Who founded the network of Thumb League?", WHERE)
    assert "Falcon Network" in [hit.title for hit in found.hits]
    without = words.retriever.with_settings(RetrievalSettings(recall_terms=1, named_pages=False))
    found = await without.search("Who founded the network of Thumb League?", WHERE)
    assert "Falcon Network" not in [hit.title for hit in found.hits]


async def test_the_limit_bounds_hits_and_the_setting_bounds_evidence(words: Workbench) -> None:
    retriever = words.retriever.with_settings(RetrievalSettings(limit=2))
    question = "matter shown disk rule leave"
    assert len((await retriever.search(question, WHERE)).hits) <= 5
    many = await retriever.search(question, WHERE, limit=50)
    assert len(many.hits) > 5
    assert len(many.evidence) == 2


async def test_a_reranker_has_the_last_word(database: Database, tmp_path: Path) -> None:
    async with open_filled(database, tmp_path, reranker=LastFirst()) as bench:
        found = await bench.retriever.search("rule 3 of the disk", WHERE, limit=50)
    record = next(one for one in found.stages if one.stage == "rerank")
    assert record.note == "last-first"
    before = next(one for one in found.stages if one.stage == "prefer")
    assert [row for row, _ in record.rows[:3]] == [
        row for row, _ in before.rows[len(found.hits) - 1 :: -1]
    ][:3]


async def test_nothing_readable_gives_an_empty_result_that_says_so(bench: Workbench) -> None:
    found = await bench.retriever.search("annual leave", PassageFilter(access=NOTHING))
    assert (found.hits, found.evidence) == ((), ())
    assert found.sufficiency.reasons == ("nothing was found",)


@pytest.mark.parametrize("question", ["", "?!…", "的 了 吗", " \n"])
async def test_a_question_without_words_is_no_error(bench: Workbench, question: str) -> None:
    found = await bench.retriever.search(question, WHERE)
    assert not found.sufficiency.is_enough or found.hits


async def test_an_empty_index_is_no_error(database: Database, tmp_path: Path) -> None:
    async with open_workbench(database, tmp_path) as bench:
        found = await bench.retriever.search("annual leave 年假", WHERE)
    assert (found.hits, found.sufficiency.is_enough) == ((), False)


async def test_off_topic_questions_are_not_enough_with_words_alone(words: Workbench) -> None:
    for question in ("Which penguins winter in Patagonia?", "企鹅在南极怎么过冬"):
        assert not (await words.retriever.search(question, WHERE)).sufficiency.is_enough
    for question in ("How many days of annual leave?", "年假有多少天"):
        assert (await words.retriever.search(question, WHERE)).sufficiency.is_enough


async def test_cosines_of_an_embedder_nobody_fitted_are_not_judged_by(
    database: Database, tmp_path: Path
) -> None:
    async with open_filled(database, tmp_path, embedder=TinyEmbedder()) as bench:
        found = await bench.retriever.search("年假有多少天", WHERE)
    assert "vector" in found.hits[0].scores
    assert "cosine" not in found.sufficiency.features


async def test_cosines_of_the_fitted_embedder_are_judged_by(
    database: Database, tmp_path: Path
) -> None:
    fitted = TinyEmbedder(name="multilingual-e5-small")
    async with open_filled(database, tmp_path, embedder=fitted) as bench:
        found = await bench.retriever.search("年假有多少天", WHERE)
    best = max(hit.scores["vector"] for hit in found.hits if "vector" in hit.scores)
    assert found.sufficiency.features["cosine"] >= best


async def test_filters_hold_for_named_pages_too(words: Workbench) -> None:
    where = PassageFilter(
        access=OPERATOR, statuses=frozenset({Status.ARCHIVED}), sources=frozenset({"memory"})
    )
    assert not (await words.retriever.search("Thumb League", where)).hits
    narrow = PassageFilter(access=OPERATOR, documents=frozenset({MemorySource({}).id_of("show")}))
    found = await words.retriever.search("Who founded the network of Thumb League?", narrow)
    assert {hit.title for hit in found.hits} == {"Thumb League"}
