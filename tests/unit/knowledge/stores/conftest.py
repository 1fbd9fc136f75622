from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from knowledge.stores import IndexShape
from knowledge.stores.lancedb import LanceDBStore, open_lancedb_store
from tests.contracts.passages import SHAPE, OpenStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the stores of a test live; not there yet."""
    return tmp_path / "home" / "passages"


@pytest.fixture
async def open_store(folder: Path) -> AsyncIterator[OpenStore]:
    opened: list[LanceDBStore] = []

    async def open_one(shape: IndexShape) -> LanceDBStore:
        opened.append(await open_lancedb_store(folder, shape))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(folder: Path) -> AsyncIterator[LanceDBStore]:
    opened = await open_lancedb_store(folder, SHAPE)
    yield opened
    await opened.close()
