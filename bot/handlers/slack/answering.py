"""One accepted question, to the message it ends in."""

import asyncio
from dataclasses import dataclass, replace

import structlog

from bot.chat_texts import ChatTexts, describe_wait, get_chat_texts
from bot.conversation import Conversation
from bot.handlers.slack.action_desk import ActionDesk
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.helping import Helping
from bot.handlers.slack.live import LiveAnswer, LiveParts
from bot.handlers.slack.publishing import Publisher
from bot.handlers.slack.rendering import (
    SlackMessage,
    render_answer,
    render_note,
    render_plain,
    render_private,
)
from bot.handlers.slack.rights import Rights
from bot.handlers.slack.roster import SYSTEM
from bot.inbox.questions import Question
from bot.inbox.references import build_reference
from bot.inbox.store import Inbox
from bot.preferences.languages import Languages
from bot.rag.language import Language
from bot.watching import Watcher
from core.chat_settings import SlackSettings
from core.clock import Clock
from core.errors import ZhixingError
from core.messages import Answer, Outcome

REFUSED, WITHDRAWN = "refused", "withdrawn"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Answers questions of the inbox in Slack.

    Attributes:
        clock: What time it is for the ages of pages.
        team_id: Our own workspace.
    """

    api: SlackApi
    inbox: Inbox
    publisher: Publisher
    live: LiveParts
    helping: Helping
    rights: Rights
    conversation: Conversation
    desk: ActionDesk
    languages: Languages
    clock: Clock
    settings: SlackSettings
    team_id: str

    async def begin(self, question: Question) -> tuple[str, ...]:
        """Let people see that the question is being worked on; returns the messages there are."""
        was_streaming = question.stream != ""
        posts = await self.publisher.recall(question)
        question = await self._load(question)
        if question.is_withdrawn:
            return posts
        texts = get_chat_texts(await self._speak(question))
        if posts and was_streaming:
            # Half an answer must not be taken for one.
            await self.api.update(question.channel, posts[0], render_note(texts.restarted))
        placeholder = self._render_placeholder(question, texts)
        return await self.publisher.place(question, posts, placeholder)

    def _render_placeholder(self, question: Question, texts: ChatTexts) -> SlackMessage:
        """Return what stands there at first: that it is worked on, or how long it waits."""
        if question.is_over_limit:
            return render_note(texts.too_many)
        wait_s = self.inbox.seconds_until_turn(question)
        if wait_s < 1:
            return render_note(texts.working)
        return render_note(texts.waiting.format(wait=describe_wait(wait_s, texts)))

    async def answer(self, question: Question) -> None:
        """Answer a question; it ends in a message that people see, and is then done.

        Raises:
            ZhixingError: Not everything could be said, not even that it failed; try again later.
        """
        question = await self._load(question)
        while not await self._answer_as_it_is(question):
            # It was changed meanwhile.
            question = await self._load(question)

    async def _load(self, question: Question) -> Question:
        """Return a question as it is now, with what this process knows of it."""
        saved = await self.inbox.find(question.question_id)
        return question if saved is None else replace(saved, attempts=question.attempts)

    async def _answer_as_it_is(self, question: Question) -> bool:
        """Answer a question; False when it was changed before its answer was there."""
        if question.is_withdrawn:
            await self._withdraw(question)
            return await self.inbox.finish(question, outcome=WITHDRAWN, trace_id="")
        language = await self._speak(question)
        try:
            answer = await self._answer_in_public(question, language)
        except SlackRefusedError as error:
            return await self._give_up(question, language, error)
        except Exception as error:  # noqa: BLE001 - every question ends in a visible message
            if isinstance(error, ZhixingError):
                _log.warning(
                    "slack_answer_failed", question=question.question_id, reason=str(error)
                )
            else:
                _log.exception("slack_answer_failed", question=question.question_id)
            return await self._fail(question, language, error)
        if answer is None:
            return await self.inbox.finish(question, outcome=REFUSED, trace_id="")
        if (await self._load(question)).revision != question.revision:
            return False
        await self._whisper(question, answer, language)
        if answer.proposed_action is not None:
            await self.desk.take_proposal(question, answer.proposed_action, language)
        return await self.inbox.finish(
            question,
            outcome=answer.outcome.value,
            trace_id=answer.trace_id,
            passages=[one.passage_id for one in answer.citations],
        )

    async def _withdraw(self, question: Question) -> None:
        """Take back what was answered; of a question nobody answered yet there is nothing."""
        said = get_chat_texts(await self._speak(question)).withdrawn
        try:
            posts = await self.publisher.recall(question, is_in_doubt=True)
            await self.publisher.withdraw(question, posts, render_note(said))
        except SlackRefusedError as error:
            # Its thread or channel is gone, and the answer with it.
            _log.info("slack_nothing_to_withdraw", reason=str(error))

    async def _speak(self, question: Question) -> Language:
        """Return the language of our own words."""
        channel = "" if question.is_direct else question.channel
        return await self.languages.for_place(question.account, channel, question.text)

    async def _answer_in_public(self, question: Question, language: Language) -> Answer | None:
        """Say what everybody may read; returns None when it is refused."""
        posts = await self.begin(question)
        if question.is_over_limit:
            return None
        live = LiveAnswer(
            self.live, question, posts, language=language, team=await self._find_team(question)
        )
        try:
            answer = await self._ask(question, live)
        except asyncio.CancelledError:
            live.abandon()
            raise
        except Exception:
            await live.close()
            raise
        posts = await live.close()
        if answer is None:
            said = get_chat_texts(language).refused_stranger
            await self.publisher.publish(question, posts, [render_note(said)])
            return None
        messages = render_answer(
            answer,
            question_id=question.question_id,
            language=language,
            now=self.clock.now(),
            is_refreshed=question.is_refreshed,
            asked=question if question.origin else None,
            can_call=bool(await self.helping.find_people(question)),
        )
        await self.publisher.publish(question, posts, messages, surplus=live.surplus)
        return answer

    async def _find_team(self, question: Question) -> str:
        """Return the workspace of whoever asks; ours when Slack does not say."""
        try:
            user = await self.rights.roster.find(question.account)
        except ZhixingError:
            user = None
        return (user.team_id if user else "") or self.team_id

    async def _ask(self, question: Question, watcher: Watcher) -> Answer | None:
        """Return the answer; None for accounts that are refused."""
        async with asyncio.timeout(self.settings.answer_timeout_s):
            channel = "" if question.is_direct else question.channel
            reader = await self.rights.resolve(question.account, channel=channel)
            if reader is None:
                return None
            thread = ":".join(filter(None, (SYSTEM, question.channel, question.thread)))
            return await self.conversation.ask(
                question.text, reader, thread=thread, watcher=watcher
            )

    async def _whisper(self, question: Question, answer: Answer, language: Language) -> None:
        """Tell the asker what only they may read."""
        if answer.private_answer is None:
            return
        for message in render_private(answer.private_answer, language=language):
            try:
                await self._whisper_one(question, message)
            except SlackRefusedError as error:
                # The public answer stands, and trying again would be refused again.
                _log.warning("slack_whisper_refused", account=question.account, reason=str(error))

    async def _whisper_one(self, question: Question, message: SlackMessage) -> None:
        place = {"channel": question.channel, "user": question.account}
        try:
            await self.api.whisper(**place, message=message, thread=question.thread)
        except SlackRefusedError as error:
            if not error.is_about_blocks:
                raise
            for plain in render_plain([message]):
                await self.api.whisper(**place, message=plain, thread=question.thread)

    async def _fail(self, question: Question, language: Language, error: Exception) -> bool:
        """Say that it failed, in place of the answer; False when it was changed meanwhile."""
        posts = await self.publisher.recall(question, is_in_doubt=True)
        said = get_chat_texts(language).failed.format(reference=build_reference(question))
        await self.publisher.publish(question, posts, [render_note(said)])
        return await self.inbox.finish(
            question, outcome=Outcome.FAILED.value, trace_id="", failure=describe_failure(error)
        )

    async def _give_up(
        self, question: Question, language: Language, error: SlackRefusedError
    ) -> bool:
        """End a question that may not be answered where it was asked: tell its asker directly.

        False when it was changed meanwhile; that its message is gone may be all there is to it.
        """
        if (await self._load(question)).revision != question.revision:
            return False
        _log.warning("slack_answer_refused", question=question.question_id, reason=str(error))
        said = get_chat_texts(language).failed.format(reference=build_reference(question))
        try:
            await self.api.write_to(question.account, render_note(said))
        except SlackRefusedError as refused:
            _log.warning("slack_asker_not_reached", account=question.account, reason=str(refused))
        return await self.inbox.finish(
            question, outcome=Outcome.FAILED.value, trace_id="", failure=describe_failure(error)
        )


def describe_failure(error: Exception) -> str:
    """Return what an operator is told of a failure: errors of others by their kind as well."""
    return str(error) if isinstance(error, ZhixingError) else repr(error)
