"""What changed between two texts, word by word, Chinese and English. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from typing import Literal

import rjieba

from knowledge.page_versions import SectionText

Operation = Literal["same", "removed", "added"]
Change = Literal["changed", "added", "removed"]

# Numbers stay whole, words stay whole, Chinese is cut into words below.
_TOKEN = re.compile(r"[\u3400-\u9fff]+|\d+(?:[.,:]\d+)*%?|[^\W\d_\u3400-\u9fff]+|\s+|.", re.DOTALL)
_HAN = re.compile(r"[\u3400-\u9fff]")
# Characters left and right of a change that are shown with it.
_CONTEXT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A run of text that stayed, went or came."""

    operation: Operation
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionDiff:
    """What became of the text under one heading.

    Attributes:
        spans: The whole text of both versions, in order.
    """

    heading_path: tuple[str, ...]
    change: Change
    spans: tuple[Span, ...]

    def render(self) -> str:
        """Return the changed lines, removals as `[-…-]` and additions as `{+…+}`."""
        marked = "".join(_mark(span) for span in self.spans)
        if self.change != "changed":
            return marked
        lines = (line for line in marked.split("\n") if "[-" in line or "{+" in line)
        return "\n".join(map(_shorten, lines))


def diff_sections(old: Sequence[SectionText], new: Sequence[SectionText]) -> list[SectionDiff]:
    """Compare two versions heading by heading.

    Returns:
        Sections that differ, in the order of the new version; removed ones come last.
    """
    before = {one.heading_path: one.text for one in old}
    after = {one.heading_path: one.text for one in new}
    found = []
    for path in [*after, *(path for path in before if path not in after)]:
        one, other = before.get(path), after.get(path)
        if one == other:
            continue
        change: Change = "added" if one is None else "removed" if other is None else "changed"
        spans = tuple(diff_words(one or "", other or ""))
        found.append(SectionDiff(heading_path=path, change=change, spans=spans))
    return found


def diff_unified(
    old: Sequence[SectionText], new: Sequence[SectionText], *, old_name: str, new_name: str
) -> str:
    """Compare two versions line by line, in the form of `diff -u`; empty when they are equal."""
    lines = unified_diff(
        _to_lines(old), _to_lines(new), fromfile=old_name, tofile=new_name, lineterm=""
    )
    return "\n".join(lines)


def diff_words(old: str, new: str) -> Iterator[Span]:
    """Yield what stayed, went and came, in order; joined by operation they give both texts."""
    spans: list[Span] = []
    for tag, some, others in _match(old.splitlines(keepends=True), new.splitlines(keepends=True)):
        if tag == "equal":
            spans.append(Span(operation="same", text="".join(some)))
        else:
            spans += _diff_lines("".join(some), "".join(others))
    yield from _join(spans)


def _diff_lines(old: str, new: str) -> Iterator[Span]:
    for tag, some, others in _match(_cut(old), _cut(new)):
        if tag == "equal":
            yield Span(operation="same", text="".join(some))
            continue
        if some:
            yield Span(operation="removed", text="".join(some))
        if others:
            yield Span(operation="added", text="".join(others))


def _match(
    old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        yield tag, old[i:j], new[k:m]


def _cut(text: str) -> list[str]:
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        tokens += rjieba.cut(token) if _HAN.match(token) else [token]
    return tokens


def _join(spans: Sequence[Span]) -> Iterator[Span]:
    """Join neighbours of one operation."""
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].operation == span.operation:
            joined[-1] = Span(operation=span.operation, text=joined[-1].text + span.text)
        else:
            joined.append(span)
    yield from joined


def _mark(span: Span) -> str:
    match span.operation:
        case "same":
            return span.text
        case "removed":
            return _wrap(span.text, "[-", "-]")
        case "added":
            return _wrap(span.text, "{+", "+}")


def _wrap(text: str, start: str, end: str) -> str:
    # Each line carries its own marks, so that changed lines can be shown alone.
    return "\n".join(f"{start}{line}{end}" if line else "" for line in text.split("\n"))


def _shorten(line: str) -> str:
    """Leave out what stands far from any change of a long line."""
    parts = re.split(r"(\[-.*?-\]|\{\+.*?\+\})", line)
    last = len(parts) - 1
    return "".join(
        part if place % 2 else _cut_context(part, is_first=place == 0, is_last=place == last)
        for place, part in enumerate(parts)
    )


def _cut_context(text: str, *, is_first: bool, is_last: bool) -> str:
    if len(text) <= 2 * _CONTEXT + 1:
        return text
    head = "" if is_first else text[:_CONTEXT]
    tail = "" if is_last else text[-_CONTEXT:]
    return f"{head}…{tail}"


def _to_lines(sections: Sequence[SectionText]) -> list[str]:
    lines: list[str] = []
    for one in sections:
        if one.heading_path:
            lines.append(f"{'#' * min(len(one.heading_path), 6)} {' › '.join(one.heading_path)}")
        lines += [*one.text.splitlines(), ""]
    return lines
