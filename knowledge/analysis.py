"""Text to terms, for Chinese and English alike, at index and at question time.

Chinese runs are cut by rjieba in search mode (long words come with the words inside them), other
words are stemmed lightly. What people call a code (K8-023, 10.0.3.7, snake_case, CamelCase,
/etc/hosts) is one whole term and also its parts. Nothing here knows a store.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import rjieba

from knowledge.stemming import stem
from knowledge.stop_words import QUESTION_WORDS, STOP_WORDS

ANALYSIS_VERSION = 1
PART_WEIGHT = 0.5
"""Of a part of a code in a question: the whole says more."""
SYNONYM_WEIGHT = 0.6
"""Of a term that is not in the question itself but equal to one that is."""
MAX_TERM_LENGTH = 80
_WORDS_REMEMBERED = 200_000
_DICTIONARY_FREQUENCY = 1_000_000

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_SYLLABLES = r"\u3040-\u30ff\uac00-\ud7af"
# Letters and digits of the scripts that put blanks between words; a class is far quicker than a
# test of each character.
_LETTER = r"0-9A-Za-z\u00aa-\u00b5\u00ba-\u00d6\u00d8-\u00f6\u00f8-\u02af\u0370-\u167f\u1681-\u1fff"
_TOKEN = re.compile(
    rf"[{_HAN}]+|[{_SYLLABLES}]+|\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!\d)"
    rf"|[/~.]?_*[{_LETTER}]+(?:(?:://|::|->|[-_./:@\\'’&+])_*[{_LETTER}]+)*(?:\+\+|#)?"
)
# A run with a letter beyond ASCII is one part: case says nothing about its words.
_PART = re.compile(r"[^\W\d_]*[^\W\d_A-Za-z][^\W\d_]*|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CONNECTOR = re.compile(r"://|::|->|[-_./:@\\'’&+#~]")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
# Letters with digits, three or more numbers joined, names with an underscore, a path or a scope.
_CODE_SHAPE = re.compile(
    r"(?=.*\d)(?=.*[A-Za-z]).+|\d+(?:[.\-:/]\d+){2,}|.*_.*|[/~.]?(?:[\w.\-]+/){2,}[\w.\-]+|/.+|.*::.*"
)
_SPACED_CODE = re.compile(r"\b([A-Z]{2,6}(?:/[A-Z])?) ?(\d{3,6}(?:[.\-]\d{1,4})*)\b")
_SHORTEST_CODE = 3
_MISREAD_LENGTH = 2
_PARTICLES = STOP_WORDS | QUESTION_WORDS
_FIRST_EAST_ASIAN, _FIRST_HAN = "\u3040", "\u3400"
_FIRST_HANGUL, _LAST_HANGUL = "\uac00", "\ud7af"


class Analyser:
    """Turns text into terms. Immutable; share it between threads."""

    def __init__(
        self,
        *,
        synonyms: Sequence[Sequence[str]] = (),
        dictionary: Iterable[str] = (),
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """Prepare an analyser.

        Args:
            synonyms: Groups of equal terms, each of one or several words.
            dictionary: Chinese words that must stay whole.
            weights: How much more (or less) than 1 a term counts in a question.
        """
        self._groups = tuple(tuple(fold(term) for term in group) for group in synonyms)
        own_words = {fold(word) for word in dictionary}
        own_words.update(term for group in self._groups for term in group if _is_han(term))
        self._own_words = frozenset(own_words)
        self._segmenter = rjieba.Jieba()
        for word in sorted(own_words):
            self._segmenter.add_word(word, _DICTIONARY_FREQUENCY, None)
        self._weights = {
            term: weight
            for phrase, weight in (weights or {}).items()
            for term in self.index_terms(phrase)
        }

    @property
    def fingerprint(self) -> str:
        """Changes when the terms of a text may change; an index is made for one value."""
        words = "\0".join(sorted(self._own_words))
        return f"{ANALYSIS_VERSION}-{hashlib.sha256(words.encode()).hexdigest()[:12]}"

    def index_terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, repetitions kept. No term holds a blank."""
        cut = self._segmenter.cut_for_search
        found: list[str] = []
        for token in _TOKEN.findall(_normalise(text)):
            if token[0] < _FIRST_EAST_ASIAN:
                found.extend(_index_word(token))
            elif _is_han_letter(token[0]):
                found.extend(word for word in cut(token) if word not in STOP_WORDS)
            else:
                found.extend(_pairs(token))
        return found

    def query_terms(self, text: str) -> dict[str, float]:
        """Return a question's terms with weights above 0, in order of first occurrence.

        Words that only word the question are left out, unless nothing else is left.
        """
        found: dict[str, float] = {}
        for token in _TOKEN.findall(_normalise(text)):
            for term, weight in self._weighted_terms(token):
                if term not in STOP_WORDS:
                    found[term] = max(weight, found.get(term, 0.0))
        asked = {term: weight for term, weight in found.items() if term not in QUESTION_WORDS}
        terms = asked or found
        for term, weight in self._expand(text).items():
            terms.setdefault(term, weight)
        return {term: weight * self._weights.get(term, 1.0) for term, weight in terms.items()}

    def words(self, text: str) -> list[str]:
        """Return the words that carry meaning, in order: no words inside words, no parts."""
        found: list[str] = []
        for token in _TOKEN.findall(_normalise(text)):
            if _is_han_letter(token[0]):
                cut = self._segmenter.cut(token)
                found.extend(part for word in cut for part in self._part_misread(word))
            elif token[0] < _FIRST_EAST_ASIAN:
                found.append(_word_terms(token)[0])
            else:
                found.append(token)
        return [word for word in found if word not in STOP_WORDS and word not in QUESTION_WORDS]

    def codes(self, text: str) -> list[str]:
        """Return exact codes, folded, each once, in order: error and part numbers, paths, names."""
        normal = _normalise(text)
        found = [code for token in _TOKEN.findall(normal) if (code := _fold_code(token))]
        found.extend(
            f"{letters}{digits}".casefold() for letters, digits in _SPACED_CODE.findall(normal)
        )
        return list(dict.fromkeys(found))

    def _weighted_terms(self, token: str) -> list[tuple[str, float]]:
        if token[0] < _FIRST_EAST_ASIAN:
            whole, *parts = _word_terms(token)
            return [(whole, 1.0), *((part, PART_WEIGHT) for part in parts)]
        if _is_han_letter(token[0]):
            cut = self._segmenter.cut_for_search(token)
            return [(part, 1.0) for word in cut for part in self._part_misread(word)]
        return [(pair, 1.0) for pair in _pairs(token)]

    def _part_misread(self, word: str) -> Sequence[str]:
        """Return what is left of a word that the segmenter made of a particle (后要, 签了, 谁续).

        Hardly a text holds it, so that a question would seem to ask for something rare.
        """
        if len(word) != _MISREAD_LENGTH or self._segmenter.has_word(word):
            return (word,)
        left = [letter for letter in word if letter not in _PARTICLES]
        return (word,) if len(left) == len(word) else left

    def _expand(self, text: str) -> dict[str, float]:
        """Return terms of the synonyms of what the question says."""
        folded = f" {fold(text)} "
        expanded: dict[str, float] = {}
        for group in self._groups:
            said = [term for term in group if is_said(term, folded)]
            if not said:
                continue
            for other in group:
                if other in said:
                    continue
                terms = self.index_terms(other)
                # A synonym of several words counts as much as one of one word, and many together
                # hardly more than one: else a glossary's row would outweigh any answer.
                weight = SYNONYM_WEIGHT / (max(1, len(terms)) * (len(group) - len(said))) ** 0.5
                for term in terms:
                    expanded[term] = max(weight, expanded.get(term, 0.0))
        return expanded


def fold(text: str) -> str:
    """Return text in one width and case, blanks collapsed, for comparing words."""
    return " ".join(_normalise(text).casefold().split())


def _normalise(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _is_han(term: str) -> bool:
    return all(_is_han_letter(letter) for letter in term)


def _is_han_letter(letter: str) -> bool:
    return letter >= _FIRST_HAN and not _FIRST_HANGUL <= letter <= _LAST_HANGUL


def is_said(term: str, text: str) -> bool:
    """Tell whether a folded text says a folded term.

    A Chinese term may stand anywhere, another one only as whole words.
    """
    if term.isascii():
        return re.search(rf"(?<![^\W_]){re.escape(term)}(?![^\W_])", text) is not None
    return term in text


def _pairs(run: str) -> list[str]:
    """Cut a run of syllables into overlapping pairs; there is no dictionary for them."""
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=_WORDS_REMEMBERED)
def _word_terms(token: str) -> tuple[str, ...]:
    """Return the whole word first, then its parts where it is made of several."""
    token = _POSSESSIVE.sub("", token).lstrip("~.").strip("_")[:MAX_TERM_LENGTH]
    folded = token.casefold().replace(",", "")
    if "," in token:
        return (folded,)
    pieces = [piece for chunk in _CONNECTOR.split(token) for piece in _PART.findall(chunk)]
    if len(pieces) <= 1:
        return (stem(folded),)
    # A single letter or digit of a code says nothing.
    parts = (stem(piece.casefold()) for piece in pieces if len(piece) > 1)
    return (folded, *dict.fromkeys(part for part in parts if part != folded))


@lru_cache(maxsize=_WORDS_REMEMBERED)
def _index_word(token: str) -> tuple[str, ...]:
    return tuple(term for term in _word_terms(token) if term not in STOP_WORDS)


@lru_cache(maxsize=_WORDS_REMEMBERED)
def _fold_code(token: str) -> str:
    """Return the folded code, or nothing where the token is an ordinary word."""
    if token.isalpha() or "://" in token or not _CODE_SHAPE.fullmatch(token):
        return ""
    code = token.lstrip("~.").casefold()
    return code if _SHORTEST_CODE <= len(code) <= MAX_TERM_LENGTH else ""
