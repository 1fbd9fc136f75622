"""The words of a Word paragraph: fields, check boxes, formulas; no deleted or hidden text."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from connectors.files.office_xml import MC, W14, M, R, W, is_on

# Private characters of the symbol fonts that stand for a check box or a bullet.
_SYMBOLS = {
    "F0FE": "[x]", "F052": "[x]", "F053": "[x]", "F0FD": "[x]", "F0A8": "[ ]", "F06F": "[ ]",
    "F0A3": "[ ]", "F0FC": "✓", "F0FB": "✗", "F0D8": "➢", "F0B7": "•", "F0A7": "▪", "F0E0": "→",
}  # fmt: skip
_BOXES = {"☐": "[ ]", "☑": "[x]", "☒": "[x]"}
_PLAIN = {
    f"{W}tab": " ", f"{W}noBreakHyphen": "-", f"{W}cr": "\n", f"{W}softHyphen": "", f"{W}ptab": " ",
}  # fmt: skip
_DROPPED = frozenset({f"{W}del", f"{W}moveFrom", f"{W}rt", f"{W}pPr", f"{W}rPr", f"{W}instrText"})


@dataclass(slots=True)
class Inline:
    """A paragraph's text, with what hangs on it.

    Attributes:
        boxes: Contents of text boxes anchored here.
        charts: Relation ids of charts shown here.
        notes: Ids of footnotes and endnotes referred to, such as `foot:2`.
    """

    text: str = ""
    boxes: list[etree._Element] = field(default_factory=list)
    charts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_inline(paragraph: etree._Element, relations: Mapping[str, tuple[str, bool]]) -> Inline:
    """Read a paragraph's text."""
    inline = Inline()
    inline.text = "".join(_read(paragraph, inline, relations))
    return inline


def _read(
    parent: etree._Element, inline: Inline, relations: Mapping[str, tuple[str, bool]]
) -> Iterator[str]:
    for child in parent:
        tag = child.tag
        if not isinstance(tag, str) or tag in _DROPPED:
            continue
        if tag == f"{W}r":
            if not is_on(child.find(f"{W}rPr/{W}vanish")):
                yield from _read(child, inline, relations)
        elif tag == f"{W}t":
            yield child.text or ""
        elif tag in _PLAIN:
            yield _PLAIN[tag]
        elif tag == f"{W}hyperlink":
            yield _read_link(child, inline, relations)
        elif tag == f"{W}sdt":
            yield from _read_control(child, inline, relations)
        else:
            yield from _read_rare(child, tag, inline, relations)


def _read_rare(
    child: etree._Element, tag: str, inline: Inline, relations: Mapping[str, tuple[str, bool]]
) -> Iterator[str]:
    if tag == f"{W}br":
        yield "" if child.get(f"{W}type") in {"page", "column"} else "\n"
    elif tag == f"{W}sym":
        yield _SYMBOLS.get(str(child.get(f"{W}char") or "").upper(), "")
    elif tag == f"{W}fldChar":
        yield _read_form_box(child)
    elif tag in {f"{W}footnoteReference", f"{W}endnoteReference"}:
        kind = "foot" if tag.endswith("footnoteReference") else "end"
        inline.notes.append(f"{kind}:{child.get(f'{W}id')}")
        yield f"[^{len(inline.notes)}]"
    elif tag in {f"{M}oMath", f"{M}oMathPara"}:
        yield write_formula(child)
    elif tag == f"{MC}AlternateContent":
        # Both branches hold the same text, for programs of different age.
        choice = child.find(f"{MC}Choice")
        branch = choice if choice is not None else child.find(f"{MC}Fallback")
        if branch is not None:
            yield from _read(branch, inline, relations)
    elif tag in {f"{W}drawing", f"{W}pict", f"{W}object"}:
        _collect_drawing(child, inline)
    else:
        yield from _read(child, inline, relations)


def _read_link(
    link: etree._Element, inline: Inline, relations: Mapping[str, tuple[str, bool]]
) -> str:
    text = "".join(_read(link, inline, relations))
    target, is_outside = relations.get(str(link.get(f"{R}id")), ("", False))
    if (
        is_outside
        and target.startswith(("http://", "https://"))
        and text.strip() not in {"", target}
    ):
        return f"[{text.strip()}]({target})"
    return text


def _read_control(
    control: etree._Element, inline: Inline, relations: Mapping[str, tuple[str, bool]]
) -> Iterator[str]:
    box = control.find(f"{W}sdtPr/{W14}checkbox")
    if box is not None:
        checked = box.find(f"{W14}checked")
        is_checked = checked is not None and checked.get(f"{W14}val") in {"1", "true", "on"}
        yield "[x] " if is_checked else "[ ] "
        return
    content = control.find(f"{W}sdtContent")
    if content is not None and control.find(f"{W}sdtPr/{W}showingPlcHdr") is None:
        yield from _read(content, inline, relations)


def _read_form_box(character: etree._Element) -> str:
    box = character.find(f"{W}ffData/{W}checkBox")
    if box is None:
        return ""
    state = box.find(f"{W}checked")
    return "[x] " if is_on(state if state is not None else box.find(f"{W}default")) else "[ ] "


def _collect_drawing(drawing: etree._Element, inline: Inline) -> None:
    for element in drawing.iter():
        if element.tag == f"{W}txbxContent":
            if not any(one.tag == f"{W}txbxContent" for one in _ancestors(element, drawing)):
                inline.boxes.append(element)
        elif isinstance(element.tag, str) and element.tag.endswith("/chart}chart"):
            inline.charts.append(str(element.get(f"{R}id") or ""))


def _ancestors(element: etree._Element, top: etree._Element) -> Iterator[etree._Element]:
    parent = element.getparent()
    while parent is not None and parent is not top:
        yield parent
        parent = parent.getparent()


def unify_boxes(text: str) -> str:
    """Write check boxes drawn as characters in one form."""
    for sign, written in _BOXES.items():
        text = text.replace(sign, written)
    return text


def write_formula(element: etree._Element) -> str:
    """Write a formula on one line, as one would type it."""
    return "".join(_write_math(child) for child in element if isinstance(child.tag, str))


def _write_math(element: etree._Element) -> str:
    name = etree.QName(element).localname
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):
        return ""
    writer = _MATH.get(name)
    return writer(element) if writer else write_formula(element)


def _part(element: etree._Element, name: str) -> str:
    found = element.find(f"{M}{name}")
    return write_formula(found) if found is not None else ""


def _write_scripts(element: etree._Element) -> str:
    lower, upper = _part(element, "sub"), _part(element, "sup")
    below = f"_{_group(lower)}" if lower else ""
    return _part(element, "e") + below + (f"^{_group(upper)}" if upper else "")


def _write_sum(element: etree._Element) -> str:
    sign = element.find(f"{M}naryPr/{M}chr")
    lower, upper = _part(element, "sub"), _part(element, "sup")
    bounds = (f"_{_group(lower)}" if lower else "") + (f"^{_group(upper)}" if upper else "")
    return f"{sign.get(f'{M}val') if sign is not None else '∫'}{bounds} {_part(element, 'e')}"


_MATH: Mapping[str, Callable[[etree._Element], str]] = {
    "f": lambda one: f"({_part(one, 'num')})/({_part(one, 'den')})",
    "sSup": _write_scripts,
    "sSub": _write_scripts,
    "sSubSup": _write_scripts,
    "rad": lambda one: f"{_part(one, 'deg')}√({_part(one, 'e')})",
    "nary": _write_sum,
    "d": lambda one: f"({', '.join(write_formula(part) for part in one.findall(f'{M}e'))})",
    "func": lambda one: f"{_part(one, 'fName')} {_part(one, 'e')}",
}


def _group(text: str) -> str:
    return text if len(text) <= 1 else f"({text})"
