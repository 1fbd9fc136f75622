"""No embedder: search by words only."""

from collections.abc import Sequence

import numpy as np

from knowledge.embedding import Vectors
from knowledge.embedding.token_estimate import estimate_tokens


class NoEmbedder:
    """Makes vectors without columns, so every caller works and vector search finds nothing."""

    @property
    def name(self) -> str:
        """Fixed."""
        return "none"

    @property
    def dimension(self) -> int:
        """0: words only."""
        return 0

    @property
    def max_tokens(self) -> int:
        """A size that keeps passages like those of a small model."""
        return 512

    def count_tokens(self, text: str) -> int:
        """Estimate tokens by a rule for Chinese characters and words."""
        return estimate_tokens(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 0)."""
        return np.empty((len(texts), 0), np.float32)

    async def embed_query(self, text: str) -> Vectors:  # noqa: ARG002 - nothing is read
        """Return (0,)."""
        return np.empty(0, np.float32)

    async def close(self) -> None:
        """Nothing to release."""
