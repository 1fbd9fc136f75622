"""Generated pages as a source, and vectors that cost nothing."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.errors import ResourceGoneError
from evaluation.bench_source import SCOPE, SeededEmbedder, SyntheticSource, build_page_id
from knowledge.access import EVERYBODY
from knowledge.embedding import Vectors
from knowledge.source import Checkpoint, Cursor, KnownDocument, ScopeListed, Unchanged, Upserted


class ConstantEmbedder:
    """Reads every text as the same vector, and counts how many questions it read."""

    name = "constant"
    dimension = 16
    max_tokens = 100

    def __init__(self) -> None:
        self.queries = 0
        self.is_closed = False

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(f"{texts!r} must not be read")

    async def embed_query(self, text: str) -> Vectors:
        self.queries += len(text) > 0
        vector: Vectors = np.zeros(self.dimension, np.float32)
        vector[0] = 1
        return vector

    async def close(self) -> None:
        self.is_closed = True


def build_known(number: int) -> KnownDocument:
    return KnownDocument(
        document_id=build_page_id(number),
        scope=SCOPE,
        locator=str(number),
        token="1",
        content_hash="",
    )


async def test_pages_not_known_yet_are_yielded_and_written_in_full() -> None:
    source = SyntheticSource(seed=3, count=3)
    known = {build_page_id(0): build_known(0)}
    changes = [change async for change in source.discover(Cursor(""), known)]
    assert [type(change) for change in changes] == [
        Unchanged,
        Upserted,
        Upserted,
        ScopeListed,
        Checkpoint,
    ]
    fetched = changes[1]
    assert isinstance(fetched, Upserted)
    document = await source.fetch(fetched)
    assert document == await source.fetch(fetched)
    assert document.content.parts[0].markdown.startswith("# ")
    assert document.access == EVERYBODY
    await source.close()


async def test_pages_beyond_the_count_do_not_exist() -> None:
    source = SyntheticSource(seed=3, count=3)
    assert (await source.head(build_known(2))).document_id == build_page_id(2)
    assert await source.fetch_access(build_known(2)) == EVERYBODY
    with pytest.raises(ResourceGoneError, match="bench:3"):
        await source.head(build_known(3))
    assert source.name == "bench"


async def test_vectors_depend_on_text_and_seed_alone() -> None:
    one, other = (SeededEmbedder(ConstantEmbedder(), seed=1) for _ in range(2))
    first = await one.embed_passages(["a", "b", "a"])
    assert first.shape == (3, 16)
    assert first.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(first[:2], await other.embed_passages(["a", "b"]))
    different = await SeededEmbedder(ConstantEmbedder(), seed=2).embed_passages(["a"])
    assert not np.allclose(first[0], different[0])
    assert (await one.embed_passages([])).shape == (0, 16)
    assert one.name != SeededEmbedder(ConstantEmbedder(), seed=2).name


async def test_questions_are_read_for_real() -> None:
    inner = ConstantEmbedder()
    embedder = SeededEmbedder(inner, seed=1)
    vector = await embedder.embed_query("where?")
    assert (inner.queries, vector.shape) == (1, (16,))
    assert np.linalg.norm(vector) == pytest.approx(1, rel=1e-5)
    assert (embedder.count_tokens("abc"), embedder.max_tokens) == (3, 100)
    await embedder.close()
    assert inner.is_closed
