"""An answer while it is made: what is being done, and its text as far as it is checked.

Nothing here may keep an answer from being given. Calls are made beside the work, at most one each
`show_every_s`; when Slack refuses, less is shown, and the finished answer is published anyway.
"""

import asyncio
from dataclasses import dataclass

import structlog

from bot.chat_texts import get_chat_texts
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.neutral import prepare_markdown
from bot.handlers.slack.publishing import Publisher, place_of
from bot.handlers.slack.rendering import MARKDOWN_CHARS, render_markdown
from bot.inbox.questions import STREAM_BEGINNING, Question
from bot.inbox.store import Inbox
from bot.rag.language import Language
from bot.watching import Step
from core.errors import TransientError, ZhixingError

# Whoever is answered sooner needs not be told what is being done.
QUIET_S = 0.3
# Stands below what an update shows while more is to come.
MORE = "\n\n…"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveParts:
    """What showing an answer needs, the same for all of them.

    Attributes:
        show_every_s: Least time between two calls.
        is_streaming: Whether text is shown before all of it is there.
    """

    api: SlackApi
    inbox: Inbox
    publisher: Publisher
    show_every_s: float
    is_streaming: bool


class LiveAnswer:
    """Shows one answer; a `Watcher` of its question.

    In a thread the text is a stream of Slack's. The stream's message takes the place of the first
    one at once, and the database knows which it is, so that a process that takes over can end it
    and write the whole answer there. Elsewhere, and where Slack takes no stream, the first message
    is updated.

    Args:
        parts: Of the app.
        question: What is answered.
        posts: The messages there are of the answer, the first one at least.
        language: Of what is said to be done.
        team: The workspace of whoever asks.
    """

    def __init__(
        self,
        parts: LiveParts,
        question: Question,
        posts: tuple[str, ...],
        *,
        language: Language,
        team: str,
    ) -> None:
        self._parts = parts
        self._question = question
        self._language = language
        self._team = team
        self.posts = posts
        # What the stream took the place of, while it could not be deleted.
        self.surplus: tuple[str, ...] = ()
        self._stream = ""
        self._may_stream = bool(question.thread)
        self._is_shown = parts.is_streaming
        self._text = ""
        self._shown = 0
        self._step: Step | None = None
        self._told: Step | None = None
        self._has_news = asyncio.Event()
        self._calling = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def note(self, step: Step) -> None:
        """Tell what is being done from now on."""
        self._step = step
        self._wake()

    async def show(self, text: str) -> None:
        """Show more of the answer."""
        self._step = Step.WRITING
        self._text += prepare_markdown(text)
        self._wake()

    async def close(self) -> tuple[str, ...]:
        """End the stream and the status; returns the answer's messages, for the whole answer.

        Raises:
            ZhixingError: Nobody knows whether there is a stream.
        """
        async with self._calling:
            self.abandon()
        try:
            if self._stream:
                self.posts = await self._parts.publisher.end_stream(
                    self._question, self.posts, self._stream
                )
            if self._told is not None:
                await self._set_status("")
        except ZhixingError as error:
            if self._stream == STREAM_BEGINNING:
                # Half an answer may stand somewhere, and only looking for it again will tell.
                raise
            # Publishing ends what is left of a stream that is known.
            _log.warning("slack_stream_not_ended", reason=str(error))
        return self.posts

    def abandon(self) -> None:
        """Stop showing at once, as it stands: whoever takes the question over ends the stream."""
        if self._task is not None:
            self._task.cancel()

    def _wake(self) -> None:
        self._has_news.set()
        if self._task is None:
            self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        await asyncio.sleep(QUIET_S)
        while True:
            self._has_news.clear()
            async with self._calling:
                await self._catch_up()
            await asyncio.sleep(self._parts.show_every_s)
            await self._has_news.wait()

    async def _catch_up(self) -> None:
        try:
            if self._is_shown and self._shown < len(self._text):
                await self._show_text()
            elif self._step is not self._told:
                await self._tell_step()
        except ZhixingError as error:
            _log.info("slack_live_text_stopped", reason=str(error))
            self._is_shown = False
        except Exception:  # noqa: BLE001 - the answer itself is published all the same
            _log.exception("slack_live_text_stopped")
            self._is_shown = False

    async def _show_text(self) -> None:
        text = self._text
        if len(text) > MARKDOWN_CHARS:
            self._is_shown = False
            return
        if self._may_stream:
            try:
                await self._stream_text(text[self._shown :])
            except SlackRefusedError as error:
                _log.info("slack_stream_refused", reason=str(error))
                self._may_stream = False
        if not self._may_stream:
            shown = render_markdown(text + MORE)
            await self._parts.api.update(self._question.channel, self.posts[0], shown)
        self._shown = len(text)

    async def _stream_text(self, text: str) -> None:
        question = self._question
        if not self._stream:
            await self._start(text)
        else:
            await self._parts.api.append_stream(question.channel, self._stream, text)

    async def _start(self, text: str) -> None:
        """Begin the stream, which becomes the first message of the answer."""
        question, inbox = self._question, self._parts.inbox
        # Until the stream is ended nothing in it says whose it is.
        await inbox.save_stream(question.question_id, STREAM_BEGINNING)
        self._stream = STREAM_BEGINNING
        try:
            ts = await self._parts.api.start_stream(
                place_of(question), text, recipient=question.account, recipient_team=self._team
            )
        except SlackRefusedError:
            self._stream = ""
            await inbox.save_stream(question.question_id, "")
            raise
        first, *others = self.posts
        self._stream, self.posts, self.surplus = ts, (ts, *others), (first,)
        await inbox.save_stream(question.question_id, ts, posts=self.posts)
        await self._parts.api.delete(question.channel, first)
        self.surplus = ()

    async def _tell_step(self) -> None:
        step = self._step
        if step is None or not self._question.thread:
            return
        texts = get_chat_texts(self._language)
        said = {
            Step.SEARCHING: texts.is_searching,
            Step.READING: texts.is_reading,
            Step.WRITING: texts.is_writing,
        }
        self._told = step
        await self._set_status(said[step])

    async def _set_status(self, status: str) -> None:
        question = self._question
        try:
            await self._parts.api.set_status(question.channel, question.thread, status)
        except (SlackRefusedError, TransientError) as error:
            _log.debug("slack_status_not_set", reason=str(error))
