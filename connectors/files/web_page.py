"""HTML to Markdown: headings, lists, tables, code; no navigation, scripts or hidden text. Pure."""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag

from connectors.files.converted import Converted, Job, PageLink, clean_author, clean_title
from connectors.files.tables import build_grid, write_table
from connectors.files.text import decode_text
from connectors.files.web_cell import build_cell
from connectors.files.web_inline import is_dropped, write_children, write_inline
from knowledge.markdown.blocks import indent_lines, join_item

_BLOCKS = frozenset(
    {
        "address", "article", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html",
        "legend", "li", "main", "ol", "p", "pre", "section", "summary", "table", "ul", "center",
    }
)  # fmt: skip
_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_TABLE = re.compile(r"<table\b.*?</table\s*>", re.DOTALL | re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:?\s*)[-:]?([\w+#]+)")


def convert_html(job: Job) -> Converted:
    """Convert a web page."""
    text, notes = _decode(job)
    soup = _parse(text)
    root = soup.find("main") or soup.find("article") or soup.body or soup
    if not isinstance(root, Tag):
        root = soup
    links: list[PageLink] = []
    markdown = "\n\n".join(_write_blocks(root, links))
    heading = soup.find("h1")
    title = clean_title(soup.title.get_text() if soup.title else "", job.name)
    first = " ".join(heading.get_text(" ").split()) if isinstance(heading, Tag) else ""
    if first and (not title or title.casefold().startswith(first.casefold())):
        title = first
    return Converted(
        markdown=_drop_title(markdown, title),
        title=title,
        author=clean_author(_find_meta(soup, "author")),
        labels=tuple(
            word.strip()
            for word in re.split(r"[,，;]", _find_meta(soup, "keywords"))
            if word.strip()
        ),
        links=tuple(dict.fromkeys(links)),
        notes=notes,
    )


def html_to_markdown(html: str) -> str:
    """Convert a piece of HTML, without looking for a title."""
    return "\n\n".join(_write_blocks(_parse(html), []))


def convert_html_tables(markdown: str) -> str:
    """Replace HTML tables inside Markdown by Markdown tables."""
    return _TABLE.sub(lambda match: "\n" + html_to_markdown(match.group()) + "\n", markdown)


def _parse(html: str) -> BeautifulSoup:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        return BeautifulSoup(html, "lxml")


def _decode(job: Job) -> tuple[str, tuple[str, ...]]:
    match = _META_CHARSET.search(job.data[:4096])
    if match and not job.data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        name = match[1].decode("ascii").lower()
        encoding = "gb18030" if name in {"gb2312", "gbk", "gb_2312-80"} else name
        try:
            return job.data.decode(encoding), ()
        except (LookupError, UnicodeDecodeError):
            pass  # the page says one thing and is another; the bytes decide
    decoded = decode_text(job.data, job.name)
    return decoded.text, (decoded.note,) if decoded.note else ()


def _find_meta(soup: BeautifulSoup, name: str) -> str:
    tag = soup.find("meta", attrs={"name": re.compile(f"^{name}$", re.IGNORECASE)})
    return str(tag.get("content") or "") if isinstance(tag, Tag) else ""


def _drop_title(markdown: str, title: str) -> str:
    first, _, rest = markdown.partition("\n")
    is_title = first.startswith("# ") and first[2:].strip().casefold() == title.casefold()
    return rest.lstrip("\n") if title and is_title else markdown


def _write_blocks(tag: Tag, links: list[PageLink]) -> Iterator[str]:
    """Yield the blocks below a tag; runs of inline content between blocks are paragraphs."""
    inline: list[str] = []
    for child in tag.children:
        if isinstance(child, Tag) and is_dropped(child):
            continue
        if isinstance(child, Tag) and _holds_blocks(child):
            yield from _flush(inline)
            yield from _write_block(child, links)
        else:
            inline.append(write_inline(child, links))
    yield from _flush(inline)


def _holds_blocks(tag: Tag) -> bool:
    return tag.name in _BLOCKS or (
        tag.name not in {"a", "code", "kbd"} and tag.find(list(_BLOCKS)) is not None
    )


def _flush(inline: list[str]) -> Iterator[str]:
    text = _collapse("".join(inline))
    inline.clear()
    if text:
        yield text


def _collapse(text: str) -> str:
    """Fold white space as a browser does; forced breaks stay."""
    lines = (" ".join(line.split()) for line in text.split("\v"))
    return "\n".join(line for line in lines if line)


def _write_block(tag: Tag, links: list[PageLink]) -> Iterator[str]:
    name = tag.name
    if name in _SPECIAL:
        yield from _SPECIAL[name](tag, links)
    elif re.fullmatch(r"h[1-6]", name):
        text = " ".join(_collapse(write_children(tag, links)).split())
        if text:
            yield f"{'#' * int(name[1])} {text}"
    else:
        yield from _write_blocks(tag, links)


def _write_pre(tag: Tag, _links: list[PageLink]) -> Iterator[str]:
    for line_break in tag.find_all("br"):
        line_break.replace_with("\n")
    text = tag.get_text().strip("\n")
    if not text.strip():
        return
    code = tag.find("code")
    classes = " ".join(
        str(value)
        for one in (tag, code)
        if isinstance(one, Tag)
        for value in one.get("class") or ()
    )
    language = _LANGUAGE.search(classes)
    fence = "````" if "```" in text else "```"
    yield f"{fence}{language[1] if language else ''}\n{text}\n{fence}"


def _write_quote(tag: Tag, links: list[PageLink]) -> Iterator[str]:
    text = "\n\n".join(_write_blocks(tag, links))
    if text:
        yield "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _write_list(tag: Tag, links: list[PageLink]) -> Iterator[str]:
    items: list[str] = []
    start = str(tag.get("start") or "1")
    number = int(start) if start.isdecimal() else 1
    for child in tag.find_all(recursive=False):
        if is_dropped(child):
            continue
        if child.name in {"ul", "ol"} and items:
            items[-1] += "\n" + indent_lines("\n".join(_write_list(child, links)))
            continue
        mark = f"{number}. " if tag.name == "ol" else "- "
        blocks = list(_write_blocks(child, links))
        text = join_item(blocks)
        if text:
            items.append(mark + indent_lines(text, len(mark)).lstrip())
            number += 1
    if items:
        yield "\n".join(items)


def _write_definitions(tag: Tag, links: list[PageLink]) -> Iterator[str]:
    for child in tag.find_all(["dt", "dd"]):
        text = _collapse(write_children(child, links))
        if text:
            yield f"**{text}**" if child.name == "dt" else text


def _write_table(tag: Tag, links: list[PageLink]) -> Iterator[str]:
    """Write a table; one that only lays out the page, or holds another one, is taken apart."""
    rows = [row for row in tag.find_all("tr") if row.find_parent("table") is tag]
    caption = tag.find("caption")
    if isinstance(caption, Tag) and caption.get_text(strip=True):
        yield _collapse(write_children(caption, links))
    cells = [list(row.find_all(["td", "th"], recursive=False)) for row in rows]
    widest = max((len(row) for row in cells), default=0)
    if widest <= 1:
        for row in cells:
            for cell in row:
                yield from _write_blocks(cell, links)
        return
    grid = build_grid([[build_cell(cell, _flatten(cell, links)) for cell in row] for row in cells])
    header = grid.header_rows or (1 if len(grid.rows) > 1 else 0)
    table = write_table(grid.rows, header)
    if table:
        yield table


def _flatten(cell: Tag, links: list[PageLink]) -> str:
    """Write a cell on one line: items and paragraphs separated, a table row by row."""
    parts: list[str] = []
    for block in _write_blocks(cell, links):
        is_lines = block.startswith(("- ", "|", "```", ">")) or block[:1].isdigit()
        for line in block.split("\n") if is_lines else [" ".join(block.split())]:
            text = re.sub(r"^(#+|-|>|```\w*)(\s+|$)", "", line.strip())
            if text.startswith("|"):
                text = " ".join(
                    text.replace("---", "").replace("\\|", "/").replace("|", " ").split()
                )
            if text:
                parts.append(text)
    return "; ".join(parts)


_SPECIAL: Mapping[str, Callable[[Tag, list[PageLink]], Iterator[str]]] = {
    "pre": _write_pre,
    "blockquote": _write_quote,
    "ul": _write_list,
    "ol": _write_list,
    "dl": _write_definitions,
    "table": _write_table,
    "hr": lambda _tag, _links: iter(()),
}
