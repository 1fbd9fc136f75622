"""An embedder without a model that keeps the protocol: texts that share words are near."""

import asyncio
import hashlib
from collections.abc import Sequence

import numpy as np

from knowledge.analysis import Analyser
from knowledge.embedding import Vectors
from knowledge.embedding.token_estimate import estimate_tokens

_ANALYSER = Analyser()


class TinyEmbedder:
    """Adds up one random direction a term, drawn from a seed and the term alone.

    Attributes:
        embedded: Every passage that was embedded, in order.
    """

    def __init__(self, *, seed: int = 7, dimension: int = 32, name: str = "tiny-r1") -> None:
        self._seed = seed
        self._dimension = dimension
        self._name = name
        self.embedded: list[str] = []

    @property
    def name(self) -> str:
        return f"{self._name}-{self._seed}"

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return 256

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        await asyncio.sleep(0)
        self.embedded += texts
        rows = [self._embed(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._dimension), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        await asyncio.sleep(0)
        return self._embed(text)

    async def close(self) -> None:
        return None

    def _embed(self, text: str) -> Vectors:
        terms = _ANALYSER.index_terms(text) or ["(blank)"]
        total = np.sum([self._draw(term) for term in terms], axis=0)
        vector: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
        return vector

    def _draw(self, term: str) -> Vectors:
        digest = hashlib.blake2b(f"{self._seed}/{term}".encode(), digest_size=8).digest()
        generator = np.random.default_rng(int.from_bytes(digest, "big"))
        return generator.standard_normal(self._dimension).astype(np.float32)
