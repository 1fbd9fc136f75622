"""How near candidates are to the question, exactly. Pure.

A search reports the cosines of what it found; here every candidate gets its own, and its section's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit, PassageId
from knowledge.retrieval.languages import Scores
from knowledge.stores import Vector

COSINE = "vector"
"""Name of the score that holds a hit's cosine."""
_TINY = 1e-12

Matrix = NDArray[np.float32]


def measure_cosines(hits: Sequence[Hit], question: Vector) -> list[Hit]:
    """Return the hits with their cosines noted; hits without a vector stay as they are."""
    vectors = [hit.vector for hit in hits if hit.vector is not None]
    cosines = iter(_measure(question, vectors))
    return [
        hit if hit.vector is None else replace(hit, scores={**hit.scores, COSINE: next(cosines)})
        for hit in hits
    ]


def read_cosines(hits: Sequence[Hit]) -> Scores:
    """Return the cosines noted; a hit without one counts as the farthest of the others."""
    known = [hit.scores[COSINE] for hit in hits if COSINE in hit.scores]
    floor = min(known, default=0.0)
    return np.array([hit.scores.get(COSINE, floor) for hit in hits], float)


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
    own = read_cosines(hits)
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
