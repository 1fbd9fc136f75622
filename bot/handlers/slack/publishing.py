"""Puts the messages of an answer where they belong, each once, whatever was posted before."""

from collections.abc import Sequence
from datetime import timedelta

import structlog

from bot.handlers.slack.api import Place, SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.rendering import SlackMessage, render_plain
from bot.inbox.questions import STREAM_BEGINNING, Question
from bot.inbox.store import Inbox

CLOCKS_DIFFER_BY = timedelta(minutes=10)

_log = structlog.get_logger(__name__)


class Publisher:
    """Posts and updates the messages of answers."""

    def __init__(self, api: SlackApi, inbox: Inbox, *, bot_user_id: str) -> None:
        self._api = api
        self._inbox = inbox
        self._bot_user_id = bot_user_id

    async def recall(self, question: Question, *, is_in_doubt: bool = False) -> tuple[str, ...]:
        """Return the messages that stand there of an answer, also those an earlier process posted.

        What was posted and not written down is found by what the messages carry; it is looked for
        when the question was taken up before, or something is in doubt. A text that was being
        written is ended, and what stands there twice is taken away.
        """
        saved = await self._load(question)
        posts = list(saved.posts)
        if question.attempts == 1 and not is_in_doubt:
            return tuple(posts)
        if saved.stream:
            posts = [*await self.end_stream(question, posts, saved.stream)]
        found = await self._api.find_all_posts(place_of(question), question.question_id)
        for part, ts in found:
            if part == len(posts):
                posts.append(ts)
            elif ts not in posts:
                await self._api.delete(question.channel, ts)
        return tuple(posts)

    async def end_stream(
        self, question: Question, posts: Sequence[str], stream: str
    ) -> tuple[str, ...]:
        """End a text that was being written; returns the messages of the answer.

        Of a stream that began and nobody knows what became of, whatever stands there is deleted:
        another answer of that thread that is being written is posted anew by whoever writes it.
        """
        if stream == STREAM_BEGINNING:
            place = place_of(question)
            for ts in await self._api.find_unmarked(place, author=self._bot_user_id):
                await self._api.stop_stream(question.channel, ts, question_id=question.question_id)
                await self._api.delete(question.channel, ts)
        else:
            await self._api.stop_stream(question.channel, stream, question_id=question.question_id)
        await self._inbox.save_stream(question.question_id, "")
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
        self,
        question: Question,
        posts: Sequence[str],
        messages: Sequence[SlackMessage],
        *,
        surplus: Sequence[str] = (),
    ) -> tuple[str, ...]:
        """Make the answer read as rendered, and delete what is no part of it; returns its messages.

        Where Slack refuses the blocks, all of it is said as plain text.
        """
        for ts in surplus:
            await self._api.delete(question.channel, ts)
        try:
            return await self._put(question, posts, messages)
        except SlackRefusedError as error:
            if not error.is_about_blocks:
                raise
            _log.warning("slack_blocks_refused", question=question.question_id, reason=str(error))
            posts = (await self._load(question)).posts
            return await self._put(question, posts, render_plain(messages))

    async def withdraw(
        self, question: Question, posts: Sequence[str], note: SlackMessage
    ) -> tuple[str, ...]:
        """Leave a word in place of an answer and nothing else of it; returns what is left."""
        kept: list[str] = []
        for ts in posts:
            if not kept and await self._update(question, ts, note):
                kept.append(ts)
            else:
                await self._api.delete(question.channel, ts)
        await self._inbox.save_posts(question.question_id, kept)
        return tuple(kept)

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
            await self._update_stopped(question, ts, message)
        except SlackRefusedError as error:
            if error.code not in {"message_not_found", "cant_update_message"}:
                raise
            return False
        return True

    async def _update_stopped(self, question: Question, ts: str, message: SlackMessage) -> None:
        """Update a message, ending it first when it is still a stream."""
        try:
            await self._api.update(question.channel, ts, message)
        except SlackRefusedError as error:
            if error.code != "streaming_state_conflict":
                raise
            await self._api.stop_stream(question.channel, ts, question_id=question.question_id)
            await self._api.update(question.channel, ts, message)

    async def _load(self, question: Question) -> Question:
        return await self._inbox.find(question.question_id) or question


def place_of(question: Question) -> Place:
    """Return where a question's answer goes."""
    since = question.ts
    if question.origin is not None:
        # It is no message itself. Slack's clock and ours may differ.
        since = f"{(question.accepted_at - CLOCKS_DIFFER_BY).timestamp():.6f}"
    return Place(channel=question.channel, thread=question.thread, since=since)
