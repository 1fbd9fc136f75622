import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from knowledge.embedding import Vectors
from knowledge.embedding.cache import CachedEmbedder, VectorCache, cache_key
from knowledge.embedding.none import NoEmbedder
from knowledge.embedding.vectors import normalise_rows
from tests.contracts.embedder import EmbedderContract


class CountingEmbedder(NoEmbedder):
    """Makes vectors from characters and remembers what it was asked."""

    def __init__(self, *, model: str = "counting", dimension: int = 6) -> None:
        self.asked: list[str] = []
        self._model = model
        self._length = dimension

    @property
    def name(self) -> str:
        return self._model

    @property
    def dimension(self) -> int:
        return self._length

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        rows = [[len(t) + 1, *(t.count(c) for c in "abcde")][: self._length] for t in texts]
        return normalise_rows(np.array(rows, np.float32).reshape(-1, self._length))

    async def embed_query(self, text: str) -> Vectors:
        vectors = await self.embed_passages([text])
        return vectors.reshape(self._length)


class TestCached(EmbedderContract):
    @pytest.fixture
    async def embedder(self, tmp_path: Path) -> AsyncIterator[CachedEmbedder]:
        cached = CachedEmbedder(CountingEmbedder(), VectorCache(tmp_path / "v.sqlite"))
        yield cached
        await cached.close()


class TestCachedWordsOnly(EmbedderContract):
    @pytest.fixture
    async def embedder(self, tmp_path: Path) -> AsyncIterator[CachedEmbedder]:
        cached = CachedEmbedder(NoEmbedder(), VectorCache(tmp_path / "v.sqlite"))
        yield cached
        await cached.close()


async def test_known_texts_are_not_embedded_again_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "v.sqlite"
    first = CachedEmbedder(CountingEmbedder(), VectorCache(path))
    before = await first.embed_passages(["abc", "bad", "abc"])
    await first.close()
    inner = CountingEmbedder()
    second = CachedEmbedder(inner, VectorCache(path))
    after = await second.embed_passages(["bad", "new", "abc"])
    assert inner.asked == ["new"]
    np.testing.assert_array_equal(after[[2, 0]], before[:2])
    await second.close()


async def test_the_same_text_twice_in_a_call_is_embedded_once(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, VectorCache(tmp_path / "v.sqlite"))
    await cached.embed_passages(["abc", "abc"])
    assert inner.asked == ["abc"]
    await cached.close()


async def test_questions_passages_and_models_do_not_share_vectors(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, VectorCache(path))
    await cached.embed_passages(["abc"])
    await cached.embed_query("abc")
    await cached.embed_query("abc")
    assert inner.asked == ["abc", "abc"]
    other = CountingEmbedder(model="other")
    cached_other = CachedEmbedder(other, VectorCache(path))
    await cached_other.embed_passages(["abc"])
    assert other.asked == ["abc"]
    await cached.close()
    await cached_other.close()


async def test_a_vector_of_another_length_is_not_used(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    cache.save({cache_key("counting", "passage", "abc"): np.ones(3, np.float32)})
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, cache)
    assert (await cached.embed_passages(["abc"])).shape == (1, 6)
    assert inner.asked == ["abc"]
    await cached.close()


async def test_forgotten_texts_leave_nothing_behind(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, VectorCache(tmp_path / "v.sqlite"))
    await cached.embed_passages(["abc", "bad"])
    await cached.forget_passages(["abc"])
    await cached.embed_passages(["abc", "bad"])
    assert inner.asked == ["abc", "bad", "abc"]
    await cached.close()


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    cache = VectorCache(path)
    cache.save({cache_key("m", "passage", "secret-salary-figure"): np.ones(4, np.float32)})
    cache.close()
    for file in tmp_path.iterdir():
        assert b"secret-salary-figure" not in file.read_bytes()


def test_oldest_vectors_leave_when_the_file_is_full(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite", max_bytes=200_000)
    keys = [cache_key("m", "passage", str(i)) for i in range(400)]
    for start in range(0, 400, 20):
        cache.save({k: np.ones(384, np.float32) for k in keys[start : start + 20]})
    found = cache.load(keys)
    assert 20 < len(found) < 140
    assert keys[-1] in found
    assert keys[0] not in found
    cache.close()


def test_many_keys_are_looked_up_at_once(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite")
    keys = [cache_key("m", "passage", str(i)) for i in range(1201)]
    cache.save({key: np.full(2, i, np.float32) for i, key in enumerate(keys)})
    found = cache.load(keys)
    assert [int(found[key][0]) for key in keys] == list(range(1201))
    cache.close()


async def test_two_processes_may_write_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    caches = [VectorCache(path) for _ in range(2)]
    keys = [cache_key("m", "passage", str(i)) for i in range(200)]

    def fill(cache: VectorCache) -> None:
        for key in keys:
            cache.save({key: np.ones(4, np.float32)})

    await asyncio.gather(*(asyncio.to_thread(fill, cache) for cache in caches))
    assert len(caches[0].load(keys)) == 200
    for cache in caches:
        cache.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (200,)
    connection.close()


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"this is no database at all" * 100)
    cache = VectorCache(path)
    key = cache_key("m", "passage", "a")
    cache.save({key: np.ones(2, np.float32)})
    assert key in cache.load([key])
    assert (tmp_path / "v.sqlite.damaged").exists()
    cache.close()


def test_a_failing_file_counts_as_a_miss(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    cache = VectorCache(path)
    key = cache_key("m", "passage", "a")
    other = sqlite3.connect(path)
    other.execute("DROP TABLE vectors")
    other.commit()
    other.close()
    cache.save({key: np.ones(2, np.float32)})
    assert cache.load([key]) == {}
    cache.close()
