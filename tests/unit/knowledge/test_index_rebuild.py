from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from core.database import Database
from knowledge.access import OPERATOR, AccessRule
from knowledge.documents import Hit, Status
from knowledge.index_rebuild import rebuild_index
from knowledge.ingest_batch import EVERY_ROW
from knowledge.ledger_records import TermDelta
from knowledge.progress import NoProgress, ProgressReport
from knowledge.stores import Level, PassageFilter
from tests.contracts.passages import list_vectors
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.fakes.tiny_embedder import TinyEmbedder
from tests.unit.knowledge.ingesting import Workbench, open_workbench

FINANCE = AccessRule.of(["group:company/finance"])
DAY = timedelta(days=1)
LONG = "# Long plan\n\n" + "\n\n".join(
    f"Item {n} of the plan is K8-02{n}. 计划的第{n}项。" for n in range(8)
)


@dataclass
class ShownProgress:
    """Keeps what it was shown."""

    reports: list[ProgressReport] = field(default_factory=list)

    def update(self, report: ProgressReport) -> None:
        self.reports.append(report)


def build_source() -> MemorySource:
    return MemorySource(
        {
            "budget": MemoryPage(text="the budget is nine", rule=FINANCE, labels=("money",)),
            "former": MemoryPage(text="a former client", status=Status.ARCHIVED),
            "long": MemoryPage(text=LONG, title="Long plan", breadcrumbs=("Company", "Strategy")),
            "p": MemoryPage(text="the limit is fifty"),
            "title": MemoryPage(text="", title="只有标题 only a title"),
        }
    )


@pytest.fixture
async def old(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    """An index of words with a page that has a past."""
    async with open_workbench(database, tmp_path) as opened:
        source = build_source()
        await opened.sync(source)
        source.edit("p", "the limit is eighty")
        source.edit("long", LONG.replace("Item 7", "Point 7"))
        await opened.sync(source)
        yield opened


@pytest.fixture
def tiny() -> TinyEmbedder:
    return TinyEmbedder()


@asynccontextmanager
async def open_new(
    database: Database, folder: Path, embedder: TinyEmbedder
) -> AsyncIterator[Workbench]:
    async with open_workbench(database, folder, embedder=embedder) as opened:
        yield opened


async def load_all(bench: Workbench) -> dict[str, Hit]:
    """Return every row of the store by id, sections too, without their analysed terms."""
    hits = [
        hit
        for level in Level
        for hit in await bench.parts.store.list_hits(replace(EVERY_ROW, level=level), limit=1000)
    ]
    return {str(hit.passage_id): replace(hit, terms="") for hit in hits}


async def test_ids_texts_lives_and_classes_stay(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    before = await load_all(old)
    assert any(hit.valid_to for hit in before.values())
    assert len({hit.access_no for hit in before.values()}) == 2
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        assert await load_all(new) == before
        assert await load_all(old) == before


async def test_every_row_has_a_vector_of_the_new_embedder(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        rows = await load_all(new)
        vectors = list_vectors(list(rows.values()))
        assert len(vectors) == len(rows)
        assert all(vector.shape == (tiny.dimension,) for vector in vectors.values())
        found = await new.retriever.search("the limit", PassageFilter(access=OPERATOR))
        assert found.hits[0].text == "the limit is eighty"
        assert "vector" in found.hits[0].scores


async def test_what_was_in_force_then_is_found_in_the_new_index(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        assert "fifty" in (await new.texts("limit", as_of=START + DAY / 2))[0]
        assert "eighty" in (await new.texts("limit"))[0]
        assert "a former client" not in await new.texts("former client")
        assert "a former client" in await new.texts("former client", statuses=frozenset(Status))


async def test_a_rebuilt_index_is_the_one_a_sync_would_have_made(
    database: Database, tmp_path: Path
) -> None:
    """Words, vectors and statistics: what was indexed is analysed and embedded again as it was."""
    async with open_workbench(database, tmp_path / "old", embedder=TinyEmbedder()) as old:
        await old.sync(build_source())
        async with open_workbench(database, tmp_path / "new", embedder=TinyEmbedder()) as new:
            delta = await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
            statistics = await old.term_index.load(delta.document_frequency)
            assert delta.rows == statistics.rows
            assert delta.length == pytest.approx(statistics.rows * statistics.average_length)
            assert delta.document_frequency == statistics.document_frequency
            before = list_vectors(list((await load_all(old)).values()))
            after = list_vectors(list((await load_all(new)).values()))
            assert before.keys() == after.keys()
            for key, vector in before.items():
                np.testing.assert_allclose(after[key], vector, atol=1e-6)


async def test_codes_are_found_in_the_new_index(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    where = PassageFilter(access=OPERATOR)
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        found = await new.parts.store.find_codes(["k8-023"], where, limit=5)
        assert [hit.passage_id for hit in found] == [
            hit.passage_id for hit in await old.parts.store.find_codes(["k8-023"], where, limit=5)
        ]
        assert found


async def test_rows_the_ledger_does_not_know_are_not_copied(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    source = build_source()
    await old.parts.writer.delete_documents([source.id_of("budget")], terms=TermDelta())
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        assert not [hit for hit in (await load_all(new)).values() if "nine" in hit.text]


async def test_rows_of_an_earlier_rebuild_that_have_gone_since_go_here_too(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    """Whoever goes back to an embedder used before must not get back what was deleted."""
    source = build_source()
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        gone = [source.id_of("budget"), source.id_of("p")]
        await old.parts.writer.delete_documents(gone, terms=TermDelta())
        await old.parts.store.delete_documents(gone)
        await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        assert await load_all(new) == await load_all(old)


async def test_rebuilding_twice_changes_nothing(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    async with open_new(database, tmp_path, tiny) as new:
        first = await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        rows = await load_all(new)
        second = await rebuild_index(new.parts, old.parts.store, ["memory"], NoProgress())
        assert (await load_all(new), second) == (rows, first)


async def test_progress_counts_documents(
    old: Workbench, database: Database, tmp_path: Path, tiny: TinyEmbedder
) -> None:
    shown = ShownProgress()
    async with open_new(database, tmp_path, tiny) as new:
        await rebuild_index(new.parts, old.parts.store, ["memory", "unknown"], shown)
    assert [(one.done, one.total) for one in shown.reports] == [(5, 5)]


async def test_nothing_to_rebuild_is_no_error(database: Database, tmp_path: Path) -> None:
    async with open_workbench(database, tmp_path) as bench:
        delta = await rebuild_index(bench.parts, bench.parts.store, [], NoProgress())
    assert delta == TermDelta()
