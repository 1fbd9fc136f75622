"""What every embedder promises. Subclass it, and give the fixture `embedder`."""

import asyncio

import numpy as np
import pytest

from knowledge.embedding import Embedder

TEXTS = (
    "The disk of the build server is full; remove old images first.",
    "报销需要在三十天内提交，发票抬头必须是公司全称。",
    "short",
    "A much longer passage. " * 40,
    "报销需要在三十天内提交，发票抬头必须是公司全称。",
)


class EmbedderContract:
    """Held by every implementation, words-only included."""

    async def test_passages_come_back_one_row_each(self, embedder: Embedder) -> None:
        vectors = await embedder.embed_passages(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimension)
        assert vectors.dtype == np.float32

    async def test_rows_keep_the_order_of_the_texts(self, embedder: Embedder) -> None:
        together = await embedder.embed_passages(TEXTS)
        for row, text in enumerate(TEXTS):
            alone = await embedder.embed_passages([text])
            np.testing.assert_allclose(together[row], alone[0], atol=2e-3)

    async def test_no_texts_give_no_rows(self, embedder: Embedder) -> None:
        assert (await embedder.embed_passages([])).shape == (0, embedder.dimension)

    async def test_vectors_have_length_one(self, embedder: Embedder) -> None:
        if not embedder.dimension:
            pytest.skip("words only: there are no vectors")
        passages = await embedder.embed_passages(TEXTS)
        query = await embedder.embed_query("怎么报销?")
        np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-5)
        assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-5)

    async def test_a_question_is_one_vector(self, embedder: Embedder) -> None:
        vector = await embedder.embed_query("怎么报销?")
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32

    async def test_equal_texts_have_equal_vectors(self, embedder: Embedder) -> None:
        vectors = await embedder.embed_passages(TEXTS)
        np.testing.assert_allclose(vectors[1], vectors[4], atol=1e-6)

    async def test_calls_at_the_same_time_do_not_mix(self, embedder: Embedder) -> None:
        alone = [await embedder.embed_query(text) for text in TEXTS]
        together = await asyncio.gather(*(embedder.embed_query(text) for text in TEXTS))
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_allclose(one, other, atol=2e-3)

    async def test_longer_text_counts_more_tokens(self, embedder: Embedder) -> None:
        assert embedder.count_tokens("") == 0
        assert embedder.count_tokens("报销") > 0
        assert embedder.count_tokens("报销流程说明") < embedder.count_tokens("报销流程说明" * 20)

    async def test_text_beyond_the_limit_is_accepted(self, embedder: Embedder) -> None:
        long_text = "word " * (embedder.max_tokens + 200)
        vectors = await embedder.embed_passages([long_text])
        assert np.isfinite(vectors).all()

    async def test_blank_text_has_a_vector(self, embedder: Embedder) -> None:
        vectors = await embedder.embed_passages(["", "  \n"])
        assert vectors.shape == (2, embedder.dimension)
        assert np.isfinite(vectors).all()

    async def test_name_identifies_the_model(self, embedder: Embedder) -> None:
        assert embedder.name
        assert embedder.name == embedder.name.strip()

    async def test_closing_twice_is_safe(self, embedder: Embedder) -> None:
        await embedder.close()
        await embedder.close()
