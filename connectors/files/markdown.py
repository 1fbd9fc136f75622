"""Markdown pages, Obsidian's dialect included, to the plain Markdown that is chunked. Pure.

Works line by line and never touches fenced code. Embeds stay where they are as `![[...]]`: only
the vault knows what they name.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from connectors.files.converted import Converted, Job, PageLink
from connectors.files.frontmatter import FrontMatter, split_front_matter
from connectors.files.text import decode_text
from connectors.files.web_page import convert_html_tables

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_HIDDEN = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_WIKILINK = re.compile(r"(?<!!)\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]*)\]\(\s*<?([^()<>\s]+?)>?(?:\s+[\"'][^\n]*?[\"'])?\s*\)")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s#.,;:!?()\[\]{}'\"`<>|，。；：！？（）【】、]+)")
_COLOUR = re.compile(r"(?:[0-9a-fA-F]{3,4}){1,2}")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$")
_CALLOUT = re.compile(r"^((?:[ \t]*>)+[ \t]*)\[!([\w-]+)\][+-]?[ \t]*(.*)$")
_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]+?)(?<=\S)==")
_BREAK = re.compile(r"<br\s*/?>|</li>\s*<li[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(
    r"</?(?:a|b|center|div|em|font|i|li|ol|p|small|span|strong|sub|sup|u|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"(`+)(?:.+?)\1")


def convert_markdown(job: Job) -> Converted:
    """Convert a Markdown file."""
    decoded = decode_text(job.data, job.name)
    converted = convert_markdown_text(decoded.text)
    if decoded.note:
        converted = replace(converted, notes=(*converted.notes, decoded.note))
    return converted


def convert_markdown_text(text: str) -> Converted:
    """Convert a page's text; see `Converted` for what is taken from its front matter."""
    front, body = split_front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    links: list[PageLink] = []
    tags = dict.fromkeys(front.tags)
    lines: list[str] = []
    for block, is_code in split_code(_drop_hidden(body)):
        if is_code:
            lines.append(block)
            continue
        plain = convert_html_tables(block) if "<table" in block else block
        lines.extend(_clean_line(line, links, tags) for line in _join_setext(plain.split("\n")))
    title, markdown = take_title(front.title, "\n".join(lines))
    # Site generators keep old addresses there; those are no names.
    aliases = [alias for alias in front.aliases if "/" not in alias]
    if aliases:
        markdown = f"Aliases: {', '.join(aliases)}\n\n{markdown.lstrip()}"
    return _describe(front, title, markdown.strip("\n"), tuple(tags), tuple(dict.fromkeys(links)))


def _describe(
    front: FrontMatter,
    title: str,
    markdown: str,
    tags: tuple[str, ...],
    links: tuple[PageLink, ...],
) -> Converted:
    return Converted(
        markdown=markdown,
        title=title,
        author=front.author,
        labels=tags,
        at=front.at,
        version=int(front.version) if front.version.isdecimal() else 0,
        version_label=front.version,
        is_archived=front.is_archived,
        links=links,
        notes=front.notes,
    )


def split_code(text: str) -> Iterator[tuple[str, bool]]:
    """Split into runs of lines; True = a fenced code block, its fences included."""
    run: list[str] = []
    fence = ""
    for line in text.split("\n"):
        match = FENCE.match(line) if "`" in line or "~" in line else None
        if fence:
            run.append(line)
            if match and match[1].startswith(fence) and not line.strip().strip(fence[0]):
                yield "\n".join(run), True
                run, fence = [], ""
        elif match:
            if run:
                yield "\n".join(run), False
            run, fence = [line], match[1]
        else:
            run.append(line)
    if run:
        yield "\n".join(run), bool(fence)


def take_title(title: str, markdown: str) -> tuple[str, str]:
    """Return the page's title and its text without the heading that only repeats it.

    The title is the one given, else the first heading of level one. That heading is taken out
    when it stands before any text and says the same.
    """
    has_text = False
    for block, is_code in split_code(markdown):
        for line in [block] if is_code else block.split("\n"):
            match = None if is_code else HEADING.match(line)
            heading = _strip_marks(match[2]) if match and len(match[1]) == 1 else ""
            if not heading:
                has_text = has_text or bool(line.strip())
            elif has_text or (title and heading.casefold() != title.casefold()):
                return title or heading, markdown
            else:
                before, _, after = markdown.partition(line)
                return title or heading, before + after.lstrip("\n")
            if has_text and title:
                return title, markdown
    return title, markdown


def _drop_hidden(text: str) -> str:
    """Take out comments, which readers of the page don't see either; not inside code."""
    if "<!--" not in text and "%%" not in text:
        return text
    return "\n".join(
        block if is_code else _HIDDEN.sub("", block) for block, is_code in split_code(text)
    )


def _join_setext(lines: Iterable[str]) -> Iterator[str]:
    """Turn underlined headings into marked ones."""
    pending: str | None = None
    before = ""
    for line in lines:
        match = _SETEXT.match(line)
        if match and pending and _may_be_heading(pending) and not before.strip():
            yield f"{'#' if match[1][0] == '=' else '##'} {pending.strip()}"
            before, pending = "", None
            continue
        if pending is not None:
            yield pending
            before = pending
        pending = line
    if pending is not None:
        yield pending


def _may_be_heading(line: str) -> bool:
    text = line.strip()
    return (
        bool(text)
        and not text.startswith(("#", ">", "-", "*", "+", "|", "`", "~"))
        and "|" not in text
    )


def _clean_line(line: str, links: list[PageLink], tags: dict[str, None]) -> str:
    if not line or line.isspace():
        return ""
    if "[" in line or "#" in line or "<" in line or "==" in line or "^" in line:
        code = list(_INLINE_CODE.finditer(line)) if "`" in line else []
        if not code:
            return _clean_text(line, links, tags)
        return _clean_around(line, code, links, tags)
    return line


def _clean_around(
    line: str, code: list[re.Match[str]], links: list[PageLink], tags: dict[str, None]
) -> str:
    """Clean what stands around inline code, which is left as it is."""
    held = [match.group() for match in code]
    masked = _INLINE_CODE.sub("\x00", line)
    pieces = _clean_text(masked, links, tags).split("\x00")
    if len(pieces) != len(held) + 1:
        return line
    return "".join(piece + code for piece, code in zip(pieces, [*held, ""], strict=True))


def _clean_text(line: str, links: list[PageLink], tags: dict[str, None]) -> str:
    if "<" in line:
        line = _TAGS.sub("", _BREAK.sub("; " if "|" in line else "  ", line))
    if "[" in line:
        line = _CALLOUT.sub(_write_callout, line)
        line = _WIKILINK.sub(lambda match: _write_wikilink(match, links), line)
        for match in _LINK.finditer(line):
            target = match[2].partition("#")[0]
            if target and "://" not in target and not target.startswith(("mailto:", "//")):
                links.append(PageLink(target=target, text=match[1].strip()))
    if "#" in line:
        for match in _TAG.finditer(line):
            if not match[1].isdecimal() and not _COLOUR.fullmatch(match[1]):
                tags.setdefault(match[1].strip("/"))
    if "==" in line:
        line = _HIGHLIGHT.sub(r"\1", line)
    return _BLOCK_ID.sub("", line) if "^" in line else line


def _write_wikilink(match: re.Match[str], links: list[PageLink]) -> str:
    page, _, heading = match[1].strip().partition("#")
    heading = heading.strip().lstrip("^#")
    shown = (match[2] or "").strip()
    if not shown:
        name = page.rpartition("/")[2].removesuffix(".md").strip()
        shown = f"{name} > {heading}" if name and heading else name or heading
    if page.strip():
        links.append(PageLink(target=page.strip(), text=shown))
    return shown


def _write_callout(match: re.Match[str]) -> str:
    title = match[3].strip() or match[2].capitalize()
    return f"{match[1]}**{title}**"


def _strip_marks(heading: str) -> str:
    """Return a heading's words: no emphasis, code marks, links or `{#anchor}`."""
    text = re.sub(r"\s*\{#[^}]*\}\s*$", "", heading)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"(\*\*|__|`|(?<!\w)[*_]|[*_](?!\w))", "", text).split())
