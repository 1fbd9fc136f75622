"""Answers without a language model: the best pieces of the evidence, quoted whole and cited."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from bot.rag.question_type import AnswerType
from bot.rag.quote_rendering import render_block, render_label, render_prose, render_rows
from bot.rag.quote_scoring import AskedQuestion, ScoredQuote, begins_anaphoric
from bot.rag.quote_selection import QuoteSelector, Similarity
from bot.rag.quotes import Quote, QuoteKind
from core.errors import TransientError
from knowledge.analysis import Analyser
from knowledge.markdown.blocks import Block, BlockKind
from knowledge.retrieval import Evidence

# A list or table after its introduction is quoted whole up to this length, steps always.
BLOCK_CHARS = 1500
# A short paragraph is quoted whole where the answer is no single value.
PARAGRAPH_CHARS = 280
# A table of which no row is better than another is quoted whole up to this length.
TABLE_CHARS = 600
# A procedure whose steps are headings of their own.
PROCEDURE_CHARS = 2500
NUMBERED_HEADING = re.compile(
    r"第 ?[\d一二三四五六七八九十]+ ?步|步骤 ?[\d一二三四五六七八九十]|step \d|\d{1,2}[.、)] ",
    re.IGNORECASE,
)
# The name of a file or a listing over its code.
CAPTION = re.compile(r"\*\*[^*\n]{1,80}\*\*:?")
# What calls itself the steps is quoted from its first word to its last.
STEPS_HEADING = re.compile(
    r"步骤|流程|操作|怎么做|处理方法|\bsteps?\b|\bprocedure\b|\bhow to\b|\binstructions?\b",
    re.IGNORECASE,
)
# Where the heading is the question, the section is the answer, up to this length.
SECTION_CHARS = 700
HEADING_SHARE = 0.75
# A quote that says less than this of the question itself is shown under its heading.
SPEAKING_SHARE = 0.34
RANKED_KEPT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedPart:
    """A piece of the answer from one source.

    Attributes:
        source: Index of its evidence.
        position: Place of its first quote in the section.
        quotes: What is quoted; of one paragraph, one table, or a whole block.
        block: The block that is quoted whole; None when only the quotes are.
        label: What the reader must know to understand it; empty when it speaks for itself.
    """

    source: int
    position: int
    quotes: tuple[Quote, ...]
    block: Block | None = None
    label: str = ""

    def render(self, marker: str) -> str:
        """Return the part as Markdown that ends in the marker."""
        return render_label(self.label, self._render_body(marker))

    def _render_body(self, marker: str) -> str:
        if self.block is not None and self.block.kind is not BlockKind.PARAGRAPH:
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
        ranked: The best quotes that may be used, for comparing pages with one another.
        is_cross_lingual: Whether it is quoted in another language than the question's.
    """

    parts: tuple[ExtractedPart, ...]
    best: ScoredQuote
    ranked: tuple[ScoredQuote, ...]
    is_cross_lingual: bool


async def extract_answer(
    asked: AskedQuestion,
    evidence: Sequence[Evidence],
    analyser: Analyser,
    *,
    similarity: Similarity | None = None,
) -> Extract | None:
    """Choose what to quote; None when nothing can be.

    Args:
        similarity: Compares meanings where question and evidence differ in language; without it,
            or when it does not answer, only words, values and places count.
    """
    selector = QuoteSelector(asked, evidence, analyser)
    if similarity is not None and selector.is_cross_lingual:
        # Without it the words alone still give an answer, if a poorer one.
        with suppress(TransientError):
            await selector.add_similarity(similarity)
    chosen = selector.choose()
    if not chosen:
        return None
    parts = _Arranger(asked, evidence, analyser, selector).arrange(chosen)
    return Extract(
        parts=tuple(parts),
        best=chosen[0],
        ranked=tuple(s for s in selector.ranked[:RANKED_KEPT] if selector.is_usable(s)),
        is_cross_lingual=selector.is_cross_lingual,
    )


class _Arranger:
    """Completes chosen quotes to readable parts and puts them in order."""

    def __init__(
        self,
        asked: AskedQuestion,
        evidence: Sequence[Evidence],
        analyser: Analyser,
        selector: QuoteSelector,
    ) -> None:
        self._asked = asked
        self._evidence = evidence
        self._analyser = analyser
        self._selector = selector

    def arrange(self, chosen: Sequence[ScoredQuote]) -> list[ExtractedPart]:
        """Build the parts: the best source first, each source in reading order."""
        best = chosen[0]
        if self._heads_section(best):
            return self._take_section(best.source)
        parts = [part for scored in chosen for part in self._expand(scored)]
        order: dict[int, int] = {best.source: 0}
        for part in parts:
            order.setdefault(part.source, len(order))
        parts.sort(key=lambda part: (order[part.source], part.position))
        groups = groupby(parts, key=lambda part: (part.source, part.quotes[0].block))
        return self._label([part for _, group in groups for part in _join_parts(list(group))], best)

    def _heads_section(self, best: ScoredQuote) -> bool:
        """Tell whether the section's heading is the question: then the section is the answer."""
        analysis = self._asked.analysis
        if analysis.value_kinds or analysis.is_comparison:
            return False
        hit = self._evidence[best.source].hit
        heading = set(self._analyser.index_terms((hit.heading_path or (hit.title,))[-1]))
        shared = heading & self._asked.weights.keys()
        covers_question = self._selector.share(shared) >= HEADING_SHARE
        return covers_question and 2 * len(shared) >= len(heading)

    def _take_section(self, source: int, *, most: int = SECTION_CHARS) -> list[ExtractedPart]:
        """Quote a section from its start, whole blocks, up to a length."""
        parts: list[ExtractedPart] = []
        length = 0
        for index, block in enumerate(self._selector.sections[source].blocks):
            length += len(block.text)
            if parts and length > most:
                break
            if block.kind is not BlockKind.HEADING:
                parts += self._take_block(source, index)
        return parts

    def _expand(self, scored: ScoredQuote) -> list[ExtractedPart]:
        """Add what a quote can't be read without: a procedure, what it introduces, its subject."""
        source, quote = scored.source, scored.quote
        if way := self._expand_way(scored):
            return way
        if quote.kind is QuoteKind.CODE:
            return [*self._take_introduction(source, quote.block), _build_part(source, [quote])]
        if quote.kind is QuoteKind.ROW and self._is_row_like_any(source, quote):
            return self._take_block(source, quote.block)
        if quote.is_introduction:
            return [_build_part(source, [quote]), *self._take_following(source, quote.block)]
        if quote.kind is QuoteKind.SENTENCE:
            return [self._take_sentence(source, quote)]
        return [_build_part(source, [quote])]

    def _expand_way(self, scored: ScoredQuote) -> list[ExtractedPart]:
        """Take the whole procedure a quote is of, where a way is asked for; else nothing."""
        source, block = scored.source, scored.quote.block
        if not self._asked.analysis.asks_for(AnswerType.HOW_TO):
            return []
        if self._has_numbered_headings(source):
            return self._take_procedure(source)
        kind = self._selector.sections[source].blocks[block].kind
        if self._is_headed_as_steps(source) and kind in {BlockKind.STEPS, BlockKind.CODE}:
            return self._take_section(source, most=PROCEDURE_CHARS)
        return self._take_block(source, block) if kind is BlockKind.STEPS else []

    def _is_row_like_any(self, source: int, quote: Quote) -> bool:
        """Tell whether nothing in a short table's row says that it is the one asked for."""
        table = self._selector.sections[source].blocks[quote.block]
        says = set(self._analyser.index_terms(quote.text)) & self._asked.weights.keys()
        return not says and len(table.text) <= TABLE_CHARS

    def _is_headed_as_steps(self, source: int) -> bool:
        hit = self._evidence[source].hit
        return bool(hit.heading_path) and STEPS_HEADING.search(hit.heading_path[-1]) is not None

    def _take_introduction(self, source: int, block: int) -> list[ExtractedPart]:
        """Quote what announces a block: a sentence that ends in a colon, a caption in bold."""
        parts: list[ExtractedPart] = []
        for before in range(block - 1, -1, -1):
            quotes = self._selector.list_block(source, before)[-1:]
            is_caption = bool(quotes) and CAPTION.fullmatch(quotes[0].text) is not None
            if not quotes or not (is_caption or quotes[0].is_introduction):
                break
            if not self._selector.is_usable_at(source, quotes[0]):
                break
            parts.insert(0, _build_part(source, quotes))
            if not is_caption:
                break
        return parts

    def _has_numbered_headings(self, source: int) -> bool:
        headings = [
            block.text
            for block in self._selector.sections[source].blocks
            if block.kind is BlockKind.HEADING
        ]
        return sum(NUMBERED_HEADING.match(heading) is not None for heading in headings) > 1

    def _take_procedure(self, source: int) -> list[ExtractedPart]:
        """Quote a procedure whose steps are headings, from its first step to its last."""
        section = self._selector.sections[source]
        usable = {q.block for q in section.quotes if self._selector.is_usable_at(source, q)}
        lines: list[str] = []
        kept: list[Quote] = []
        for index, block in enumerate(section.blocks):
            if block.kind is BlockKind.HEADING:
                lines.append(f"**{block.text}**")
            elif lines and index in usable:
                lines.append(block.text)
                kept += [quote for quote in section.quotes if quote.block == index]
            if sum(map(len, lines)) > PROCEDURE_CHARS:
                break
        if not kept:
            return []
        whole = replace(section.blocks[kept[0].block], kind=BlockKind.STEPS)
        part = _build_part(source, kept)
        return [replace(part, block=replace(whole, text="\n\n".join(lines)))]

    def _take_sentence(self, source: int, quote: Quote) -> ExtractedPart:
        members = self._selector.list_block(source, quote.block)
        paragraph = [one for one in members if self._selector.is_usable_at(source, one)]
        length = sum(len(one.text) for one in paragraph)
        if not self._asked.analysis.value_kinds and length <= PARAGRAPH_CHARS:
            return _build_part(source, paragraph)
        index = paragraph.index(quote)
        start = index - 1 if index and begins_anaphoric(quote.text) else index
        return _build_part(source, paragraph[start : index + 1])

    def _take_following(self, source: int, block: int) -> list[ExtractedPart]:
        """Quote the list, table or code that an introduction announces."""
        blocks = self._selector.sections[source].blocks
        following = block + 1
        if following >= len(blocks) or blocks[following].kind is BlockKind.HEADING:
            return []
        return self._take_block(source, following)

    def _take_block(self, source: int, index: int) -> list[ExtractedPart]:
        block = self._selector.sections[source].blocks[index]
        members = self._selector.list_block(source, index)
        quotes = [quote for quote in members if self._selector.is_usable_at(source, quote)]
        if not quotes:
            return []
        is_short = block.kind is BlockKind.STEPS or len(block.text) <= BLOCK_CHARS
        if is_short and len(quotes) == len(members):
            return [replace(_build_part(source, quotes), block=block)]
        return [_build_part(source, quotes[:1])]

    def _label(self, parts: list[ExtractedPart], best: ScoredQuote) -> list[ExtractedPart]:
        """Say where a part is from when several pages speak, or what a terse one is about."""
        documents = {self._evidence[part.source].hit.document_id for part in parts}
        if len(documents) > 1:
            return self._label_pages(parts)
        is_row = best.quote.kind is QuoteKind.ROW and bool(best.quote.header)
        says_little = not is_row and self._selector.share(best.covered) < SPEAKING_SHARE
        headings = self._evidence[parts[0].source].hit
        if says_little and self._selector.share(best.context) >= SPEAKING_SHARE:
            subject = best.quote.subheading or (headings.heading_path or (headings.title,))[-1]
            return [replace(parts[0], label=subject), *parts[1:]]
        return parts

    def _label_pages(self, parts: Sequence[ExtractedPart]) -> list[ExtractedPart]:
        labelled: list[ExtractedPart] = []
        last = ""
        for part in parts:
            hit = self._evidence[part.source].hit
            is_new = hit.document_id != last
            labelled.append(replace(part, label=hit.title) if is_new else part)
            last = hit.document_id
        return labelled


def _build_part(source: int, quotes: Sequence[Quote]) -> ExtractedPart:
    return ExtractedPart(source=source, position=quotes[0].position, quotes=tuple(quotes))


def _join_parts(parts: list[ExtractedPart]) -> list[ExtractedPart]:
    """Join parts of one block: a whole block swallows its quotes, the others are merged."""
    whole = next((part for part in parts if part.block is not None), None)
    if whole is not None:
        return [whole]
    quotes = {quote.position: quote for part in parts for quote in part.quotes}
    return [_build_part(parts[0].source, [quotes[position] for position in sorted(quotes)])]
