"""A document's parts as one outline: the text under each heading, with the chain above it."""

import bisect
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from knowledge.chunking.meter import estimate_tokens
from knowledge.documents import BodyPart, Content
from knowledge.markdown.blocks import Block, BlockKind
from knowledge.markdown.lines import clean_markdown, find_number
from knowledge.markdown.parser import parse_markdown

# Below this a text is a fragment that is better read with its neighbours.
_SHORT_TOKENS = 60
_MAX_SHORT_CHARS = 500
_STEP_STYLES = frozenset({"ordinal", "stage", "step"})
_MARKUP = re.compile(
    r"`([^`]+)`"
    r"|!?\[([^\[\]]*)\]\([^()]*\)"
    r"|!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]"
    r"|\*{1,3}(?=\S)([^*]*[^*\s])\*{1,3}"
    r"|(?<!\w)__?(?=\S)([^_]*[^_\s])__?(?!\w)"
    r"|~~([^~]+)~~"
    r"|\\([\\`*_{}\[\]()#+.!|<>~-])"
    r"|</?(?:a|b|br|code|em|font|i|img|kbd|mark|s|small|span|strong|sub|sup|u)\b[^<>]*>"
    r"|\{#[\w.-]+\}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What stands under one heading, up to the next.

    Attributes:
        heading: None above the first heading of a part.
        path: Headings from the outermost down to this one, as plain text.
        parent: Index of the topic one heading up, -1 at the top.
        part: Index of the body part it belongs to.
    """

    heading: Block | None
    path: tuple[str, ...]
    parent: int
    part: int
    blocks: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Which page a line stands on."""

    lines: tuple[int, ...]
    numbers: tuple[int, ...]
    before: int | None

    def find(self, line: int) -> int | None:
        """Return the page of a line, None where there are no pages."""
        index = bisect.bisect_right(self.lines, line) - 1
        return self.numbers[index] if index >= 0 else self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Topics in reading order, and the pages of each part."""

    topics: list[Topic]
    pages: list[Pages]


def is_own(part: BodyPart) -> bool:
    """Tell whether a part is the document's own text, not another page's."""
    return part.included_from is None and part.included_rule is None


def read_outline(content: Content) -> Outline:
    """Read all parts; headings of included text hang below the heading it is included under."""
    topics: list[Topic] = []
    pages: list[Pages] = []
    chain: list[tuple[int, int]] = []
    page: int | None = None
    for number, part in enumerate(content.parts):
        clean = clean_markdown(part.markdown)
        found = Pages(
            lines=tuple(line for line, _ in clean.pages),
            numbers=tuple(each for _, each in clean.pages),
            before=page if is_own(part) else None,
        )
        pages.append(found)
        blocks = parse_markdown(clean.text)
        if is_own(part):
            page = found.find(len(clean.text))
            _read_part(blocks, topics, chain, number, content.title)
        else:
            _read_part(blocks, topics, [(0, index) for _, index in chain], number, content.title)
    return Outline(topics=topics, pages=pages)


def _read_part(
    blocks: list[Block],
    topics: list[Topic],
    chain: list[tuple[int, int]],
    part: int,
    title: str,
) -> None:
    """Add a part's topics; `chain` holds (level, topic) of the open headings and is kept up."""
    above = topics[chain[-1][1]] if chain else None
    topic = Topic(
        heading=None,
        path=above.path if above else (),
        parent=above.parent if above else -1,
        part=part,
    )
    root = len(topics)
    topics.append(topic)
    for block in blocks:
        if block.kind is not BlockKind.HEADING:
            topic.blocks.append(block)
            continue
        while chain and chain[-1][0] >= block.level:
            chain.pop()
        parent = chain[-1][1] if chain else -1
        path = topics[parent].path if chain else ()
        words = read_words(block.text)
        if path or not is_same(words, title):
            path = (*path, words)
        topic = Topic(heading=block, path=path, parent=parent if chain else root, part=part)
        chain.append((block.level, len(topics)))
        topics.append(topic)


def is_same(text: str, other: str) -> bool:
    """Compare words regardless of case and white space."""
    return text.casefold().split() == other.casefold().split()


def read_words(heading: str) -> str:
    """Return a heading as plain text."""
    if not re.search(r"[\[*_`<{\\&~]", heading):
        return " ".join(heading.split())
    # Twice, for code within a link.
    words = _MARKUP.sub(_keep_words, _MARKUP.sub(_keep_words, heading))
    return " ".join(html.unescape(words).split()) or " ".join(heading.split())


def _keep_words(match: re.Match[str]) -> str:
    return match.group(match.lastindex) if match.lastindex else ""


def merge_short_topics(
    topics: Sequence[Topic], *, target_tokens: int, limit_tokens: int
) -> list[Topic]:
    """Join neighbours that are too short to stand alone under the heading above them.

    Sub-headings that are numbered steps are joined up to `limit_tokens`, so that a procedure is
    one section however it is set; other short ones up to `target_tokens`. The joined topic has
    the path of the heading above; sub-headings become part of its text. A heading that is a
    question stays alone: it is found by its own words.
    """
    joined: list[Topic] = []
    at = 0
    while at < len(topics):
        end = _find_steps_end(topics, at, limit_tokens)
        is_steps = end > at
        if not is_steps:
            end = _find_short_end(topics, at, target_tokens)
        if end > at + 1:
            joined.append(_join(topics, at, end, is_steps=is_steps))
        else:
            joined.extend(_show(topics, at))
        at = max(end, at + 1)
    return joined


def _is_empty_root(topic: Topic) -> bool:
    return topic.heading is None and not topic.blocks


def _show(topics: Sequence[Topic], index: int) -> list[Topic]:
    """Return a topic that has text; a heading with nothing below it is its own text."""
    topic = topics[index]
    if topic.blocks:
        return [topic]
    if topic.heading is None or not topic.path:
        return []
    following = index + 1
    while following < len(topics) and _is_empty_root(topics[following]):
        following += 1
    if following < len(topics) and topics[following].path[: len(topic.path)] == topic.path:
        return []
    text = replace(topic.heading, kind=BlockKind.PARAGRAPH, text=topic.path[-1], level=0)
    return [replace(topic, blocks=[text])]


def _is_leaf(topics: Sequence[Topic], index: int) -> bool:
    return index + 1 == len(topics) or topics[index + 1].parent != index


def _is_child(topics: Sequence[Topic], index: int, parent: int, part: int) -> bool:
    if index >= len(topics):
        return False
    topic = topics[index]
    is_inside = topic.parent == parent and topic.part == part and topic.heading is not None
    return is_inside and _is_leaf(topics, index)


def _estimate(topic: Topic) -> int:
    heading = topic.heading.text if topic.heading else ""
    return estimate_tokens(heading) + sum(estimate_tokens(block.text) for block in topic.blocks)


def _is_short(topic: Topic) -> bool:
    chars = sum(len(block.text) for block in topic.blocks)
    return chars <= _MAX_SHORT_CHARS and _estimate(topic) < _SHORT_TOKENS


def _is_question(topic: Topic) -> bool:
    return topic.heading is not None and topic.heading.text.endswith(("?", "？"))


def _find_short_end(topics: Sequence[Topic], at: int, target_tokens: int) -> int:
    """Return the end of the run of short topics that begins here."""
    start = topics[at]
    if not _is_short(start) or _is_question(start):
        return at
    if start.heading is not None and _is_leaf(topics, at):
        parent = start.parent
    elif start.blocks:
        parent = at
    else:
        return at
    filled = _estimate(start)
    end = at + 1
    while _is_child(topics, end, parent, start.part):
        topic = topics[end]
        if not _is_short(topic) or _is_question(topic):
            break
        filled += _estimate(topic)
        if filled > target_tokens:
            break
        end += 1
    return end


def _find_steps_end(topics: Sequence[Topic], at: int, limit_tokens: int) -> int:
    """Return the end of sub-headings from here on that are the steps of one procedure."""
    start = topics[at]
    own = _read_step(start)
    if own is not None and at and topics[at - 1].parent == start.parent:
        before = _read_step(topics[at - 1])
        if before == (own[0], own[1] - 1):
            return at
    first = at if own is not None else at + 1
    parent = start.parent if first == at else at
    end = first
    expected: tuple[str, int] | None = None
    filled = sum(_estimate(topic) for topic in topics[at:first])
    while _is_child(topics, end, parent, start.part):
        step = _read_step(topics[end])
        filled += _estimate(topics[end])
        if step is None or (expected is not None and step != expected):
            break
        if filled > limit_tokens:
            return at
        expected = (step[0], step[1] + 1)
        end += 1
    return end if end > first + 1 else at


def _read_step(topic: Topic) -> tuple[str, int] | None:
    step = find_number(topic.path[-1]) if topic.heading is not None and topic.path else None
    return step if step is not None and step[0] in _STEP_STYLES else None


def _join(topics: Sequence[Topic], at: int, end: int, *, is_steps: bool) -> Topic:
    first = topics[at]
    is_parent = topics[at + 1].parent == at
    above = first if is_parent else topics[first.parent]
    blocks = list(first.blocks) if is_parent else []
    inner = [
        block
        for topic in topics[at + is_parent : end]
        for block in ([topic.heading] if topic.heading else []) + topic.blocks
    ]
    if is_steps:
        inner = [_write_steps(inner)]
    return replace(first, heading=above.heading, path=above.path, blocks=blocks + inner)


def _write_steps(blocks: list[Block]) -> Block:
    text = "\n\n".join(
        f"{'#' * block.level} {block.text}" if block.kind is BlockKind.HEADING else block.text
        for block in blocks
    )
    return replace(blocks[0], kind=BlockKind.STEPS, text=text, end=blocks[-1].end, level=0)
