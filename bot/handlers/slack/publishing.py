"""Puts the messages of an answer where they belong, each once, whatever was posted before."""

from collections.abc import Sequence

import structlog

from bot.handlers.slack.api import Place, SlackApi, SlackRefusedError
from bot.handlers.slack.rendering import SlackMessage, render_plain
from bot.inbox.questions import Question
from bot.inbox.store import Inbox

_log = structlog.get_logger(__name__)


class Publisher:
    """Posts and updates the messages of answers."""

    def __init__(self, api: SlackApi, inbox: Inbox) -> None:
        self._api = api
        self._inbox = inbox

    async def recall(self, question: Question, *, is_in_doubt: bool = False) -> tuple[str, ...]:
        """Return the messages that stand there of an answer, also those an earlier process posted.

        What was posted and not written down is found by what the messages carry; it is looked for
        when the question was taken up before, or something is in doubt.
        """
        posts = [*await self._saved_posts(question)]
        if question.attempts == 1 and not is_in_doubt:
            return tuple(posts)
        found = await self._api.find_posts(place_of(question), question.question_id)
        while (ts := found.get(len(posts))) is not None:
            posts.append(ts)
        return tuple(posts)

    async def place(
        self, question: Question, posts: Sequence[str], message: SlackMessage
    ) -> tuple[str, ...]:
        """Let the first message of an answer stand, posting it when there is none yet."""
        if posts:
            return tuple(posts)
        ts = await self._api.post(
            place_of(question), message, question_id=question.question_id, part=0
        )
        await self._inbox.save_posts(question.question_id, [ts])
        return (ts,)

    async def publish(
        self, question: Question, posts: Sequence[str], messages: Sequence[SlackMessage]
    ) -> tuple[str, ...]:
        """Make the answer read as rendered; returns its messages.

        Where Slack refuses the blocks, all of it is said as plain text.
        """
        try:
            return await self._put(question, posts, messages)
        except SlackRefusedError as error:
            if not error.is_about_blocks:
                raise
            _log.warning("slack_blocks_refused", question=question.question_id, reason=str(error))
            posts = await self._saved_posts(question)
            return await self._put(question, posts, render_plain(messages))

    async def _put(
        self, question: Question, posts: Sequence[str], messages: Sequence[SlackMessage]
    ) -> tuple[str, ...]:
        kept = [*posts]
        for part, message in enumerate(messages):
            if part < len(kept) and await self._update(question, kept[part], message):
                continue
            ts = await self._api.post(
                place_of(question), message, question_id=question.question_id, part=part
            )
            kept[part : part + 1] = [ts]
            await self._inbox.save_posts(question.question_id, kept)
        for surplus in kept[len(messages) :]:
            await self._api.delete(question.channel, surplus)
        kept = kept[: len(messages)]
        await self._inbox.save_posts(question.question_id, kept)
        return tuple(kept)

    async def _update(self, question: Question, ts: str, message: SlackMessage) -> bool:
        """Update a message; False when somebody has deleted it."""
        try:
            await self._api.update(question.channel, ts, message)
        except SlackRefusedError as error:
            if error.code not in {"message_not_found", "cant_update_message"}:
                raise
            return False
        return True

    async def _saved_posts(self, question: Question) -> Sequence[str]:
        saved = await self._inbox.find(question.question_id)
        return saved.posts if saved else question.posts


def place_of(question: Question) -> Place:
    """Return where a question's answer goes."""
    return Place(channel=question.channel, thread=question.thread, since=question.ts)
