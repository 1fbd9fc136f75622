"""What a Word paragraph is: a heading and of which level, a list item, a line of the contents."""

import re
from dataclasses import dataclass, field

from lxml import etree

from connectors.files.office_xml import W, is_on

_HEADING = re.compile(r"(?:heading|标题|überschrift|titre|見出し)\s*([1-9])$", re.IGNORECASE)
_TITLE = re.compile(r"title$|标题$|文档标题$|书籍标题$", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|目录)\s*\d$|table of figures$|图表目录$", re.IGNORECASE)
_MAX_HEADING = 6
_MAX_DEPTH = 20
_MAX_BOLD_HEADING_CHARS = 40
_ENDINGS = tuple("。；;：:，,、.!?！？")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a paragraph is.

    Attributes:
        heading: Level from 1; 0 = none.
        number_id: The list it belongs to; empty = none.
    """

    heading: int = 0
    number_id: str = ""
    list_level: int = 0
    is_contents: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    name: str
    based_on: str
    outline: int | None
    number_id: str | None
    list_level: int | None
    is_bold: bool


@dataclass(slots=True)
class Styles:
    """The styles of a document.

    Attributes:
        guesses_headings: The document uses no heading style, so that short lines all in bold are
            its headings.
    """

    styles: dict[str, _Style] = field(default_factory=dict)
    guesses_headings: bool = False

    def find_look(self, paragraph: etree._Element) -> Look:
        """Tell what a paragraph is, from itself, then from its style and what that is based on."""
        properties = paragraph.find(f"{W}pPr")
        chain = self._find_chain(properties)
        if any(_CONTENTS.match(style.name) for style in chain):
            return Look(is_contents=True)
        number_id, level = _read_list(properties)
        for style in chain:
            number_id = style.number_id if number_id is None else number_id
            level = style.list_level if level is None else level
        heading = self._find_heading(properties, chain)
        if not heading and self.guesses_headings and not number_id:
            heading = 2 if self._is_bold_line(paragraph, chain) else 0
        return Look(
            heading=heading,
            number_id=number_id if number_id and number_id != "0" else "",
            list_level=level or 0,
        )

    def _find_chain(self, properties: etree._Element | None) -> list[_Style]:
        reference = properties.find(f"{W}pStyle") if properties is not None else None
        style_id = str(reference.get(f"{W}val")) if reference is not None else ""
        chain: list[_Style] = []
        while style_id in self.styles and len(chain) < _MAX_DEPTH:
            chain.append(self.styles[style_id])
            style_id = chain[-1].based_on
        return chain

    def _find_heading(self, properties: etree._Element | None, chain: list[_Style]) -> int:
        own = _read_outline(properties)
        for style in chain:
            match = _HEADING.match(style.name)
            if match:
                return min(int(match[1]), _MAX_HEADING)
            if _TITLE.match(style.name) and style is chain[0]:
                return 1
            own = style.outline if own is None else own
        return own + 1 if own is not None and own < _MAX_HEADING else 0

    def _is_bold_line(self, paragraph: etree._Element, chain: list[_Style]) -> bool:
        text = "".join(one.text or "" for one in paragraph.iter(f"{W}t")).strip()
        is_short = 1 < len(text) <= _MAX_BOLD_HEADING_CHARS and not text.endswith(_ENDINGS)
        if not is_short or paragraph.getparent().tag != f"{W}body":
            return False
        by_style = any(style.is_bold for style in chain)
        for run in paragraph.iter(f"{W}r"):
            words = "".join(one.text or "" for one in run.iter(f"{W}t"))
            bold = run.find(f"{W}rPr/{W}b")
            if words.strip() and not (is_on(bold) if bold is not None else by_style):
                return False
        return True


def parse_styles(root: etree._Element | None, body: etree._Element) -> Styles:
    """Read a document's styles, and whether its text uses those for headings."""
    styles = Styles()
    for one in root.iter(f"{W}style") if root is not None else ():
        properties = one.find(f"{W}pPr")
        number_id, level = _read_list(properties)
        based_on = one.find(f"{W}basedOn")
        name = one.find(f"{W}name")
        styles.styles[str(one.get(f"{W}styleId"))] = _Style(
            name=str(name.get(f"{W}val")) if name is not None else "",
            based_on=str(based_on.get(f"{W}val")) if based_on is not None else "",
            outline=_read_outline(properties),
            number_id=number_id,
            list_level=level,
            is_bold=is_on(one.find(f"{W}rPr/{W}b")),
        )
    headings = sum(1 for one in body.iter(f"{W}p") if styles.find_look(one).heading)
    styles.guesses_headings = headings <= 1
    return styles


def _read_list(properties: etree._Element | None) -> tuple[str | None, int | None]:
    numbers = properties.find(f"{W}numPr") if properties is not None else None
    if numbers is None:
        return None, None
    number, level = numbers.find(f"{W}numId"), numbers.find(f"{W}ilvl")
    depth = str(level.get(f"{W}val")) if level is not None else ""
    number_id = str(number.get(f"{W}val")) if number is not None else None
    return number_id, int(depth) if depth.isdecimal() else None


def _read_outline(properties: etree._Element | None) -> int | None:
    outline = properties.find(f"{W}outlineLvl") if properties is not None else None
    value = str(outline.get(f"{W}val")) if outline is not None else ""
    return int(value) if value.isdecimal() else None
