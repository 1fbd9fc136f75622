"""Arithmetic on vectors that every embedder needs."""

import numpy as np

from knowledge.embedding import Vectors

_TINY = 1e-12


def normalise_rows(vectors: Vectors) -> Vectors:
    """Scale each row to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = vectors / np.maximum(lengths, np.float32(_TINY))
    return scaled
