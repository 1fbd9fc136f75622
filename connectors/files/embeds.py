"""Pages embedded in pages: each becomes a part of its own, under the rights of its own page."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from connectors.files.file_token import EmbedState
from connectors.files.frontmatter import split_front_matter
from connectors.files.markdown import convert_markdown_text, split_code
from connectors.files.vault import EMBED, extract_section, is_page
from knowledge.access import AccessRule
from knowledge.documents import BodyPart, DocumentId

_MAX_DEPTH = 5
_MAX_EMBEDS = 200
_EXTENSION = re.compile(r"\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{2,5}$")
_INLINE_CODE = re.compile(r"(`+)(?:.+?)\1")


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedPage:
    """A page that may be embedded: what it says, who may read it, when it changed."""

    path: str
    document_id: DocumentId
    rule: AccessRule
    text: str
    mtime_ns: int
    state: str


@dataclass(slots=True, kw_only=True)
class Expansion:
    """The parts of a page, with everything its text now depends on.

    Attributes:
        states: For the token, in the order of the text.
        latest_ns: When the youngest of the embedded pages changed; 0 = nothing embedded.
    """

    parts: list[BodyPart] = field(default_factory=list)
    states: list[EmbedState] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    latest_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where the text being expanded comes from; a page's own text has no id and no rule."""

    chain: tuple[str, ...]
    document_id: DocumentId | None = None
    rule: AccessRule | None = None

    @property
    def folder(self) -> str:
        return self.chain[-1].rpartition("/")[0]


def expand_embeds(
    path: str, markdown: str, find_page: Callable[[str, str], EmbeddedPage | None]
) -> Expansion:
    """Replace `![[page]]` and `![[page#heading]]` by what they show.

    Args:
        path: The embedding page.
        markdown: Its text as converted.
        find_page: The page a target names, seen from a folder; None when there is none.
    """
    expansion = Expansion()
    _expand(markdown, _Origin(chain=(path,)), find_page, expansion)
    return expansion


def _expand(
    markdown: str,
    origin: _Origin,
    find_page: Callable[[str, str], EmbeddedPage | None],
    expansion: Expansion,
) -> None:
    own: list[str] = []
    for text, target in _split_embeds(markdown):
        own.append(text)
        if not target:
            continue
        name, _, heading = target.partition("#")
        if not _is_page_name(name):
            own.append(f"![{name.rpartition('/')[2]}]({name.replace(' ', '%20')})")
            continue
        page = find_page(name, origin.folder) if name else None
        expansion.states.append(
            EmbedState(target=name, folder=origin.folder, state=page.state if page else "")
        )
        section, note = _read_section(page, heading, origin, expansion)
        if page is None or section is None:
            own.append(name or heading)
            expansion.notes.append(f"embedded page {target!r} {note}")
            continue
        _add_part(own, origin, expansion)
        own = []
        expansion.latest_ns = max(expansion.latest_ns, page.mtime_ns)
        inner = convert_markdown_text(section)
        rule = page.rule & origin.rule if origin.rule else page.rule
        included = _Origin(
            chain=(*origin.chain, page.path), document_id=page.document_id, rule=rule
        )
        _expand(inner.markdown, included, find_page, expansion)
    _add_part(own, origin, expansion)


def _read_section(
    page: EmbeddedPage | None, heading: str, origin: _Origin, expansion: Expansion
) -> tuple[str | None, str]:
    """Return the text to show, or None and why it is not shown."""
    if page is None:
        return None, "was not found in this folder"
    if page.path in origin.chain:
        return None, "embeds itself"
    if len(origin.chain) > _MAX_DEPTH or len(expansion.states) > _MAX_EMBEDS:
        return None, "is left out: too many pages embedded in one another"
    body = split_front_matter(page.text.replace("\r\n", "\n"))[1]
    if not heading:
        return body, ""
    return extract_section(body, heading), "has no such heading"


def _add_part(own: list[str], origin: _Origin, expansion: Expansion) -> None:
    markdown = "".join(own).strip("\n").rstrip()
    if markdown:
        part = BodyPart(
            markdown=markdown, included_from=origin.document_id, included_rule=origin.rule
        )
        expansion.parts.append(part)


def _split_embeds(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield text and the embed after it; the last text has none. Code is left alone."""
    if "![[" not in markdown:
        yield markdown, ""
        return
    pending = ""
    for block, is_code in split_code(markdown):
        for line in [block] if is_code else block.split("\n"):
            position = 0
            for match in [] if is_code else EMBED.finditer(line):
                if _is_in_code(line, match.start()):
                    continue
                yield pending + line[position : match.start()], match[1].strip()
                pending, position = "", match.end()
            pending += line[position:] + "\n"
    yield pending, ""


def _is_in_code(line: str, position: int) -> bool:
    return "`" in line and any(
        match.start() < position < match.end() for match in _INLINE_CODE.finditer(line)
    )


def _is_page_name(name: str) -> bool:
    """Tell a page's name from a picture's: a page has no extension, or that of a page."""
    last = name.rpartition("/")[2]
    return is_page(name) or not _EXTENSION.search(last)
