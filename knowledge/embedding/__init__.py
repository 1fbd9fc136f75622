"""Embedders: text to vectors. One protocol, held to one contract suite."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into L2-normalised vectors.

    `dimension` 0 means words only: both embed methods then return arrays with no columns and
    callers skip vector search.
    """

    @property
    def name(self) -> str:
        """Model and revision; vectors of equal names are interchangeable."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 = words only."""
        ...

    @property
    def max_tokens(self) -> int:
        """Text beyond this many tokens is not read."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count tokens as this embedder reads them, without its prefixes."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return an array (len(texts), dimension), rows in the order of the texts.

        Raises:
            TransientError: A remote endpoint did not answer.
        """
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Return one vector (dimension,) for a question."""
        ...

    async def close(self) -> None:
        """Release threads and connections. Safe to call twice."""
        ...
