"""How near candidates are to the question, exactly. Pure.

A search reports the cosines of what it found; here every candidate gets its own, and its section's.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.stores import Vector

_TINY = 1e-12

Matrix = NDArray[np.float32]


def measure_exactly(
    hits: Sequence[Hit],
    question: Vector,
    vectors: Mapping[PassageId, Vector],
    sections: Mapping[SectionId, Vector],
) -> dict[PassageId, float]:
    """Return each passage's cosine plus its section's; hits without a vector are left out.

    Args:
        hits: Candidates.
        question: The question's vector.
        vectors: Of the candidates.
        sections: Of the candidates' sections; a section that is one passage has none and counts
            as near as its passage.
    """
    known = [hit for hit in hits if hit.passage_id in vectors]
    if not known:
        return {}
    passages = _measure(question, [vectors[hit.passage_id] for hit in known])
    ids = sorted({hit.section_id for hit in known} & sections.keys())
    near = dict(zip(ids, _measure(question, [sections[one] for one in ids]), strict=True))
    return {
        hit.passage_id: cosine + near.get(hit.section_id, cosine)
        for hit, cosine in zip(known, passages, strict=True)
    }


def _measure(question: Vector, vectors: Sequence[Vector]) -> list[float]:
    if not vectors:
        return []
    cosines: list[float] = (_scale(np.stack(vectors)) @ _scale(question[None, :])[0]).tolist()
    return cosines


def _scale(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Matrix = vectors / np.maximum(lengths, np.float32(_TINY))
    return scaled
