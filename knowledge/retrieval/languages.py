"""Fair play between languages. Pure.

Words hardly ever match across languages, and vectors lie nearer to texts of their own language. So
candidates in the other language are compared in meaning with each other, and lose nothing by words
they cannot have.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.retrieval.fusion import Scores, standardise

FEWEST_FOREIGN = 5
"""Below this their spread says nothing, and they are compared with all candidates."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")

Flags = NDArray[np.bool_]


def is_chinese(text: str) -> bool:
    """Tell whether a text is mostly Chinese; a Han character counts as half a word."""
    return len(_HAN.findall(text)) > 2 * len(_LATIN_WORD.findall(text))


def find_foreign(texts: Sequence[str], question: str) -> Flags:
    """Tell which texts are in the other one of our two languages than the question."""
    asked_in_chinese = is_chinese(question)
    return np.array([is_chinese(text) != asked_in_chinese for text in texts], bool)


def add_across_languages(words: Scores, meaning: Scores, foreign: Flags) -> Scores:
    """Add words and meaning, each standardised over the candidates of one language."""
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
