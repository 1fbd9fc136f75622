"""Documents into sections and passages: whole procedures, rows and code, sizes in tokens.

Everything here is pure: equal content, settings and counter give equal chunks.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.settings import ChunkSettings
from knowledge.chunking.meter import Room, TokenMeter, estimate_tokens, is_surely_within
from knowledge.chunking.outline import Pages, Topic, is_same, merge_short_topics, read_outline
from knowledge.chunking.packing import Piece, divide_units, pack_units
from knowledge.chunking.splitting import slice_heading
from knowledge.chunking.units import Unit, build_units, join_units, judge_kind
from knowledge.documents import (
    BodyPart,
    Content,
    DocumentId,
    Passage,
    PassageKind,
    Section,
    SectionId,
    build_section_id,
)
from knowledge.markdown.lines import drop_invisible

DEFAULT_MAX_TOKENS = 500
"""What the bundled embedder reads of a text, special tokens and prefix set aside."""

_JOINT = " > "
# The heading chain takes at most a third of a passage.
_CHAIN_SHARE = 3
# The first and the last name of a chain stay longest.
_ENDS = 2
# Breadcrumbs take a tenth more at most, and only the nearest are worth it.
_CRUMB_SHARE = 10
_MAX_CRUMBS = 2
# Steps and code are whole in their section up to this many times its size.
_WHOLE_FACTOR = 4
# Estimates are off by a third at most: what is merged has to fit all the same.
_CAUTION = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunks:
    """The chunks of a document in reading order.

    Attributes:
        sections: Only those of two passages or more: a section that is one passage is that passage.
    """

    sections: tuple[Section, ...]
    passages: tuple[Passage, ...]


def build_chunks(
    document_id: DocumentId,
    content: Content,
    *,
    settings: ChunkSettings,
    count_tokens: Callable[[str], int],
    max_tokens: int = DEFAULT_MAX_TOKENS,
    breadcrumbs: tuple[str, ...] = (),
) -> Chunks:
    """Cut a document into sections along its headings, and those into passages.

    A passage has about `settings.passage_tokens` tokens, headings included. Steps and code blocks
    stay whole up to `max_tokens`, which no passage exceeds; a table row as well.

    Args:
        count_tokens: The embedder's counter; texts joined by white space must cost at most one
            token more than apart.
        max_tokens: What the embedder reads of a text.
        breadcrumbs: Titles above the document; the nearest are indexed, but no key depends on
            them: a document that is moved keeps its passages.

    Returns:
        No chunks for a document without title and text; the title alone is one passage.
    """
    builder = _ChunkBuilder(
        document_id,
        content.title,
        settings=settings,
        meter=TokenMeter(count_tokens),
        max_tokens=max_tokens,
        breadcrumbs=breadcrumbs,
    )
    outline = read_outline(content)
    topics = merge_short_topics(
        outline.topics,
        target_tokens=int(builder.room.target * _CAUTION),
        limit_tokens=builder.section_limit,
    )
    for topic in topics:
        builder.add_topic(topic, content.parts[topic.part], outline.pages[topic.part])
    builder.add_title_if_empty()
    return Chunks(sections=tuple(builder.sections), passages=tuple(builder.passages))


def build_indexed_text(
    title: str,
    heading_path: tuple[str, ...],
    text: str,
    *,
    settings: ChunkSettings,
    count_tokens: Callable[[str], int],
    max_tokens: int = DEFAULT_MAX_TOKENS,
    breadcrumbs: tuple[str, ...] = (),
) -> str:
    """Put in front of a chunk's text what `build_chunks`, given the same, puts there."""
    builder = _ChunkBuilder(
        DocumentId(""),
        title,
        settings=settings,
        meter=TokenMeter(count_tokens),
        max_tokens=max_tokens,
        breadcrumbs=breadcrumbs,
    )
    return builder.index(heading_path, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where a section stands: what its passages have in common."""

    path: tuple[str, ...]
    chain: str
    part: BodyPart
    pages: Pages


class _ChunkBuilder:
    """Collects a document's chunks; knows which keys and heading paths it has given out."""

    def __init__(
        self,
        document_id: DocumentId,
        title: str,
        *,
        settings: ChunkSettings,
        meter: TokenMeter,
        max_tokens: int,
        breadcrumbs: tuple[str, ...],
    ) -> None:
        self.sections: list[Section] = []
        self.passages: list[Passage] = []
        target = min(settings.passage_tokens, max_tokens)
        self._crumb_tokens = min(target, max_tokens // 2) // _CRUMB_SHARE
        # Set aside whether there are breadcrumbs or not, lest a move change where passages end.
        limit = max_tokens - self._crumb_tokens
        self.room = Room(target=min(target, limit), limit=limit)
        self._document_id = document_id
        self._title = " ".join(drop_invisible(title).split())
        self._overlap_tokens = int(settings.overlap_share * self.room.target)
        self._section_room = Room(
            target=settings.section_tokens, limit=_WHOLE_FACTOR * settings.section_tokens
        )
        self._meter = meter
        self._paths: Counter[tuple[str, ...]] = Counter()
        self._keys: Counter[str] = Counter()
        self._chains: dict[tuple[str, ...], str] = {}
        self._crumbs = self._trim_crumbs(breadcrumbs)

    @property
    def section_limit(self) -> int:
        """Tokens up to which a procedure stays one section."""
        return self._section_room.limit

    def add_topic(self, topic: Topic, part: BodyPart, pages: Pages) -> None:
        """Add the sections and passages of the text under one heading."""
        units = build_units(topic.blocks)
        chain = self._build_chain(topic.path)
        origin = _Origin(path=topic.path, chain=chain, part=part, pages=pages)
        text = join_units(units)
        if is_surely_within(_index(chain, text), self.room):
            piece = Piece(text=text, kind=judge_kind(units), line=units[0].line)
            self._add_section(units, [piece], origin)
            return
        room = self.room.shrink(self._meter.measure(chain) + 1)
        sections = [units]
        if estimate_tokens(text) > self._section_room.target:
            sections = divide_units(units, self._section_room, self._meter)
        for each in sections:
            pieces = pack_units(each, room, self._meter, overlap_tokens=self._overlap_tokens)
            self._add_section(each, pieces, origin)

    def add_title_if_empty(self) -> None:
        """Make a document that is only a title findable by it."""
        if self.passages or not self._title:
            return
        pages = Pages(lines=(), numbers=(), before=None)
        part = BodyPart(markdown="")
        origin = _Origin(path=(), chain=self._build_chain(()), part=part, pages=pages)
        piece = Piece(text=self._title, kind=PassageKind.PROSE, line=0)
        self._add_section([], [piece], origin)

    def index(self, path: tuple[str, ...], text: str) -> str:
        """Put breadcrumbs, title and headings in front of a text."""
        indexed_text = _index(self._build_chain(path), text)
        return f"{self._crumbs}{_JOINT}{indexed_text}" if self._crumbs else indexed_text

    def _add_section(self, units: Sequence[Unit], pieces: Sequence[Piece], origin: _Origin) -> None:
        section_id = build_section_id(self._document_id, origin.path, self._paths[origin.path])
        self._paths[origin.path] += 1
        if len(pieces) > 1:
            text = join_units(units)
            self.sections.append(
                Section(
                    section_id=section_id,
                    key=self._build_key("section", origin, text),
                    document_id=self._document_id,
                    heading_path=origin.path,
                    text=text,
                    indexed_text=self.index(origin.path, text),
                    kind=judge_kind(units),
                    position=len(self.passages),
                    page=origin.pages.find(units[0].line),
                    included_from=origin.part.included_from,
                    rule=origin.part.included_rule,
                )
            )
        for piece in pieces:
            self._add_passage(piece, section_id, origin)

    def _add_passage(self, piece: Piece, section_id: SectionId, origin: _Origin) -> None:
        self.passages.append(
            Passage(
                section_id=section_id,
                key=self._build_key("passage", origin, piece.text),
                document_id=self._document_id,
                heading_path=origin.path,
                text=piece.text,
                indexed_text=self.index(origin.path, piece.text),
                kind=piece.kind,
                position=len(self.passages),
                page=origin.pages.find(piece.line),
                included_from=origin.part.included_from,
                rule=origin.part.included_rule,
            )
        )

    def _build_key(self, level: str, origin: _Origin, text: str) -> str:
        parts = (level, origin.part.included_from or "", *origin.path, _index(origin.chain, text))
        digest = hashlib.blake2b("\x1f".join(parts).encode(), digest_size=16).hexdigest()
        self._keys[digest] += 1
        # The first of equal texts keeps its key when another one appears further down.
        ordinal = self._keys[digest] - 1
        return f"{digest}-{ordinal}" if ordinal else digest

    def _trim_crumbs(self, breadcrumbs: Sequence[str]) -> str:
        """Join the nearest breadcrumbs; they say what the document is about when it does not."""
        names = _drop_repeated(breadcrumbs)[-_MAX_CRUMBS:]
        names = [name for name in names if not is_same(name, self._title)]
        room = Room(target=self._crumb_tokens, limit=self._crumb_tokens)
        while names and not self._meter.fits(_JOINT.join(names), room):
            del names[0]
        return _JOINT.join(names)

    def _build_chain(self, path: tuple[str, ...]) -> str:
        """Join title and headings, trimmed to their share of a passage.

        The headings between the title and the last one go first, then the ends of those two.
        """
        chain = self._chains.get(path)
        if chain is None:
            chain = self._chains[path] = self._trim_chain(_drop_repeated((self._title, *path)))
        return chain

    def _trim_chain(self, names: list[str]) -> str:
        most = max(1, self.room.target // _CHAIN_SHARE)
        room = Room(target=most, limit=most)
        while len(names) > _ENDS and not self._meter.fits(_JOINT.join(names), room):
            del names[1]
        if names and not self._meter.fits(_JOINT.join(names), room):
            share = max(1, most // len(names) - 1)
            names = [slice_heading(name, share, self._meter) for name in names]
        return _JOINT.join(names)


def _drop_repeated(names: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for name in names:
        words = " ".join(drop_invisible(name).split())
        if words and not any(is_same(words, other) for other in kept):
            kept.append(words)
    return kept


def _index(chain: str, text: str) -> str:
    """Put title and headings in front of a text that is more than the last of them."""
    if not chain:
        return text
    if len(text) <= len(chain) and is_same(chain.rpartition(_JOINT)[2], text):
        return chain
    return f"{chain}\n\n{text}"
