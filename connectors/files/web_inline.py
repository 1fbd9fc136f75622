"""Running text of HTML: emphasis, code, links, check boxes; what is hidden stays out. Pure."""

import re
from collections.abc import Callable, Mapping

from bs4 import CData, Tag
from bs4.element import NavigableString, PreformattedString

from connectors.files.converted import PageLink

_DROPPED = frozenset(
    {
        "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "nav",
        "footer", "aside", "button", "select", "dialog", "head", "audio", "video", "map",
    }
)  # fmt: skip
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")
_MARKS = {"strong": "**", "b": "**", "code": "`", "kbd": "`", "samp": "`", "del": "~~", "s": "~~"}


def is_dropped(tag: Tag) -> bool:
    """Tell whether readers of a page do not see a tag, or see it on every page."""
    if tag.name in _DROPPED or tag.has_attr("hidden") or tag.get("aria-hidden") == "true":
        return True
    return tag.get("role") in _ROLES or bool(_HIDDEN_STYLE.search(str(tag.get("style") or "")))


def write_children(tag: Tag, links: list[PageLink]) -> str:
    """Write what is in a tag on one line; forced breaks are vertical tabs."""
    return "".join(
        write_inline(child, links)
        for child in tag.children
        if not (isinstance(child, Tag) and is_dropped(child))
    )


def write_inline(node: object, links: list[PageLink]) -> str:
    """Write text or an inline tag, and collect the links to other pages in it."""
    if isinstance(node, NavigableString):
        is_text = not isinstance(node, PreformattedString) or isinstance(node, CData)
        return str(node).replace("\v", " ") if is_text else ""
    if not isinstance(node, Tag) or is_dropped(node):
        return ""
    writer = _WRITERS.get(node.name)
    return writer(node, links) if writer else _write_marked(node, write_children(node, links))


def _write_marked(tag: Tag, text: str) -> str:
    sign = _MARKS.get(tag.name, "")
    if not sign or not text.strip() or "\v" in text:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{sign}{text.strip()}{sign}{after}"


def _write_input(tag: Tag) -> str:
    if tag.get("type") in {"checkbox", "radio"}:
        return "[x] " if tag.has_attr("checked") else "[ ] "
    return ""


def _write_link(tag: Tag, links: list[PageLink]) -> str:
    text = write_children(tag, links)
    target = str(tag.get("href") or "")
    is_outside = target.startswith(("http://", "https://"))
    if is_outside and text.strip() not in {"", target} and not text.strip().startswith("["):
        return f"[{' '.join(text.split())}]({target})"
    path = target.partition("#")[0].partition("?")[0]
    if path and ":" not in path and not path.startswith("//"):
        links.append(PageLink(target=path, text=" ".join(text.split())))
    return text


def write_picture(tag: Tag) -> str:
    """Write what a picture is said to show; nothing where it is not said."""
    alt = " ".join(str(tag.get("alt") or "").split())
    return f"[{alt}]" if alt else ""


_WRITERS: Mapping[str, Callable[[Tag, list[PageLink]], str]] = {
    "a": _write_link,
    "br": lambda _tag, _links: "\v",
    "img": lambda tag, _links: write_picture(tag),
    "input": lambda tag, _links: _write_input(tag),
}
