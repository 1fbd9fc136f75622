"""Which quotes make the answer: ranked, typed, not injected, each adding something."""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev

from bot.rag.injection import asks_about_injection, find_injected
from bot.rag.language import is_foreign
from bot.rag.question_patterns import COMPOUND
from bot.rag.question_type import AnswerType
from bot.rag.quote_scoring import AskedQuestion, QuoteScorer, ScoredQuote
from bot.rag.quotes import QuotableSection, Quote, parse_section
from knowledge.analysis import Analyser
from knowledge.markdown.blocks import BlockKind
from knowledge.retrieval import Evidence

Similarity = Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
"""How near each text is to the question in meaning, on any scale; one number a text."""

# Headings that hold this share of the question name what is asked.
NAMING_SHARE = 0.5
SIMILAR_QUOTES = 20
SIMILARITY_WEIGHT = 1.2
_SMALLEST_SPREAD = 0.005
_MOST_COMPARED_CHARS = 600
_NOT_WORD = re.compile(r"\W+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionLimits:
    """How much is quoted; tuned on one half of the question sets (docs/answering.md).

    Attributes:
        score_gap: A further quote may score this much less than the best one.
        typed_gap: The same beside a value of the asked type, for other values of it.
        wide_gap: The same where subjects are compared or several things are asked for; such a
            quote must cover `new_share` of the question that the others don't.
        value_gap: A quote with a value of the asked type comes first within this of the best one.
        steps_gap: Steps of the same document are added within this, where a way is asked for.
        most_quotes: Quotes at most.
    """

    score_gap: float = 1.0
    typed_gap: float = 0.5
    wide_gap: float = 2.0
    new_share: float = 0.2
    value_gap: float = 1.5
    steps_gap: float = 2.5
    most_quotes: int = 3


class QuoteSelector:
    """Ranks the quotes of the evidence and chooses among them, for one question."""

    def __init__(
        self,
        asked: AskedQuestion,
        evidence: Sequence[Evidence],
        analyser: Analyser,
        *,
        limits: SelectionLimits | None = None,
    ) -> None:
        self.sections: list[QuotableSection] = [parse_section(one.section_text) for one in evidence]
        self._asked = asked
        self._evidence = evidence
        self._limits = limits or SelectionLimits()
        self._scored = QuoteScorer(asked, analyser).score(evidence, self.sections)
        self._is_about_injection = asks_about_injection(asked.text)
        self._injected: dict[tuple[int, int], frozenset[int]] = {}

    @property
    def is_cross_lingual(self) -> bool:
        """Whether the best evidence is in another language than the question."""
        if not self._evidence:
            return False
        return is_foreign(self._evidence[0].section_text, self._asked.analysis.language)

    @property
    def ranked(self) -> list[ScoredQuote]:
        """The quotes, best first, ties in reading order."""
        return sorted(self._scored, key=lambda s: (-s.score, s.source, s.quote.position))

    async def add_similarity(self, similarity: Similarity) -> None:
        """Let meaning count beside words, for the quotes that are best by words.

        Worth its time only across languages: within one it changes nothing measurable. Quotes
        that are not compared leave the ranking.
        """
        compared = self.ranked[:SIMILAR_QUOTES]
        texts = [scored.quote.text[:_MOST_COMPARED_CHARS] for scored in compared]
        if not texts:
            return
        near = await similarity(self._asked.text, texts)
        mean, spread = fmean(near), max(pstdev(near), _SMALLEST_SPREAD)
        self._scored = [
            replace(scored, score=scored.score + SIMILARITY_WEIGHT * (one - mean) / spread)
            for scored, one in zip(compared, near, strict=True)
        ]

    def choose(self) -> list[ScoredQuote]:
        """Return the chosen quotes, best first; none when nothing can be quoted."""
        ranked = self._prefer_typed([s for s in self.ranked if self.is_usable(s)])
        is_way = self._asked.analysis.asks_for(AnswerType.HOW_TO)
        chosen: list[ScoredQuote] = []
        covered: set[str] = set()
        said: set[str] = set()
        for scored in ranked:
            text = _NOT_WORD.sub("", scored.quote.text)
            if text in said or (chosen and not self._adds(scored, chosen[0], covered)):
                continue
            if is_way and chosen and self._is_step(scored):
                # Which steps are quoted is decided for the procedure as a whole.
                continue
            chosen.append(scored)
            covered |= scored.covered | scored.context
            said.add(text)
            if len(chosen) == self._limits.most_quotes:
                break
        return self._settle_steps(chosen, ranked) if is_way and chosen else chosen

    def share(self, terms: Iterable[str]) -> float:
        """Return how much of the question's weight some of its terms make up."""
        total = sum(self._asked.weights.values()) or 1.0
        return sum(self._asked.weights[term] for term in terms) / total

    def list_block(self, source: int, block: int) -> list[Quote]:
        """Return all quotes of a block, usable or not."""
        return [quote for quote in self.sections[source].quotes if quote.block == block]

    def is_usable(self, scored: ScoredQuote) -> bool:
        """Tell whether a quote speaks to the reader, or the question is about such orders."""
        return self.is_usable_at(scored.source, scored.quote)

    def is_usable_at(self, source: int, quote: Quote) -> bool:
        """Tell the same of a quote of the evidence with this index."""
        if self._is_about_injection:
            return True
        key = (source, quote.block)
        if key not in self._injected:
            quotes = self.list_block(source, quote.block)
            headings = (*self._evidence[source].hit.heading_path[-1:], quote.subheading, quote.lead)
            found = find_injected([one.text for one in quotes], heading=" ".join(headings))
            self._injected[key] = frozenset(quotes[index].position for index in found)
        return quote.position not in self._injected[key]

    def _adds(self, scored: ScoredQuote, best: ScoredQuote, covered: set[str]) -> bool:
        limits, analysis = self._limits, self._asked.analysis
        # A value answers alone; beside it only another candidate for it is worth reading.
        gap = limits.typed_gap if best.values else limits.score_gap
        if scored.score >= best.score - gap and (scored.values or not best.values):
            return True
        is_wide = analysis.is_comparison or analysis.wants_all or len(analysis.types) > 1
        if not is_wide or scored.score < best.score - limits.wide_gap:
            return False
        return self.share((scored.covered | scored.context) - covered) >= limits.new_share

    def _prefer_typed(self, ranked: list[ScoredQuote]) -> list[ScoredQuote]:
        """Put the best quote with a value of the asked type first, when it is not far behind."""
        if not self._asked.analysis.value_kinds or not ranked:
            return ranked
        typed = next((scored for scored in ranked if scored.values), None)
        if typed is None or typed.score < ranked[0].score - self._limits.value_gap:
            return ranked
        return [typed, *(scored for scored in ranked if scored is not typed)]

    def _settle_steps(
        self, chosen: list[ScoredQuote], ranked: Sequence[ScoredQuote]
    ) -> list[ScoredQuote]:
        """Put in the steps whose headings say best that they are the way asked for.

        Steps hardly repeat the question. They are of the document that answers, or of one whose
        title and headings name what is asked.
        """
        steps = [s for s in ranked if self._is_step(s) and self._may_be_way(s, chosen[0])]
        if not steps:
            return chosen
        best = max(steps, key=lambda one: (self.share(one.context), one.score))
        if not self._is_step(chosen[0]):
            return [*chosen, best]
        is_better = self.share(best.context) > self.share(chosen[0].context)
        if not is_better:
            return chosen
        first = chosen[0]
        says_more = bool((first.covered | first.context) - best.covered - best.context)
        is_second = says_more and COMPOUND.search(self._asked.text)
        kept = chosen if is_second else chosen[1:]
        return [best, *kept][: self._limits.most_quotes]

    def _may_be_way(self, step: ScoredQuote, best: ScoredQuote) -> bool:
        is_near = step.score >= best.score - self._limits.steps_gap
        is_named = self.share(step.context) >= NAMING_SHARE
        documents = {self._evidence[one.source].hit.document_id for one in (step, best)}
        return is_near or is_named if len(documents) == 1 else is_near and is_named

    def _is_step(self, scored: ScoredQuote) -> bool:
        kind = self.sections[scored.source].blocks[scored.quote.block].kind
        return kind in {BlockKind.STEPS, BlockKind.CODE}
