"""How near candidates are to the question, exactly. Pure.

A search reports the cosines of what it found; here every candidate gets its own, and its section's.
"""

from collections.abc import Mapping, MutableMapping, Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit, PassageId
from knowledge.retrieval.languages import Scores
from knowledge.stores import Vector

COSINE = "vector"
"""Name of the score that holds a hit's cosine."""
_TINY = 1e-12

Matrix = NDArray[np.float32]


def note_cosines(
    hits: Sequence[Hit], scores: Sequence[MutableMapping[str, float]], question: Vector
) -> None:
    """Note each hit's cosine among its scores; a hit without a vector gets none."""
    vectors = [hit.vector for hit in hits if hit.vector is not None]
    cosines = iter(_measure(question, vectors))
    for hit, noted in zip(hits, scores, strict=True):
        if hit.vector is not None:
            noted[COSINE] = next(cosines)


def read_cosines(scores: Sequence[Mapping[str, float]]) -> Scores:
    """Return the cosines noted; a hit without one counts as the farthest of the others."""
    known = [one[COSINE] for one in scores if COSINE in one]
    floor = min(known, default=0.0)
    return np.array([one.get(COSINE, floor) for one in scores], float)


def add_sections(
    hits: Sequence[Hit], question: Vector, sections: Mapping[PassageId, Hit]
) -> Scores:
    """Return each passage's cosine plus its section's.

    A small passage is matched exactly, its section gives it context.

    Args:
        hits: Candidates with their cosines noted.
        question: The question's vector.
        sections: Section rows by the passage they belong to; a section that is one passage has
            none and counts as near as its passage.
    """
    rows = {row.passage_id: row.vector for row in sections.values() if row.vector is not None}
    near = dict(zip(rows, _measure(question, list(rows.values())), strict=True))
    own = read_cosines([hit.scores for hit in hits])
    context = [
        near.get(sections[hit.passage_id].passage_id, cosine)
        if hit.passage_id in sections
        else cosine
        for hit, cosine in zip(hits, own, strict=True)
    ]
    total: Scores = own + np.array(context, float)
    return total


def _measure(question: Vector, vectors: Sequence[Vector]) -> list[float]:
    if not vectors:
        return []
    cosines: list[float] = (_scale(np.stack(vectors)) @ _scale(question[None, :])[0]).tolist()
    return cosines


def _scale(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = vectors / np.maximum(lengths, np.float32(_TINY))
    return scaled
