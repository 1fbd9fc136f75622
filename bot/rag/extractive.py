"""Answers without a language model: the best pieces of the evidence, quoted whole and cited."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.rag.injection import asks_about_injection, find_injected
from bot.rag.question_type import AnswerType
from bot.rag.quote_rendering import render_block, render_prose, render_rows
from bot.rag.quote_scoring import (
    AskedQuestion,
    QuoteScorer,
    ScoredQuote,
    begins_anaphoric,
    parse_evidence,
)
from bot.rag.quotes import Quote, QuoteKind
from knowledge.analysis import Analyser
from knowledge.markdown.blocks import Block, BlockKind
from knowledge.retrieval import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractLimits:
    """How much is quoted; the defaults are tuned on question sets (docs/answering.md).

    Attributes:
        score_gap: A further quote may score this much less than the best one.
        compare_gap: The same where subjects are compared or several things asked for.
        value_gap: A quote with a value of the asked type comes first within this of the best one.
        new_share: Share of the question a further quote must cover anew.
        most_quotes: Pieces at most.
        block_chars: A list or table after its introduction is quoted whole up to this length.
        paragraph_chars: A short paragraph is quoted whole where the answer is no single value.
    """

    score_gap: float = 1.0
    compare_gap: float = 2.0
    value_gap: float = 1.5
    new_share: float = 0.2
    most_quotes: int = 3
    block_chars: int = 1500
    paragraph_chars: int = 280
    heading_share: float = 0.75
    section_chars: int = 700


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedPart:
    """A piece of the answer from one source.

    Attributes:
        source: Index of its evidence.
        position: Place of its first quote in the section.
        quotes: What is quoted; of one paragraph, one table, or a whole block.
        block: The block that is quoted whole; None when only the quotes are.
    """

    source: int
    position: int
    quotes: tuple[Quote, ...]
    block: Block | None = None

    def render(self, marker: str) -> str:
        """Return the part as Markdown that ends in the marker."""
        if self.block is not None:
            return render_block(self.block.text, marker)
        match self.quotes[0].kind:
            case QuoteKind.ROW:
                return render_rows(self.quotes, marker)
            case QuoteKind.SENTENCE:
                return render_prose([quote.text for quote in self.quotes], marker)
            case _:
                return render_block("\n".join(quote.text for quote in self.quotes), marker)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The chosen parts, those of the best source first, each source in reading order.

    Attributes:
        best: The quote that answers best.
    """

    parts: tuple[ExtractedPart, ...]
    best: ScoredQuote


class Extractor:
    """Chooses what to quote for one question."""

    def __init__(
        self,
        asked: AskedQuestion,
        evidence: Sequence[Evidence],
        analyser: Analyser,
        *,
        limits: ExtractLimits | None = None,
    ) -> None:
        self._asked = asked
        self._evidence = evidence
        self._analyser = analyser
        self._limits = limits or ExtractLimits()
        self.sections = parse_evidence(evidence)
        scorer = QuoteScorer(asked, analyser)
        self._scored = scorer.score(evidence, self.sections)
        self._is_about_injection = asks_about_injection(asked.text)
        self._injected: dict[tuple[int, int], frozenset[int]] = {}

    @property
    def ranked(self) -> list[ScoredQuote]:
        """All quotes, best first, ties in reading order."""
        return sorted(self._scored, key=lambda s: (-s.score, s.source, s.quote.position))

    def extract(self) -> Extract | None:
        """Choose the parts of the answer; None when nothing can be quoted."""
        chosen = self._choose(self._prefer_typed(self.ranked))
        if not chosen:
            return None
        best = chosen[0]
        if self._heads_section(best):
            parts = self._take_section(best)
        else:
            parts = [part for scored in chosen for part in self._expand(scored)]
        return Extract(parts=tuple(self._arrange(parts, best)), best=best)

    def _choose(self, ranked: Sequence[ScoredQuote]) -> list[ScoredQuote]:
        """Take the best quote, then those that add something and are nearly as good."""
        limits, analysis = self._limits, self._asked.analysis
        is_wide = analysis.is_comparison or analysis.wants_all or len(analysis.types) > 1
        gap = limits.compare_gap if is_wide else limits.score_gap
        chosen: list[ScoredQuote] = []
        covered: set[str] = set()
        for scored in ranked:
            if chosen and scored.score < chosen[0].score - gap:
                break
            if not self._is_usable(scored.source, scored.quote):
                continue
            fresh = self._share((scored.covered | scored.context) - covered)
            is_close = chosen and scored.score >= chosen[0].score - limits.score_gap
            if not chosen or is_close or fresh >= limits.new_share:
                chosen.append(scored)
                covered |= scored.covered | scored.context
            if len(chosen) == limits.most_quotes:
                break
        return chosen

    def _heads_section(self, best: ScoredQuote) -> bool:
        """Tell whether the section's heading is the question: then the section is the answer."""
        limits = self._limits
        if self._asked.analysis.value_kinds or self._asked.analysis.is_comparison:
            return False
        hit = self._evidence[best.source].hit
        heading = self._analyser.index_terms((hit.heading_path or (hit.title,))[-1])
        shared = set(heading) & self._asked.weights.keys()
        return (
            self._share(shared) >= limits.heading_share
            and len(shared) >= limits.heading_share * len(set(heading)) * 0.8
        )

    def _take_section(self, best: ScoredQuote) -> list[ExtractedPart]:
        """Quote a section from its start, whole blocks, up to a length."""
        parts: list[ExtractedPart] = []
        length = 0
        for index, block in enumerate(self.sections[best.source].blocks):
            length += len(block.text)
            if parts and length > self._limits.section_chars:
                break
            if block.kind is not BlockKind.HEADING:
                parts += self._take_block(best, index)
        return parts

    def _prefer_typed(self, ranked: list[ScoredQuote]) -> list[ScoredQuote]:
        """Put the best quote with a value of the asked type first, when it is not far behind."""
        if not self._asked.analysis.value_kinds:
            return ranked
        typed = next((scored for scored in ranked if scored.values), None)
        if typed is None or typed.score < ranked[0].score - self._limits.value_gap:
            return ranked
        return [typed, *(scored for scored in ranked if scored is not typed)]

    def _share(self, terms: Iterable[str]) -> float:
        total = sum(self._asked.weights.values()) or 1.0
        return sum(self._asked.weights[term] for term in terms) / total

    def _expand(self, scored: ScoredQuote) -> list[ExtractedPart]:
        """Add what a quote can't be read without: a procedure, what it introduces, its subject."""
        section = self.sections[scored.source]
        block = section.blocks[scored.quote.block]
        if block.kind is BlockKind.STEPS and self._asked.analysis.asks_for(AnswerType.HOW_TO):
            return self._take_block(scored, scored.quote.block)
        if scored.quote.is_introduction:
            return self._take_introduced(scored)
        if scored.quote.kind is QuoteKind.SENTENCE:
            return [self._take_sentence(scored)]
        return [self._build_part(scored, [scored.quote])]

    def _take_sentence(self, scored: ScoredQuote) -> ExtractedPart:
        paragraph = [
            quote
            for quote in self._list_block(scored.source, scored.quote.block)
            if self._is_usable(scored.source, quote)
        ]
        length = sum(len(quote.text) for quote in paragraph)
        if not self._asked.analysis.value_kinds and length <= self._limits.paragraph_chars:
            return self._build_part(scored, paragraph)
        index = paragraph.index(scored.quote)
        start = index - 1 if index and begins_anaphoric(scored.quote.text) else index
        return self._build_part(scored, paragraph[start : index + 1])

    def _take_introduced(self, scored: ScoredQuote) -> list[ExtractedPart]:
        """Quote an introduction with the list, table or code that follows it."""
        parts = [self._build_part(scored, [scored.quote])]
        following = scored.quote.block + 1
        blocks = self.sections[scored.source].blocks
        if following < len(blocks) and blocks[following].kind is not BlockKind.HEADING:
            parts += self._take_block(scored, following)
        return parts

    def _take_block(self, scored: ScoredQuote, index: int) -> list[ExtractedPart]:
        block = self.sections[scored.source].blocks[index]
        members = self._list_block(scored.source, index)
        quotes = [quote for quote in members if self._is_usable(scored.source, quote)]
        if not quotes:
            return []
        is_short = block.kind is BlockKind.STEPS or len(block.text) <= self._limits.block_chars
        if is_short and len(quotes) == len(members):
            part = ExtractedPart(
                source=scored.source,
                position=quotes[0].position,
                quotes=tuple(quotes),
                block=block,
            )
            return [part]
        return [self._build_part(scored, quotes[:1])]

    @staticmethod
    def _build_part(scored: ScoredQuote, quotes: Sequence[Quote]) -> ExtractedPart:
        return ExtractedPart(
            source=scored.source, position=quotes[0].position, quotes=tuple(quotes)
        )

    def _arrange(self, parts: Iterable[ExtractedPart], best: ScoredQuote) -> list[ExtractedPart]:
        """Order parts, the best source first, and join what belongs together."""
        order: dict[int, int] = {best.source: 0}
        for part in (parts := list(parts)):
            order.setdefault(part.source, len(order))
        parts.sort(key=lambda part: (order[part.source], part.position))
        arranged: list[ExtractedPart] = []
        for _, group in groupby(parts, key=lambda part: (part.source, part.quotes[0].block)):
            arranged += _join_parts(list(group))
        return arranged

    def _is_usable(self, source: int, quote: Quote) -> bool:
        """Tell whether a quote speaks to the reader, or the question is about such orders."""
        if self._is_about_injection:
            return True
        key = (source, quote.block)
        if key not in self._injected:
            quotes = self._list_block(source, quote.block)
            heading = f"{quote.subheading} {quote.lead}"
            found = find_injected([one.text for one in quotes], heading=heading)
            self._injected[key] = frozenset(quotes[index].position for index in found)
        return quote.position not in self._injected[key]

    def _list_block(self, source: int, block: int) -> list[Quote]:
        return [quote for quote in self.sections[source].quotes if quote.block == block]


def _join_parts(parts: list[ExtractedPart]) -> list[ExtractedPart]:
    """Join parts of one block: a whole block swallows its quotes, the others are merged."""
    whole = next((part for part in parts if part.block is not None), None)
    if whole is not None:
        return [whole]
    quotes = {quote.position: quote for part in parts for quote in part.quotes}
    ordered = tuple(quotes[position] for position in sorted(quotes))
    return [ExtractedPart(source=parts[0].source, position=ordered[0].position, quotes=ordered)]
