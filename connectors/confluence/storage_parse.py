"""Storage format to a tree of tags, with plain-text bodies exact to the character. Pure.

The format is neither HTML (it has CDATA) nor XML (its prefixes and entities are undeclared). The
sections of CDATA are taken out first, so that no parser can touch what is in them.
"""

import re
import warnings
from collections.abc import Iterator, Mapping

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, Tag

_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_WHOLE_CDATA = re.compile(r"\s*<!\[CDATA\[(?P<text>.*)\]\]>\s*", re.DOTALL)
_HOLDER = "zx-cdata"
_USER = re.compile(r"<ri:user\b[^>]*?\bri:(?:account-id|userkey|username)=\"([^\"]+)\"")
USER_KEYS = ("ri:account-id", "ri:userkey", "ri:username")


def parse_storage(body: str) -> tuple[BeautifulSoup, Mapping[int, str]]:
    """Return the tree and the text of its CDATA sections by number."""
    whole = _WHOLE_CDATA.fullmatch(body)
    if whole and "]]>" not in whole["text"]:
        body = whole["text"]
    sections: dict[int, str] = {}

    def take_out(match: re.Match[str]) -> str:
        sections[len(sections)] = match[1]
        return f'<{_HOLDER} n="{len(sections) - 1}"></{_HOLDER}>'

    without = _CDATA.sub(take_out, body)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        return BeautifulSoup(without, "html.parser"), sections


def read_plain(tag: Tag, sections: Mapping[int, str]) -> str:
    """Return the text of a plain-text body; sections that follow one another are joined."""
    parts: list[str] = []
    for child in tag.descendants:
        if isinstance(child, Tag):
            if child.name == _HOLDER:
                parts.append(sections.get(int(str(child.get("n") or "-1")), ""))
        elif str(child).strip():
            parts.append(str(child))
    return "".join(parts)


def is_section(tag: Tag) -> bool:
    """Tell whether a tag stands for a CDATA section."""
    return tag.name == _HOLDER


def find_parameter(macro: Tag, name: str) -> Tag | None:
    """Return a macro's own parameter, not one of a macro inside it."""
    for child in children_of(macro):
        if child.name == "ac:parameter" and str(child.get("ac:name") or "") == name:
            return child
        if child.name == "ac:default-parameter" and not name:
            return child
    return None


def get_parameter(macro: Tag, name: str) -> str:
    """Return a parameter's text on one line; empty when it is not set."""
    found = find_parameter(macro, name)
    return " ".join(found.get_text(" ").split()) if found is not None else ""


def find_child(tag: Tag, name: str) -> Tag | None:
    """Return the first child of that name."""
    return next((child for child in children_of(tag) if child.name == name), None)


def children_of(tag: Tag) -> Iterator[Tag]:
    """Yield the tags directly below a tag."""
    return (child for child in tag.children if isinstance(child, Tag))


def get_user(tag: Tag) -> str:
    """Return whom a `ri:user` names: an account id, a user key or a user name."""
    return next((str(tag[key]) for key in USER_KEYS if tag.get(key)), "")


def find_users(body: str) -> frozenset[str]:
    """Return everybody a body mentions, without parsing it."""
    return frozenset(_USER.findall(body))
