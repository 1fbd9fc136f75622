"""How well a quote answers a question, from its words, its values and where it stands.

The weights were fitted on one half of several question sets and tried on the other
(docs/answering.md); the score is a log-odds, comparable within one question only.
"""

import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.rag.answer_signs import shows_sign
from bot.rag.question_type import QuestionAnalysis
from bot.rag.quotes import QuotableSection, Quote, QuoteKind
from bot.rag.values import Value, ValueKind, extract_values
from knowledge.analysis import Analyser
from knowledge.retrieval import Evidence

# What a table's header or caption may say of the bare numbers in its cells.
_SAID_BY_HEADER = frozenset({ValueKind.MONEY, ValueKind.PERCENT, ValueKind.DURATION})
_HAN = re.compile(r"[\u3400-\u9fff]")
_NOT_WORD = re.compile(r"\W")
_ANAPHOR = re.compile(
    r"(?:它|他|她|该|此|这|其|另外|此外|同时|但|不过|而|It |This |These |They |He |She |That "
    r"|However|But |In addition|Additionally)"
)
# Characters a word makes up on average, to measure length alike in both scripts.
_HAN_PER_WORD, _LATIN_PER_WORD = 1.6, 5.0
_USUAL_WORDS = 20.0
_LONG_WORDS = 30.0
_MOST_LENGTH = 3.0
# Characters within which a question's word stands close to a value.
_NEAR_CHARS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What speaks for a quote; shares are of the question's weight, 0 to 1.

    Attributes:
        own: Covered by the quote itself.
        leaf: Covered by the nearest heading, the lead or the table header only.
        pairs: Neighbouring question terms that are neighbours here too.
        letters: Pairs of Chinese characters shared with the question; `own` without any.
        density: `own` less for long quotes.
        value: Holds a value of the type that is asked for.
        value_near: How near that value stands to a word of the question.
        sign: Worded like an answer of the type that is asked for.
        rank: 1 for the best evidence, 1/2 for the second, ...
        relative: The evidence's score against the best one.
        early: 1 for the first quote of the section, 1/2 for the second, ...
        length: In words, against a long sentence.
        is_item: A list item.
    """

    own: float
    leaf: float
    pairs: float
    letters: float
    density: float
    value: float
    value_near: float
    sign: float
    rank: float
    relative: float
    early: float
    length: float
    is_item: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredQuote:
    """A quote with its place among the evidence and what it covers of the question.

    Attributes:
        source: Index of its evidence.
        covered: The question's terms in the quote itself.
        context: The question's terms in its headings, lead and table header.
        values: Values of the type that is asked for and that the question does not hold already.
    """

    quote: Quote
    source: int
    covered: frozenset[str]
    context: frozenset[str]
    values: tuple[Value, ...]
    features: Features
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question as quotes are scored against it.

    Attributes:
        weights: The weight of each term, rare terms more.
    """

    text: str
    analysis: QuestionAnalysis
    weights: Mapping[str, float]


class QuoteScorer:
    """Scores all quotes of the evidence of one question."""

    def __init__(self, asked: AskedQuestion, analyser: Analyser) -> None:
        self._asked = asked
        self._analyser = analyser
        self._total = sum(asked.weights.values()) or 1.0
        ordered = [t for t in analyser.index_terms(asked.text) if t in asked.weights]
        self._pairs = frozenset(pairwise(ordered))
        self._letters = _letter_pairs(asked.text)
        self._values = extract_values(asked.text)
        self._kinds = asked.analysis.value_kinds

    def score(
        self, evidence: Sequence[Evidence], sections: Sequence[QuotableSection]
    ) -> list[ScoredQuote]:
        """Score every quote, in reading order of the evidence; sections are parsed evidence."""
        best = max((one.hit.score for one in evidence), default=0.0)
        scored: list[ScoredQuote] = []
        for source, (one, section) in enumerate(zip(evidence, sections, strict=True)):
            relative = one.hit.score / best if best > 0 else 0.0
            scored += self._score_section(source, one, section.quotes, relative)
        return scored

    def _score_section(
        self, source: int, evidence: Evidence, quotes: Sequence[Quote], relative: float
    ) -> list[ScoredQuote]:
        terms = [self._analyser.index_terms(quote.text) for quote in quotes]
        *upper, nearest = (evidence.hit.title, *evidence.hit.heading_path)
        headings = self._find_terms(" ".join(upper))
        scored = []
        for index, quote in enumerate(quotes):
            own = self._select(terms[index])
            if quote.kind is QuoteKind.ROW:
                # A cell says what its header says of it.
                own |= self._find_terms(" ".join(quote.header))
            introduced = " ".join((nearest, quote.subheading, quote.lead, *quote.header))
            leaf = self._find_terms(introduced) - own
            values = self._find_values(quote)
            size = _count_words(quote.text)
            features = Features(
                own=self._share(own),
                leaf=self._share(leaf),
                pairs=self._share_pairs(terms[index]),
                letters=self._share_letters(quote.text, own),
                density=self._share(own) / math.sqrt(1 + size / _USUAL_WORDS),
                value=float(bool(values)),
                value_near=_measure_nearness(quote.text, own, values),
                sign=float(shows_sign(quote.text, self._asked.analysis.types)),
                rank=1 / (1 + source),
                relative=relative,
                early=1 / (1 + quote.position),
                length=min(_MOST_LENGTH, size / _LONG_WORDS),
                is_item=float(quote.kind is QuoteKind.ITEM),
            )
            scored.append(
                ScoredQuote(
                    quote=quote,
                    source=source,
                    covered=own,
                    context=headings | leaf,
                    values=values,
                    features=features,
                    score=weigh(features),
                )
            )
        return scored

    def _find_terms(self, text: str) -> frozenset[str]:
        return self._select(self._analyser.index_terms(text))

    def _select(self, terms: Sequence[str]) -> frozenset[str]:
        return frozenset(term for term in terms if term in self._asked.weights)

    def _share(self, terms: frozenset[str]) -> float:
        return sum(self._asked.weights[term] for term in terms) / self._total

    def _share_pairs(self, terms: Sequence[str]) -> float:
        if not self._pairs:
            return 0.0
        found = sum((a, b) in self._pairs for a, b in pairwise(terms))
        return min(1.0, found / len(self._pairs))

    def _share_letters(self, text: str, own: frozenset[str]) -> float:
        if not self._letters:
            return self._share(own)
        return len(self._letters & _letter_pairs(text)) / len(self._letters)

    def _find_values(self, quote: Quote) -> tuple[Value, ...]:
        if not self._kinds:
            return ()
        return tuple(
            value
            for value in extract_values(quote.text)
            if (value.kind in self._kinds or self._is_bare_cell(value, quote))
            and not any(value.equals(said) for said in self._values)
        )

    def _is_bare_cell(self, value: Value, quote: Quote) -> bool:
        """Tell whether a number is a whole cell: what it measures then stands above it."""
        return (
            value.kind is ValueKind.NUMBER
            and bool(self._kinds & _SAID_BY_HEADER)
            and any(cell.strip("*_` ") == value.text for cell in quote.cells[1:])
        )


_WEIGHTS: Mapping[str, float] = {
    "own": 1.76,
    "leaf": 0.95,
    "pairs": 0.60,
    "letters": 1.26,
    "density": 1.06,
    "value": 0.68,
    "value_near": 0.69,
    "sign": 0.42,
    "rank": 1.60,
    "relative": 0.40,
    "early": 0.63,
    "length": 0.23,
    "is_item": -0.30,
}


_read_features = operator.attrgetter(*_WEIGHTS)


def weigh(features: Features) -> float:
    """Sum up the features under their weights."""
    return math.fsum(map(operator.mul, _read_features(features), _WEIGHTS.values()))


def begins_anaphoric(text: str) -> bool:
    """Tell whether a sentence leans on the one before it (It, This, 该, 此外)."""
    return _ANAPHOR.match(text) is not None


def _letter_pairs(text: str) -> frozenset[str]:
    folded = _NOT_WORD.sub("", text.lower())
    return frozenset(
        folded[i : i + 2]
        for i in range(len(folded) - 1)
        if _HAN.match(folded[i]) or _HAN.match(folded[i + 1])
    )


def _count_words(text: str) -> float:
    han = len(_HAN.findall(text))
    return han / _HAN_PER_WORD + (len(text) - han) / _LATIN_PER_WORD


def _measure_nearness(text: str, own: frozenset[str], values: Sequence[Value]) -> float:
    """Return 1 for a value right at a word of the question, falling with the distance."""
    if not values:
        return 0.0
    folded = text.lower()
    places = [place for term in own if (place := folded.find(term)) >= 0]
    if not places:
        return 0.0
    return max(
        1 / (1 + min(abs(value.start - place) for place in places) / _NEAR_CHARS)
        for value in values
    )
