"""Answers as Slack messages. Pure: the same answer gives the same messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.chat_texts import ChatTexts, describe_age, get_chat_texts
from bot.handlers.slack.neutral import build_link, escape_markdown, escape_mrkdwn, prepare_markdown
from bot.handlers.slack.splitting import split_markdown
from bot.inbox.questions import Question
from bot.rag.language import Language
from bot.texts import get_texts
from core.messages import Answer, Citation, Outcome

# Slack takes 12,000 characters of Markdown and about 13,200 in all blocks together.
MARKDOWN_CHARS = 10_000
# chat.update takes 4,000 bytes of text; a piece of plain text must fit whatever it replaces.
TEXT_BYTES = 3_800

SOLVED, NOT_SOLVED = "answer_solved", "answer_not_solved"
ASK_HUMAN, RESOLVE = "answer_human", "help_resolved"
SHOW_SOURCES, TRY_AGAIN, SHARE_ANSWER = "answer_sources", "answer_again", "answer_share"

_UNANSWERED = frozenset({Outcome.NOT_FOUND, Outcome.NO_ACCESS, Outcome.CONFLICT})

Block = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """One message to post.

    Attributes:
        text: What notifications and screen readers show; all there is when `blocks` is empty.
        blocks: Empty = plain text.
    """

    text: str
    blocks: tuple[Block, ...] = field(default=())


def render_answer(
    answer: Answer,
    *,
    question_id: str,
    language: Language,
    now: datetime,
    is_refreshed: bool = False,
    asked: Question | None = None,
    can_call: bool = False,
) -> list[SlackMessage]:
    """Return the public messages of an answer: the first, and its continuations in the thread.

    Every message holds at most one table and fits Slack's limits; nothing is cut. The last one
    carries the buttons, if there is a question they can be about. A refreshed one says so.

    Args:
        answer: What is said.
        question_id: Empty = there are no buttons.
        language: Of the assistant's own words.
        now: What ages are counted to.
        is_refreshed: Whether the question was edited after it had been answered.
        asked: The question, where no message tells it.
        can_call: Whether there are people to call where nothing was found.
    """
    texts = get_chat_texts(language)
    parts = [
        "" if asked is None else f"<@{asked.account}>: {escape_markdown(asked.text)}",
        f"_{texts.refreshed}_" if is_refreshed else "",
        prepare_markdown(answer.text),
    ]
    if answer.private_answer is not None:
        parts.append(f"_{get_texts(language).private_note}_")
    if answer.citations:
        parts.append(_list_citations(answer.citations, texts, now))
    pieces = split_markdown("\n\n".join(filter(None, parts)), MARKDOWN_CHARS)
    messages = [_build_message(piece) for piece in pieces or [get_texts(language).not_found]]
    if answer.outcome is Outcome.CHITCHAT or not question_id:
        return messages
    buttons = build_buttons(question_id, texts, has_sources=bool(answer.citations))
    if can_call and answer.outcome in _UNANSWERED:
        buttons["elements"].append(build_button(ASK_HUMAN, texts.ask_human, question_id))
    if answer.citations and _may_be_shared(asked):
        buttons["elements"].append(build_button(SHARE_ANSWER, texts.share, question_id))
    last = messages[-1]
    return [*messages[:-1], SlackMessage(text=last.text, blocks=(*last.blocks, buttons))]


def _may_be_shared(asked: Question | None) -> bool:
    """Tell whether an answer is for one person, and there is a channel it may go to."""
    has_channel = asked is not None and asked.origin is not None and asked.origin.channel != ""
    return has_channel and asked is not None and asked.is_direct


def render_private(private: str, *, language: Language) -> list[SlackMessage]:
    """Return what only the asker may read, as messages for them alone."""
    texts = get_chat_texts(language)
    note: Block = {
        "type": "context",
        "elements": [{"type": "mrkdwn", "text": texts.only_you_more}],
    }
    pieces = split_markdown(prepare_markdown(private), MARKDOWN_CHARS)
    messages = [_build_message(piece) for piece in pieces]
    first, *rest = messages
    return [SlackMessage(text=first.text, blocks=(note, *first.blocks)), *rest]


def render_plain(messages: Sequence[SlackMessage]) -> list[SlackMessage]:
    """Return the same content without blocks, for when Slack refuses them."""
    whole = "\n\n".join(
        str(block["text"])
        for message in messages
        for block in message.blocks
        if block["type"] == "markdown"
    )
    return [SlackMessage(text=piece) for piece in split_bytes(escape_mrkdwn(whole))]


def render_markdown(markdown: str) -> SlackMessage:
    """Return Markdown that is prepared, and fits, as one message."""
    return _build_message(markdown)


def render_note(text: str) -> SlackMessage:
    """Return a short word of the assistant's own."""
    return SlackMessage(text=text)


def render_citation(citation: Citation, texts: ChatTexts, now: datetime) -> str:
    """Return a citation as one line of Markdown: page, heading, version, date and age."""
    place = " › ".join((citation.title, *citation.heading_path))
    label = citation.version_label or f"v{citation.version}"
    details = [
        f"v{label}" if label[0].isdigit() else label,
        texts.page.format(page=citation.page) if citation.page else "",
        f"{citation.updated_at:%Y-%m-%d} ({describe_age(citation.updated_at, now, texts)})",
    ]
    return " · ".join(filter(None, (build_link(place, citation.url), *details)))


def build_buttons(question_id: str, texts: ChatTexts, *, has_sources: bool) -> Block:
    """Return the buttons below an answer."""
    buttons = [(SOLVED, texts.solved), (NOT_SOLVED, texts.not_solved)]
    if has_sources:
        buttons.append((SHOW_SOURCES, texts.show_sources))
    buttons.append((TRY_AGAIN, texts.try_again))
    return {
        "type": "actions",
        "elements": [build_button(action, label, question_id) for action, label in buttons],
    }


def build_button(action_id: str, label: str, value: str) -> Block:
    """Return a button."""
    return {
        "type": "button",
        "action_id": action_id,
        "text": {"type": "plain_text", "text": label},
        "value": value,
    }


def split_bytes(text: str, limit: int = TEXT_BYTES) -> list[str]:
    """Cut plain text into pieces of at most so many bytes, after lines where that is possible."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        for part in _cut_bytes(line, limit):
            if pieces and len((pieces[-1] + part).encode()) <= limit:
                pieces[-1] += part
            else:
                pieces.append(part)
    return [piece for piece in pieces if piece.strip()]


def _cut_bytes(line: str, limit: int) -> list[str]:
    parts: list[str] = []
    while len(line.encode()) > limit:
        # An escape such as `&amp;` must not be torn.
        size = len(line.encode()[:limit].decode(errors="ignore"))
        open_escape = line.rfind("&", max(0, size - 4), size)
        if open_escape > 0 and ";" not in line[open_escape:size]:
            size = open_escape
        parts.append(line[:size])
        line = line[size:]
    return [*parts, line]


def _build_message(markdown: str) -> SlackMessage:
    return SlackMessage(
        text=split_bytes(escape_mrkdwn(markdown))[0],
        blocks=({"type": "markdown", "text": markdown},),
    )


def _list_citations(citations: Sequence[Citation], texts: ChatTexts, now: datetime) -> str:
    lines = [f"{one.n}. {render_citation(one, texts, now)}" for one in citations]
    return "\n".join((f"**{texts.sources}**", *lines))
