"""How near candidates are to the question, exactly and on evened-out vectors. Pure.

Vectors of one index crowd into a narrow cone: they share what all its pages share, and cosines
differ by little. Whitening takes the shared part out and evens the directions, so that what is
particular to a passage counts. It needs the candidates' vectors only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.stores import Vector

SAMPLE_VECTORS = 4000
"""Enough to estimate the statistics from; more changes nothing."""
FEWEST_VECTORS = 200
"""Below this the statistics are noise and plain cosines are better."""
SHRINKAGE = 3.0
"""Added to every direction's variance, in units of the mean variance."""
_TINY = 1e-12

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whitening:
    """A linear map that evens out an index's vectors: (vector - mean) @ matrix."""

    mean: Matrix
    matrix: Matrix

    def apply(self, vectors: Matrix) -> Matrix:
        """Return the mapped vectors, scaled to length 1; rows stay rows."""
        return _scale(((vectors - self.mean) @ self.matrix).astype(np.float32))


def fit_whitening(vectors: Matrix) -> Whitening | None:
    """Fit to a sample of an index's passage vectors (rows); None when there are too few."""
    if len(vectors) < FEWEST_VECTORS:
        return None
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    covariance = centred.T @ centred / len(vectors)
    variances, directions = np.linalg.eigh(covariance.astype(np.float64))
    shrunk = np.maximum(variances, 0.0) + SHRINKAGE * max(float(variances.mean()), _TINY)
    matrix = (directions / np.sqrt(shrunk)).astype(np.float32)
    return Whitening(mean=mean.astype(np.float32), matrix=matrix)


def measure_exactly(
    hits: Sequence[Hit],
    question: Vector,
    vectors: Mapping[PassageId, Vector],
    sections: Mapping[SectionId, Vector],
    whitening: Whitening | None,
) -> dict[PassageId, float]:
    """Return each passage's cosine plus its section's; hits without a vector are left out.

    Args:
        hits: Candidates.
        question: The question's vector.
        vectors: Of the candidates.
        sections: Of the candidates' sections; a section that is one passage has none and counts
            as near as its passage.
        whitening: None = plain cosines.
    """
    known = [hit for hit in hits if hit.passage_id in vectors]
    if not known:
        return {}
    passages = _measure(question, [vectors[hit.passage_id] for hit in known], whitening)
    ids = sorted({hit.section_id for hit in known} & sections.keys())
    near = dict(
        zip(ids, _measure(question, [sections[one] for one in ids], whitening), strict=True)
    )
    return {
        hit.passage_id: cosine + near.get(hit.section_id, cosine)
        for hit, cosine in zip(known, passages, strict=True)
    }


def _measure(
    question: Vector, vectors: Sequence[Vector], whitening: Whitening | None
) -> list[float]:
    if not vectors:
        return []
    rows, asked = np.stack(vectors), question[None, :]
    if whitening is not None:
        rows, asked = whitening.apply(rows), whitening.apply(asked)
    cosines: list[float] = (_scale(rows) @ _scale(asked)[0]).tolist()
    return cosines


def _scale(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = vectors / np.maximum(lengths, np.float32(_TINY))
    return scaled
