"""Fair play between languages. Pure.

Words hardly ever match across languages, and vectors lie nearer to texts of their own language. So
candidates in the other language are compared in meaning with each other, and lose nothing by words
they cannot have.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.documents import Hit
from knowledge.languages import Language

FEWEST_FOREIGN = 5
"""Below this their spread says nothing, and they are compared with all candidates."""
# Smaller spreads are noise of the arithmetic: the candidates are equal.
_NO_SPREAD = 1e-6

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


def find_foreign(hits: Sequence[Hit], asked_in: Language | None) -> Flags:
    """Tell which hits are in the other one of our two languages than the question.

    None = languages are not told apart; nothing is foreign.
    """
    if asked_in is None:
        return np.zeros(len(hits), bool)
    return np.array([hit.language is not asked_in for hit in hits], bool)


def standardise(values: Scores, group: Scores) -> Scores:
    """Bring values to the mean 0 and standard deviation 1 of a group; a flat group gives zeros."""
    if not len(group) or group.std() <= _NO_SPREAD:
        return np.zeros_like(values)
    standardised: Scores = (values - group.mean()) / group.std()
    return standardised


def add_across_languages(words: Scores, meaning: Scores, foreign: Flags) -> Scores:
    """Add words and meaning, each standardised over the candidates of one language.

    A scale on which all candidates are equal adds nothing.
    """
    if not foreign.any() or foreign.all():
        return standardise(words, words) + standardise(meaning, meaning)
    own = ~foreign
    by_words = standardise(words, words[own])
    by_words[foreign] = np.maximum(by_words[foreign], 0.0)
    by_meaning = standardise(meaning, meaning[own])
    group = meaning[foreign] if foreign.sum() >= FEWEST_FOREIGN else meaning
    by_meaning[foreign] = standardise(meaning[foreign], group)
    total: Scores = by_words + by_meaning
    return total
