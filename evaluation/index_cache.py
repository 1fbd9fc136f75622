"""Indexes of corpora, kept between runs under the home folder."""

import asyncio
import hashlib
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from evaluation.datasets import Dataset
from evaluation.progress import RenamedProgress
from evaluation.runner import Index
from evaluation.source import DatasetSource
from knowledge.progress import Progress
from knowledge.source import Source

FOLDER = "evaluation"
COMPLETE_FILE = "complete.json"
INDEX_VERSION = 1
"""Raise it when the same corpus and settings give another index than before."""
KEY_LENGTH = 16

_UNSAFE = re.compile(r"[^\w.-]+")


class IndexFactory(Protocol):
    """The product's own ingestion and retrieval, in a home folder of their own."""

    @property
    def shape(self) -> str:
        """Everything besides the corpus that an index depends on; equal shapes, equal indexes."""
        ...

    async def build(self, source: Source, home: Path, progress: Progress) -> None:
        """Bring in the whole source; started again after an interruption it goes on.

        Raises:
            ZhixingError: Something of the corpus could not be indexed.
        """
        ...

    def open(self, home: Path) -> AbstractAsyncContextManager[Index]:
        """Return the index that was built there."""
        ...


class IndexCache:
    """Builds an index once for each corpus and shape.

    With `rebuilds` each is built anew once in the life of this object, whatever was kept: needed
    when the code that makes an index has changed.
    """

    def __init__(self, home: Path, factory: IndexFactory, *, rebuilds: bool = False) -> None:
        self._folder = home / FOLDER
        self._factory = factory
        self._rebuilds = rebuilds
        self._built: set[Path] = set()

    @asynccontextmanager
    async def open(self, dataset: Dataset, progress: Progress) -> AsyncIterator[Index]:
        """Yield the index of the set's corpus, building it when there is none."""
        home = self.locate(dataset)
        if self._rebuilds and home not in self._built and home.exists():
            await asyncio.to_thread(shutil.rmtree, home)
        if not (home / COMPLETE_FILE).exists():
            home.mkdir(parents=True, exist_ok=True)
            named = RenamedProgress(progress, f"indexing {home.name}")
            await self._factory.build(DatasetSource(dataset), home, named)
            self._mark_complete(home, dataset)
        self._built.add(home)
        async with self._factory.open(home) as index:
            yield index

    def locate(self, dataset: Dataset) -> Path:
        """Return the folder of the corpus' index, there or not."""
        text = "\x1f".join((dataset.content_hash, self._factory.shape, str(INDEX_VERSION)))
        key = hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]
        return self._folder / f"{_UNSAFE.sub('_', dataset.name)}-{key}"

    def _mark_complete(self, home: Path, dataset: Dataset) -> None:
        facts = {
            "dataset": dataset.name,
            "corpus": dataset.content_hash,
            "shape": self._factory.shape,
            "version": INDEX_VERSION,
        }
        (home / COMPLETE_FILE).write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")
