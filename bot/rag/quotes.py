"""What of a section can be quoted whole: sentences, list items, table rows, code blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from knowledge.markdown.blocks import Block, BlockKind
from knowledge.markdown.lines import ITEM, NUMBERED, clean_markdown, dedent, measure_indent
from knowledge.markdown.parser import parse_markdown
from knowledge.sentences import split_sentences

# A longer item with parts of its own is cut into them.
LONG_ITEM_CHARS = 300


class QuoteKind(StrEnum):
    """The smallest pieces that make sense on their own."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A piece of a section that may be quoted whole.

    Attributes:
        text: As it stands in the section, list marker and fence included.
        position: Counts the section's quotes from 0.
        block: Index of the block it is of, in `QuotableSection.blocks`.
        lead: What introduces it without being quoted: the paragraph before a list, table or code,
            the head of the item it stands in.
        subheading: The heading inside the section it stands under.
        header, cells: Of a table row; empty otherwise.
    """

    text: str
    kind: QuoteKind
    position: int = 0
    block: int = 0
    lead: str = ""
    subheading: str = ""
    header: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()

    @property
    def is_introduction(self) -> bool:
        """Whether the text announces what follows it."""
        return self.text.rstrip("*_ ").endswith((":", "："))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotableSection:
    """A section cut into quotes; `blocks` are the paragraphs, lists, tables they belong to."""

    quotes: tuple[Quote, ...]
    blocks: tuple[Block, ...]


_PIPE = re.compile(r"(?<!\\)\|")
_QUOTE_MARK = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_IMAGE_ONLY = re.compile(r"^\s*!\[[^\]]*\]\([^)]*\)\s*$")


def parse_section(markdown: str) -> QuotableSection:
    """Cut a section's Markdown into quotes, in reading order. Headings and images are none."""
    blocks = tuple(parse_markdown(clean_markdown(markdown).text))
    quotes: list[Quote] = []
    subheading = lead = ""
    for index, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING:
            subheading, lead = block.text, ""
            continue
        made = list(_build_quotes(block))
        quotes += [
            replace(
                quote,
                block=index,
                lead=" ".join(part for part in (lead, quote.lead) if part),
                subheading=subheading,
            )
            for quote in made
        ]
        if block.kind is BlockKind.PARAGRAPH and made:
            lead = made[-1].text
    numbered = (replace(quote, position=position) for position, quote in enumerate(quotes))
    return QuotableSection(quotes=tuple(numbered), blocks=blocks)


def _build_quotes(block: Block) -> Iterator[Quote]:
    match block.kind:
        case BlockKind.CODE:
            yield Quote(text=block.text, kind=QuoteKind.CODE)
        case BlockKind.TABLE:
            yield from _build_rows(block.text)
        case BlockKind.LIST | BlockKind.STEPS:
            for item in split_items(block.text):
                yield from _build_item(item)
        case BlockKind.QUOTE:
            for inner in parse_markdown(_QUOTE_MARK.sub("", block.text)):
                if inner.kind is not BlockKind.HEADING:
                    yield from _build_quotes(inner)
        case _:
            for sentence in split_sentences(block.text):
                if not _IMAGE_ONLY.match(sentence):
                    yield Quote(text=sentence, kind=QuoteKind.SENTENCE)


def _build_item(item: str) -> Iterator[Quote]:
    head, _, rest = item.partition("\n")
    if len(item) <= LONG_ITEM_CHARS or not rest.strip():
        yield Quote(text=item, kind=QuoteKind.ITEM)
        return
    lines = rest.split("\n")
    indent = min((measure_indent(line) for line in lines if line.strip()), default=0)
    yield Quote(text=head, kind=QuoteKind.ITEM)
    for inner in parse_markdown("\n".join(dedent(lines, indent))):
        for quote in _build_quotes(inner):
            yield replace(quote, lead=" ".join(part for part in (head, quote.lead) if part))


def split_items(block: str) -> list[str]:
    """Split a list or steps into its top-level items, what is nested staying inside."""
    items: list[list[str]] = []
    for line in block.split("\n"):
        is_item = measure_indent(line) <= 1 and (ITEM.match(line.strip()) or _is_step(line))
        if is_item or not items:
            items.append([line])
        else:
            items[-1].append(line)
    return ["\n".join(lines).strip("\n") for lines in items]


def _is_step(line: str) -> bool:
    return NUMBERED.match(line.strip()) is not None


def _build_rows(table: str) -> Iterator[Quote]:
    lines = table.split("\n")
    has_header = len(lines) > 1 and set(lines[1]) <= set("|-: ")
    header = split_row(lines[0]) if has_header else ()
    for line in lines[2:] if has_header else lines:
        cells = split_row(line)
        if any(cells):
            yield Quote(text=line, kind=QuoteKind.ROW, header=header, cells=cells)


def split_row(line: str) -> tuple[str, ...]:
    """Split a table row into its cells; an escaped bar stays inside its cell."""
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(cell.strip() for cell in _PIPE.split(inner))
