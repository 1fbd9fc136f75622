"""Pages that disagree: the same subject, the same kind of value, another value.

Built to keep still in doubt: a false alarm sends people to ask an owner for nothing.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.rag.language import is_chinese
from bot.rag.quote_scoring import AskedQuestion, ScoredQuote
from bot.rag.quotes import QuoteKind
from bot.rag.values import Value, ValueKind, extract_values
from knowledge.analysis import Analyser, fold
from knowledge.documents import DocumentId, Hit, Status
from knowledge.retrieval import Evidence
from knowledge.sentences import split_sentences

FormerTexts = Callable[[DocumentId], Awaitable[Sequence[str]]]
"""The texts of a document's former versions, in any order."""

# A quote speaks of the subject when it holds this share of the question itself...
LEAST_SHARE = 0.45
# ...and two quotes speak of the same one when they differ in no more than this share of it.
MOST_DIFFERENCE = 0.3
# Quotes far behind the best one are about something else.
MOST_BEHIND = 2.5
# Two statements of one fact share this part of their other words.
LEAST_COMMON_WORDS = 0.2
# ...a larger one where the question's words can't help.
LEAST_COMMON_ACROSS = 0.5

_MEASURED = frozenset(
    {ValueKind.MONEY, ValueKind.PERCENT, ValueKind.DURATION, ValueKind.QUANTITY, ValueKind.TIME}
)
_CLAUSE = re.compile(r"[，,；;。]|(?<=[a-z0-9)])[.](?=\s)|\b(?:and|but|while|whereas|or)\b")
# What tells one case from another: P3, tier 1, 一级, A 类, v2, 第三季度, names, months.
_CASE = re.compile(
    r"\b[A-Za-z]{1,3}[- ]?\d+(?:[.-]\d+)*\b"
    r"|\b(?:tier|level|grade|class|phase|stage|type)[- ]?\w+"
    r"|[一二三四五六七八九十\d]+ ?[级类档期线层区]|[A-Za-z] ?[级类档型]"
    r"|第 ?[一二三四五六七八九十\d]+"
    r"|(?:Q|H)[1-4]\b|[上下][半]?年|[春夏秋冬]季|[淡旺平]季",
)
_NAME = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][A-Za-z]{2,}|\b[A-Z]{2,}\b")
_EXCEPTION = re.compile(
    r"除外|除非|例外|特殊情况|特批|试用期|新员工"
    r"|\b(?:except|unless|exception|other than|only for)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One page's word on the matter."""

    source: int
    hit: Hit
    quote: ScoredQuote
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Pages that give different values, the newest first.

    Attributes:
        is_stale_copy: All but the newest repeat what the newest page said formerly.
    """

    sides: tuple[Side, ...]
    is_stale_copy: bool

    @property
    def newest(self) -> Side:
        """The side that holds when the others are stale copies."""
        return self.sides[0]


async def find_disagreement(
    asked: AskedQuestion,
    evidence: Sequence[Evidence],
    ranked: Sequence[ScoredQuote],
    analyser: Analyser,
    *,
    is_cross_lingual: bool = False,
    former_texts: FormerTexts | None = None,
) -> Disagreement | None:
    """Find pages in force that answer the question with different values.

    Args:
        ranked: Quotes that may be used, best first.
        is_cross_lingual: The pages are in another language than the question: they are compared
            with one another alone.
        former_texts: Without it no page is recognised as a stale copy.
    """
    finder = _Finder(asked, evidence, analyser, is_cross_lingual=is_cross_lingual)
    sides = finder.find_sides(ranked)
    if len(sides) < 2:  # noqa: PLR2004 - it takes two to disagree
        return None
    # By when each wrote its value: an edit elsewhere on the page makes it no newer.
    sides.sort(key=lambda side: side.hit.valid_from, reverse=True)
    is_stale = former_texts is not None and await _are_stale(sides, finder, former_texts)
    return Disagreement(sides=tuple(sides), is_stale_copy=is_stale)


async def _are_stale(sides: Sequence[Side], finder: "_Finder", former_texts: FormerTexts) -> bool:
    newest, *older = sides
    if any(side.hit.valid_from == newest.hit.valid_from for side in older):
        return False
    former = [text for text in await former_texts(newest.hit.document_id) if text]
    return all(any(finder.says(text, side) for text in former) for side in older)


class _Finder:
    def __init__(
        self,
        asked: AskedQuestion,
        evidence: Sequence[Evidence],
        analyser: Analyser,
        *,
        is_cross_lingual: bool,
    ) -> None:
        self._least_share = 0.0 if is_cross_lingual else LEAST_SHARE
        self._least_common = LEAST_COMMON_ACROSS if is_cross_lingual else LEAST_COMMON_WORDS
        self._asked = asked
        self._evidence = evidence
        self._analyser = analyser
        self._total = sum(asked.weights.values()) or 1.0
        self._said = extract_values(asked.text)

    def find_sides(self, ranked: Sequence[ScoredQuote]) -> list[Side]:
        """Return one side a document where they differ; empty when they agree or are unclear."""
        if self._asked.analysis.wants_all or self._asked.analysis.is_comparison:
            return []
        first = next((s for s in ranked[:1] if self._is_current(s.source)), None)
        leader = self._build_side(first) if first else None
        if leader is None:
            return []
        sides = [leader]
        seen = {leader.hit.document_id}
        for scored in ranked[1:]:
            if scored.score < ranked[0].score - MOST_BEHIND:
                break
            document = self._evidence[scored.source].hit.document_id
            if document in seen or not self._is_current(scored.source):
                continue
            seen.add(document)
            side = self._build_side(scored, kind=leader.value.kind)
            if side is None or not self._is_same_subject(leader, side):
                continue
            sides.append(side)
        differing = [side for side in sides if not side.value.equals(leader.value)]
        return [leader, *differing]

    def says(self, text: str, side: Side) -> bool:
        """Tell whether an older text gave the side's value for the same subject."""
        needed = side.quote.covered
        for sentence in split_sentences(text):
            terms = set(self._analyser.index_terms(sentence))
            if self._share(needed - terms) > MOST_DIFFERENCE:
                continue
            if any(value.equals(side.value) for value in extract_values(sentence)):
                return True
        return False

    def _is_current(self, source: int) -> bool:
        hit = self._evidence[source].hit
        return hit.valid_to is None and hit.status is Status.CURRENT

    def _build_side(self, scored: ScoredQuote, kind: ValueKind | None = None) -> Side | None:
        # A table row says its subject in the header and the heading above it.
        is_row = scored.quote.kind is QuoteKind.ROW
        spoken = scored.covered | scored.context if is_row else scored.covered
        if self._share(spoken) < self._least_share or _EXCEPTION.search(scored.quote.text):
            return None
        value = self._find_value(scored, kind)
        if value is None:
            return None
        hit = self._evidence[scored.source].hit
        return Side(source=scored.source, hit=hit, quote=scored, value=value)

    def _find_value(self, scored: ScoredQuote, kind: ValueKind | None) -> Value | None:
        """Return the only value of the kind in the part of the quote that speaks of the subject."""
        kinds = frozenset({kind}) if kind else self._asked.analysis.value_kinds or _MEASURED
        values = [
            value
            for value in extract_values(self._find_clause(scored))
            if value.kind in kinds
            and not (value.date and not value.date.month)
            and not any(value.equals(said) for said in self._said)
        ]
        measured = [value for value in values if value.kind in _MEASURED] or values
        return measured[0] if len(measured) == 1 else None

    def _find_clause(self, scored: ScoredQuote) -> str:
        """Return the clause that holds most of the question; the whole quote if no value does."""
        if scored.quote.kind is QuoteKind.ROW:
            return self._find_cell(scored)
        text = scored.quote.text
        clauses = [clause for clause in _CLAUSE.split(text) if clause and clause.strip()]
        if len(clauses) < 2:  # noqa: PLR2004
            return text
        shares = [self._share_of(clause) for clause in clauses]
        found = clauses[max(range(len(clauses)), key=lambda index: shares[index])]
        return found if extract_values(found) else text

    def _find_cell(self, scored: ScoredQuote) -> str:
        """Return the row's cell whose header the question names; the whole row otherwise."""
        cells = list(zip(scored.quote.header, scored.quote.cells, strict=False))
        named = [(self._share_of(header), cell) for header, cell in cells if extract_values(cell)]
        if not named:
            return scored.quote.text
        best = max(share for share, _ in named)
        fitting = [cell for share, cell in named if share == best]
        return fitting[0] if best > 0 and len(fitting) == 1 else scored.quote.text

    def _is_same_subject(self, one: Side, other: Side) -> bool:
        pages = (self._evidence[side.source].section_text for side in (one, other))
        if len({is_chinese(page) for page in pages}) > 1:
            return False
        if not _is_comparable(one.value, other.value):
            return False
        if not self._covers_alike(one.quote, other.quote):
            return False
        return self._has_same_case(one, other) and self._has_common_words(one, other)

    def _covers_alike(self, one: ScoredQuote, other: ScoredQuote) -> bool:
        """Tell whether both pages speak of what the question names, its rarest word above all."""
        apart = (one.covered | one.context) ^ (other.covered | other.context)
        if self._share(apart) > MOST_DIFFERENCE:
            return False
        weights = self._asked.weights
        return not apart or max(weights[term] for term in apart) < max(weights.values())

    def _has_same_case(self, one: Side, other: Side) -> bool:
        """Tell whether nothing says that the two are about different cases."""
        if self._find_own_cases(one) != self._find_own_cases(other):
            return False
        mine, theirs = self._find_own_names(one), self._find_own_names(other)
        return not (mine and theirs) or bool(mine & theirs)

    def _find_own_cases(self, side: Side) -> frozenset[str]:
        quote = side.quote.quote
        text = " ".join((*quote.cells[:1], quote.text if not quote.cells else "", quote.subheading))
        without_value = text.replace(side.value.text, " ")
        years = {
            str(value.date.year)
            for value in extract_values(without_value)
            if value.date and value.date.year
        }
        return (_find_all(_CASE, without_value) | years) - _find_all(_CASE, self._asked.text)

    def _find_own_names(self, side: Side) -> frozenset[str]:
        return _find_all(_NAME, side.quote.quote.text) - _find_all(_NAME, self._asked.text)

    def _has_common_words(self, one: Side, other: Side) -> bool:
        mine = set(self._analyser.words(one.quote.quote.text))
        theirs = set(self._analyser.words(other.quote.quote.text))
        smaller = min(len(mine), len(theirs)) or 1
        return len(mine & theirs) / smaller >= self._least_common

    def _share(self, terms: frozenset[str]) -> float:
        return sum(self._asked.weights[term] for term in terms) / self._total

    def _share_of(self, text: str) -> float:
        terms = frozenset(self._analyser.index_terms(text)) & self._asked.weights.keys()
        return self._share(frozenset(terms))


def _is_comparable(one: Value, other: Value) -> bool:
    """Tell whether two values of a kind could stand for each other; working days and hours may."""
    if one.kind is not other.kind:
        return False
    is_same_unit = one.unit == other.unit
    return is_same_unit or one.kind in {ValueKind.DURATION, ValueKind.DATE, ValueKind.TIME}


def _find_all(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(fold(found).replace(" ", "") for found in pattern.findall(text))
