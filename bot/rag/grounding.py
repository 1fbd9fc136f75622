"""The gate every answer passes: each statement is cited and stands in what it cites.

A statement that claims a value, code, command or name its sources do not hold is taken out, and so
is one that cites nothing unless a single source plainly holds it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.rag.claims import ClaimReader, KnownNames, SourceText
from bot.rag.language import is_chinese
from bot.rag.quotes import split_items
from knowledge.analysis import Analyser
from knowledge.markdown.blocks import BlockKind
from knowledge.markdown.parser import parse_markdown
from knowledge.sentences import cut_sentences

# Below this share of its words a statement in the source's language is not from the source.
LEAST_SHARED_WORDS = 0.34
# A statement without a citation is given one when a source holds this share of its words...
LEAST_ATTACHED_WORDS = 0.6
# ...and no other source comes this near to it.
ATTACH_LEAD = 0.15

_CODE = re.compile(r"```[\s\S]*?(?:```|\Z)|``[^\n]+?``|`[^`\n]+`")
_ODD_MARKERS = re.compile(
    r"【(\d{1,2})(?:†[^】]*)?】"
    r"|\[(?:\^|来源|资料|参考|source |ref(?:erence)? |doc(?:ument)? )\s?(\d{1,2})\]",
    re.IGNORECASE,
)
_JOINED_MARKERS = re.compile(r"\[(\d{1,2}(?:\s*[,，、;]\s*\d{1,2})+)\](?!\()")
_LATE_MARKERS = re.compile(
    r"(?P<end>[。.!?！？；;])[ \t]*(?P<markers>(?:\[\d{1,2}\][ \t]*)+)(?=\s|$|\w)"
)
_EARLY_MARKERS = re.compile(r"[ \t]*((?<!\\)(?:\[\d{1,2}\])+)([。！？；]+|[.!?]+(?=\s|$))")
_MARKER = re.compile(r"(?<!\\)\[(\d{1,2})\](?!\()")
_MARKER_RUN = re.compile(r"[ \t]*(?<!\\)\[\d{1,2}\](?!\()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A statement that was taken out, and why."""

    statement: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """What is left of a text.

    Attributes:
        kept: How many statements passed.
    """

    text: str
    kept: int
    removed: tuple[Removed, ...]


@dataclass(slots=True)
class _Statement:
    """A piece of the text that stands or falls as a whole."""

    raw: str
    block: int
    sources: list[int] = field(default_factory=list)
    is_marker_only: bool = False
    lender: "_Statement | None" = None
    """Whose citation it shares."""

    @property
    def is_introduction(self) -> bool:
        return _MARKER_RUN.sub("", self.raw).rstrip("*_ \n").endswith((":", "："))


class GroundingGate:
    """Checks text against numbered sources; citations are renumbered by first use.

    One gate serves one answer, whole or in pieces: the numbering goes on from call to call.
    """

    def __init__(
        self,
        sources: Sequence[str],
        analyser: Analyser,
        names: KnownNames,
        *,
        is_quoted: bool = False,
    ) -> None:
        """Prepare for sources: source n of a text's markers is `sources[n - 1]`.

        Args:
            sources: The text each citation is checked against.
            analyser: Tells words apart.
            names: Names of people, wherever they stand.
            is_quoted: The text is put together from quotes, and a marker stands behind each: what
                comes before it is of the same source, over any number of paragraphs.
        """
        self._is_quoted = is_quoted
        self._sources = [SourceText(text, analyser, names) for text in sources]
        self._claims = ClaimReader(analyser, names)
        self._analyser = analyser
        self._numbers: dict[int, int] = {}

    @property
    def cited(self) -> list[int]:
        """Indexes of the sources cited so far, in the order of their new numbers."""
        return list(self._numbers)

    def check(self, text: str) -> Grounded:
        """Take out what the sources do not hold and renumber the citations of the rest."""
        statements = list(self._split(_normalise_markers(text)))
        _inherit_sources(statements, over_blocks=self._is_quoted)
        removed: list[Removed] = []
        kept: list[_Statement] = []
        for statement in statements:
            reason = "" if statement.is_marker_only else self._judge(statement)
            if reason:
                removed.append(Removed(statement=statement.raw.strip(), reason=reason))
            else:
                kept.append(statement)
        kept = _drop_loose_ends(kept)
        self._cite_orphans(kept)
        return Grounded(
            text=self._join(kept),
            kept=sum(not one.is_marker_only and not one.is_introduction for one in kept),
            removed=tuple(removed),
        )

    def _split(self, text: str) -> Iterator[_Statement]:
        for number, block in enumerate(parse_markdown(text)):
            for raw in _split_block(block.kind, block.text):
                sources = [int(n) - 1 for n in _MARKER.findall(_CODE.sub(" ", raw))]
                yield _Statement(
                    raw=raw,
                    block=number,
                    sources=[s for s in dict.fromkeys(sources) if s < len(self._sources)],
                    is_marker_only=bool(sources) and not _MARKER_RUN.sub("", raw).strip(),
                )

    def _judge(self, statement: _Statement) -> str:
        """Return why a statement must go, or nothing; may mend its sources."""
        bare = _MARKER_RUN.sub("", statement.raw)
        claims = self._claims.read(bare)
        words = self._analyser.words(bare)
        if not words and not claims.are_any:
            return ""
        chinese = is_chinese(bare)
        holders = [
            index
            for index, source in enumerate(self._sources)
            if not source.find_missing(claims, is_same_language=source.is_chinese == chinese)
        ]
        if statement.sources:
            return self._judge_cited(statement, words, holders, chinese=chinese)
        if statement.is_introduction and not claims.are_any:
            return ""
        return self._attach(statement, words, holders)

    def _judge_cited(
        self, statement: _Statement, words: Sequence[str], holders: Sequence[int], *, chinese: bool
    ) -> str:
        cited = [self._sources[index] for index in statement.sources]
        claims = self._claims.read(_MARKER_RUN.sub("", statement.raw))
        missing = set(
            cited[0].find_missing(claims, is_same_language=cited[0].is_chinese == chinese)
        )
        for source in cited[1:]:
            same = source.is_chinese == chinese
            missing &= set(source.find_missing(claims, is_same_language=same))
        if missing:
            # The right source under a wrong number is mended, a wrong claim is not.
            if len(holders) == 1 and self._share(words, holders[0]) >= LEAST_ATTACHED_WORDS:
                self._cite(statement, holders[0])
                return ""
            return f"not in the cited text: {', '.join(sorted(missing))}"
        comparable = [i for i in statement.sources if self._sources[i].is_chinese == chinese]
        if comparable and max(self._share(words, i) for i in comparable) < LEAST_SHARED_WORDS:
            return "its words are not in the cited text"
        return ""

    def _cite_orphans(self, kept: Sequence[_Statement]) -> None:
        """Give a citation of its own to what shared that of a statement that was taken out."""
        for statement in kept:
            lender = statement.lender
            if lender is not None and all(one is not lender for one in kept):
                words = self._analyser.words(statement.raw)
                self._cite(statement, max(statement.sources, key=lambda n: self._share(words, n)))

    def _attach(self, statement: _Statement, words: Sequence[str], holders: Sequence[int]) -> str:
        ranked = sorted(holders, key=lambda index: -self._share(words, index))
        if not ranked or self._share(words, ranked[0]) < LEAST_ATTACHED_WORDS:
            return "cites nothing"
        if len(ranked) > 1:
            lead = self._share(words, ranked[0]) - self._share(words, ranked[1])
            if lead < ATTACH_LEAD:
                return "cites nothing, and several sources may be meant"
        self._cite(statement, ranked[0])
        return ""

    def _cite(self, statement: _Statement, source: int) -> None:
        statement.sources = [source]
        bare = _MARKER_RUN.sub("", statement.raw)
        body = bare.rstrip()
        closing = re.search(r"[。.!?！？]+$", body)
        cut = closing.start() if closing else len(body)
        # A fence or a table row is closed by its line's end only.
        gap = "\n\n" if body.rsplit("\n", 1)[-1].startswith(("```", "~~~", "|")) else " "
        statement.raw = f"{body[:cut]}{gap}[{source + 1}]{body[cut:]}{bare[len(body) :]}"

    def _share(self, words: Sequence[str], source: int) -> float:
        if not words:
            return 0.0
        terms = self._sources[source].terms
        found = sum(any(t in terms for t in self._analyser.index_terms(word)) for word in words)
        return found / len(words)

    def _join(self, statements: Sequence[_Statement]) -> str:
        pieces: list[str] = []
        block = -1
        for statement in statements:
            if statement.block != block:
                if pieces:
                    pieces[-1] = pieces[-1].rstrip("\n ")
                    pieces.append("\n\n")
                block = statement.block
            pieces.append(self._renumber(statement.raw))
        # Sentences are cut with their citations inside; readers find them behind the full stop,
        # where they leave a quoted sentence whole.
        return _EARLY_MARKERS.sub(r"\2 \1", "".join(pieces)).strip()

    def _renumber(self, raw: str) -> str:
        pieces: list[str] = []
        end = 0
        for code in _CODE.finditer(raw):
            pieces += [self._renumber_prose(raw[end : code.start()]), code.group()]
            end = code.end()
        pieces.append(self._renumber_prose(raw[end:]))
        return "".join(pieces)

    def _renumber_prose(self, text: str) -> str:
        def replace_marker(match: re.Match[str]) -> str:
            source = int(match.group(1)) - 1
            if not 0 <= source < len(self._sources):
                return ""
            return f"[{self._numbers.setdefault(source, len(self._numbers) + 1)}]"

        return _MARKER.sub(replace_marker, text)


def _normalise_markers(text: str) -> str:
    """Bring every way models cite into the form `[n]` before the sentence's end; code stays."""
    pieces: list[str] = []
    end = 0
    for code in _CODE.finditer(text):
        pieces += [_normalise_prose(text[end : code.start()]), code.group()]
        end = code.end()
    pieces.append(_normalise_prose(text[end:]))
    return "".join(pieces)


def _normalise_prose(text: str) -> str:
    text = _ODD_MARKERS.sub(lambda match: f"[{match.group(1) or match.group(2)}]", text)
    text = _JOINED_MARKERS.sub(
        lambda match: "".join(f"[{n}]" for n in re.findall(r"\d+", match.group(1))), text
    )
    return _LATE_MARKERS.sub(
        lambda match: f" {match['markers'].strip()}{match['end']} ".replace("  ", " "), text
    )


def _split_block(kind: BlockKind, text: str) -> list[str]:
    match kind:
        case BlockKind.PARAGRAPH | BlockKind.QUOTE:
            return cut_sentences(text)
        case BlockKind.LIST | BlockKind.STEPS:
            return [f"{item}\n" for item in split_items(text)]
        case BlockKind.HEADING:
            return [f"**{text}**"]
        case _:
            return [text]


def _inherit_sources(statements: Sequence[_Statement], *, over_blocks: bool) -> None:
    """Let statements share the citation that follows them: in their block, or alone below it.

    With `over_blocks` the next citation counts, however far below it stands.
    """
    following: _Statement | None = None
    for statement in reversed(statements):
        if not statement.sources and following is not None:
            is_same_block = following.block == statement.block
            is_below = following.block == statement.block + 1 and (
                following.is_marker_only or statement.is_introduction
            )
            if is_same_block or is_below or over_blocks:
                statement.sources = list(following.sources)
                statement.lender = following
        if statement.sources:
            following = statement


def _drop_loose_ends(statements: Sequence[_Statement]) -> list[_Statement]:
    """Drop introductions and markers whose other half is gone."""
    kept: list[_Statement] = []
    for index, statement in enumerate(statements):
        after = statements[index + 1] if index + 1 < len(statements) else None
        before = statements[index - 1] if index else None
        if statement.is_introduction and (after is None or after.is_marker_only):
            continue
        if statement.is_marker_only and (before is None or before.block < statement.block - 1):
            continue
        kept.append(statement)
    return kept
