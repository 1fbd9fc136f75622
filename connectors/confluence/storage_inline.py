"""Running text of the storage format: emphasis, links, mentions, images, dates. Pure."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from bs4 import Tag
from bs4.element import NavigableString, PreformattedString

from connectors.confluence.emoticons import write_emoticon
from connectors.confluence.storage_parse import (
    children_of,
    find_child,
    find_parameter,
    get_parameter,
    get_user,
    is_section,
    read_plain,
)
from connectors.confluence.storage_text import Findings, PageLink, PageRef
from connectors.files.web_inline import write_picture

_MARKS = {"strong": "**", "b": "**", "code": "`", "kbd": "`", "samp": "`", "tt": "`"}
_STRUCK = frozenset({"s", "del", "strike"})
_STRUCK_STYLE = re.compile(r"text-decoration[^;]*line-through")
_PAGE_ID = re.compile(r"(?:/pages/|[?&]pageId=)(\d+)")
_BREAK = "\v"
MACROS = frozenset({"ac:structured-macro", "ac:macro"})
_FILE_MACROS = frozenset({"view-file", "viewpdf", "viewdoc", "viewxls", "viewppt"})
# What configures the page and is never shown on it.
_DROPPED = frozenset(
    {
        "ac:parameter", "ac:default-parameter", "ac:placeholder", "ac:adf-attribute", "ac:adf-mark",
        "ac:task-id", "ac:task-uuid", "ac:task-status", "script", "style", "colgroup", "col",
    }
)  # fmt: skip


def write_children(tag: Tag, findings: Findings) -> str:
    """Write what is in a tag as running text; forced breaks are vertical tabs."""
    return "".join(write_inline(child, findings) for child in tag.children)


def write_inline(node: object, findings: Findings) -> str:
    """Write one node as running text."""
    if isinstance(node, Tag):
        return "" if node.name in _DROPPED else _write_tag(node, findings)
    is_text = isinstance(node, NavigableString) and not isinstance(node, PreformattedString)
    return str(node) if is_text else ""


def _write_tag(tag: Tag, findings: Findings) -> str:
    if is_section(tag):
        return read_plain(tag, findings.sections)
    if writer := _WRITERS.get(tag.name):
        return writer(tag, findings)
    text = write_children(tag, findings)
    if tag.name in _STRUCK or _STRUCK_STYLE.search(str(tag.get("style") or "")):
        return wrap(text, "~~")
    return wrap(text, _MARKS.get(tag.name, ""))


def wrap(text: str, sign: str) -> str:
    """Put a sign around a text, inside its blanks; text over several lines stays as it is."""
    if not sign or not text.strip() or (sign == "`" and (_BREAK in text or "`" in text)):
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    inner = text.strip()
    if inner.startswith(sign) and inner.endswith(sign):
        return text
    lines = (f"{sign}{line.strip()}{sign}" if line.strip() else "" for line in inner.split(_BREAK))
    return f"{before}{_BREAK.join(lines)}{after}"


def fold(text: str) -> str:
    """Fold white space as a browser does; forced breaks become lines."""
    lines = (" ".join(line.split()) for line in text.split(_BREAK))
    return "\n".join(line for line in lines if line)


def read_page(tag: Tag) -> PageRef | None:
    """Return the page a `ri:page`, `ri:blog-post` or `ri:content-entity` names; None if another."""
    if tag.name == "ri:content-entity":
        return PageRef(page_id=str(tag.get("ri:content-id") or ""))
    title = str(tag.get("ri:content-title") or "")
    if tag.name not in {"ri:page", "ri:blog-post"} or title.startswith("@"):
        return None
    space = str(tag.get("ri:space-key") or "")
    return PageRef(
        title=title,
        space="" if space.startswith("currentSpace") else space,
        is_blog=tag.name == "ri:blog-post",
    )


def _write_link(tag: Tag, findings: Findings) -> str:
    text = fold(_write_link_body(tag, findings))
    for child in children_of(tag):
        match child.name:
            case "ri:user":
                name = findings.context.names.get(get_user(child), "")
                return text or f"@{name or '?'}"
            case "ri:attachment":
                name = _note_file(child, findings)
                return text or name
            case "ri:page" | "ri:blog-post" | "ri:content-entity":
                return _write_page_link(child, text, findings)
            case "ri:url":
                return _write_address(str(child.get("ri:value") or ""), text)
            case "ri:space":
                return text or str(child.get("ri:space-key") or "")
    return text or str(tag.get("ac:anchor") or "")


def _write_page_link(page: Tag, text: str, findings: Findings) -> str:
    ref = read_page(page)
    if ref is None:
        is_self = page.get("ri:content-title") == "@self"
        return text or (findings.context.title if is_self else "")
    findings.links.append(PageLink(page=ref, text=text or ref.title))
    return text or ref.title


def _write_link_body(tag: Tag, findings: Findings) -> str:
    plain = find_child(tag, "ac:plain-text-link-body")
    if plain is not None:
        return read_plain(plain, findings.sections)
    body = find_child(tag, "ac:link-body")
    return write_children(body, findings) if body is not None else ""


def _write_anchor(tag: Tag, findings: Findings) -> str:
    text, target = write_children(tag, findings), str(tag.get("href") or "")
    is_ours = target.startswith("/") or (
        findings.context.site and target.startswith(findings.context.site)
    )
    if is_ours and (match := _PAGE_ID.search(target)):
        title = unquote(target.rpartition("/")[2].partition("?")[0]).replace("+", " ")
        shown = fold(text)
        if not shown or shown == target:
            text = "" if title.isdecimal() else title
        findings.links.append(PageLink(page=PageRef(page_id=match[1]), text=fold(text)))
        return text
    return _write_address(target, text)


def _write_address(target: str, text: str) -> str:
    shown = " ".join(text.split())
    if not target.startswith(("http://", "https://")):
        return text
    if shown in {"", target}:
        return target
    # A link within a link, or around an image, keeps its inner text alone.
    return shown if shown.startswith("[") or "](" in shown else f"[{shown}]({target})"


def _write_image(tag: Tag, findings: Findings) -> str:
    file = find_child(tag, "ri:attachment")
    name = _note_file(file, findings) if file is not None else ""
    caption = find_child(tag, "ac:caption")
    shown = fold(write_children(caption, findings)) if caption is not None else ""
    alt = " ".join(str(tag.get("ac:alt") or "").split())
    said = [text for text in dict.fromkeys((alt, shown)) if text]
    label = ": ".join(said) or " ".join(str(tag.get("ac:title") or "").split()) or name
    return f"[{label}]" if label else ""


def _note_file(tag: Tag, findings: Findings) -> str:
    name = str(tag.get("ri:filename") or "")
    if name:
        findings.files.append(name)
    return name


def _write_time(tag: Tag, findings: Findings) -> str:
    return str(tag.get("datetime") or "") or write_children(tag, findings)


def _write_superscript(tag: Tag, findings: Findings) -> str:
    text = write_children(tag, findings)
    return f"^{text}" if re.fullmatch(r"[-+]?\w{1,3}", text) else text


def _write_macro(tag: Tag, findings: Findings) -> str:
    """Write a macro within a sentence: its body, or the one parameter that is shown."""
    name = str(tag.get("ac:name") or "")
    if findings.is_for_some(name):
        return ""
    if name in {"status", "mathinline", "jira"}:
        return _write_shown_parameter(tag, name)
    if name in _FILE_MACROS:
        parameter = find_parameter(tag, "name")
        file = parameter.find("ri:attachment") if parameter is not None else None
        return f"[{_note_file(file, findings)}]" if isinstance(file, Tag) else ""
    return _write_macro_body(tag, findings)


def _write_macro_body(tag: Tag, findings: Findings) -> str:
    body = find_child(tag, "ac:rich-text-body")
    if body is not None:
        return write_children(body, findings)
    plain = find_child(tag, "ac:plain-text-body")
    return wrap(read_plain(plain, findings.sections), "`") if plain is not None else ""


def _write_shown_parameter(tag: Tag, name: str) -> str:
    if name == "jira":
        return get_parameter(tag, "key") or get_parameter(tag, "jqlQuery")
    if name == "status":
        return get_parameter(tag, "title")
    return f"${get_parameter(tag, 'body')}$"


_WRITERS: Mapping[str, Callable[[Tag, Findings], str]] = {
    "a": _write_anchor,
    "br": lambda _tag, _findings: _BREAK,
    "img": lambda tag, _findings: write_picture(tag),
    "sup": _write_superscript,
    "time": _write_time,
    "ac:emoticon": lambda tag, _findings: write_emoticon(tag),
    "ac:image": _write_image,
    "ac:link": _write_link,
    "ac:macro": _write_macro,
    "ac:structured-macro": _write_macro,
}
