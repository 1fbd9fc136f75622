"""How the sources are kept in step, for administrators. Pure.

Counts only: whoever administers the assistant need not be allowed to read every page's name.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.chat_texts import describe_age, get_chat_texts
from bot.handlers.slack.card_rendering import show_moment
from bot.handlers.slack.elements import Block, context, header, mrkdwn, section
from bot.handlers.slack.neutral import escape_mrkdwn
from bot.handlers.slack.rendering import SlackMessage
from bot.home_texts import HomeTexts, get_home_texts
from bot.rag.language import Language
from knowledge.sync_status import SourceStatus

MOST_SOURCES, MOST_LINES, LINE_CHARS = 40, 12, 200


def render_status(
    sources: Sequence[SourceStatus], *, language: Language, now: datetime
) -> SlackMessage:
    """Return the state of every source as one message."""
    texts = get_home_texts(language)
    if not sources:
        return SlackMessage(text=texts.status_nothing)
    blocks: list[Block] = [header(texts.status_title)]
    for source in sources[:MOST_SOURCES]:
        lines = list(_describe(source, texts, language, now))
        blocks.append(section(mrkdwn("\n".join(lines[:MOST_LINES]))))
    left = len(sources) - MOST_SOURCES
    note = f"+ {left} · {texts.status_more}" if left > 0 else texts.status_more
    blocks.append(context(note))
    return SlackMessage(text=texts.status_title, blocks=tuple(blocks))


def _describe(
    source: SourceStatus, texts: HomeTexts, language: Language, now: datetime
) -> Iterator[str]:
    documents = texts.status_documents.format(documents=source.documents)
    yield f"*{escape_mrkdwn(source.source)[:LINE_CHARS]}* · {documents}"
    last = source.last_run
    if last is None:
        yield texts.status_no_run
    else:
        at = last.ended_at or last.started_at
        yield texts.status_run.format(
            state=texts.run_states[last.status],
            age=describe_age(at, now, get_chat_texts(language)),
            moment=show_moment(at),
        )
    if source.failures:
        yield f"⚠️ {texts.status_failures.format(count=len(source.failures))}"
    for run in source.troubled_runs:
        yield f"⚠️ {texts.status_failed_run.format(kind=run.kind.value)}"
    for hold in source.holds:
        scope = escape_mrkdwn(hold.scope)[:LINE_CHARS]
        yield f"⚠️ {texts.status_hold.format(count=len(hold.missing), scope=scope)}"
