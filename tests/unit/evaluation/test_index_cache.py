"""An index is built once for each corpus and shape."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from core.errors import ServiceUnavailableError
from evaluation.datasets import Dataset
from evaluation.index_cache import IndexCache
from knowledge.progress import NoProgress, Progress
from knowledge.source import Cursor, Source, Upserted
from tests.fakes.overlap_index import OverlapIndex
from tests.unit.evaluation.sets import ENGINES, GARDEN

ITEMS_FILE = "items.txt"


@dataclass
class FileFactory:
    """Writes the ids of a source into a file; fails when told to."""

    shape: str = "embedder a"
    is_failing: bool = False
    built: list[Path] = field(default_factory=list)

    async def build(self, source: Source, home: Path, progress: Progress) -> None:
        del progress
        changes = [change async for change in source.discover(Cursor(""), {})]
        ids = [change.document_id for change in changes if isinstance(change, Upserted)]
        (home / ITEMS_FILE).write_text("\n".join(ids), encoding="utf-8")
        self.built.append(home)
        if self.is_failing:
            raise ServiceUnavailableError("the embedder does not answer")

    @asynccontextmanager
    async def open(self, home: Path) -> AsyncIterator[OverlapIndex]:
        assert (home / ITEMS_FILE).read_text(encoding="utf-8").startswith("eval:")
        yield OverlapIndex(ENGINES)


async def use(cache: IndexCache, dataset: Dataset) -> None:
    async with cache.open(dataset, NoProgress()):
        pass


async def test_an_index_is_built_once_and_then_opened(tmp_path: Path) -> None:
    factory = FileFactory()
    await use(IndexCache(tmp_path, factory), ENGINES)
    await use(IndexCache(tmp_path, factory), ENGINES)
    await use(IndexCache(tmp_path, factory), replace(ENGINES, queries=()))
    assert len(factory.built) == 1


async def test_another_corpus_or_shape_gets_an_index_of_its_own(tmp_path: Path) -> None:
    factory = FileFactory()
    await use(IndexCache(tmp_path, factory), ENGINES)
    await use(IndexCache(tmp_path, factory), GARDEN)
    factory.shape = "embedder b"
    await use(IndexCache(tmp_path, factory), ENGINES)
    assert len(set(factory.built)) == 3


async def test_an_index_whose_building_failed_is_built_again(tmp_path: Path) -> None:
    factory = FileFactory(is_failing=True)
    cache = IndexCache(tmp_path, factory)
    with pytest.raises(ServiceUnavailableError):
        await use(cache, ENGINES)
    factory.is_failing = False
    await use(cache, ENGINES)
    assert factory.built == [cache.locate(ENGINES)] * 2


async def test_a_kept_index_can_be_built_anew_once_a_run(tmp_path: Path) -> None:
    factory = FileFactory()
    await use(IndexCache(tmp_path, factory), ENGINES)
    cache = IndexCache(tmp_path, factory, rebuilds=True)
    leftover = cache.locate(ENGINES) / "leftover"
    leftover.touch()
    await use(cache, ENGINES)
    await use(cache, ENGINES)
    assert len(factory.built) == 2
    assert not leftover.exists()


def test_the_name_of_a_set_cannot_leave_the_folder(tmp_path: Path) -> None:
    place = IndexCache(tmp_path, FileFactory()).locate(replace(ENGINES, name="../../x y"))
    assert place.parent == tmp_path / "evaluation"
