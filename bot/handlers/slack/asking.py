"""The shortcuts "Ask about this" and "Ask Zhixing": a form, and the question that comes of it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from bot.chat_texts import ChatTexts, get_chat_texts
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.elements import Block, field, modal, option
from bot.handlers.slack.payloads import Click, Shortcut, Submission
from bot.handlers.slack.rendering import render_note
from bot.handlers.slack.rooms import Rooms
from bot.handlers.slack.screening import read_text
from bot.handlers.slack.search import Searching
from bot.handlers.slack.worker import Worker
from bot.inbox.questions import IncomingQuestion, Origin, Question
from bot.inbox.store import Inbox
from bot.preferences.languages import Languages
from bot.rag.language import Language
from core.errors import ZhixingError

ASK_ABOUT, ASK = "ask_about_message", "ask_zhixing"
"""Callback ids of the shortcuts, as in the manifest."""
ASK_FORM, QUESTION_FIELD, WHERE_FIELD = "ask_form", "question", "where"
ALONE, IN_THREAD = "alone", "thread"
QUESTION_CHARS = 3_000
# Slack waits three seconds for a form to be opened or taken.
LOOK_UP_S = 1.5

Ack = dict[str, Any]

_log = structlog.get_logger(__name__)


class AskMemory(BaseModel):
    """What the form remembers: the message it was opened at."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    channel: str = ""
    thread: str = ""


class Asking:
    """Opens the form, takes the question, and shares what was answered to one person alone.

    A question from a form is answered like any other: in a thread with the rights of everybody who
    listens there, else directly, to the person alone.
    """

    def __init__(
        self,
        *,
        api: SlackApi,
        inbox: Inbox,
        rooms: Rooms,
        searching: Searching,
        worker: Worker,
        languages: Languages,
        bot_user_id: str,
    ) -> None:
        self._api = api
        self._inbox = inbox
        self._rooms = rooms
        self._searching = searching
        self._worker = worker
        self._languages = languages
        self._bot_user_id = bot_user_id

    async def open_form(self, shortcut: Shortcut) -> None:
        """Open the form, with the message it was called at."""
        message, channel = shortcut.message, shortcut.channel.id
        text = read_text(message.text, bot_user_id=self._bot_user_id)
        memory = AskMemory(channel=channel, thread=message.thread_ts or message.ts)
        is_here = bool(channel) and not channel.startswith("D") and await self._is_here(channel)
        language = await self._languages.for_person(shortcut.user.id, text)
        form = build_ask_form(text, memory, has_thread=is_here, language=language)
        await self._api.call("views.open", trigger_id=shortcut.trigger_id, view=form)

    async def submit(self, body: Mapping[str, Any]) -> Ack:
        """Accept the question before its form is acknowledged; returns what to say to Slack.

        What could not be written down leaves the form open.
        """
        sent = Submission.model_validate(body)
        memory = AskMemory.model_validate_json(sent.view["private_metadata"])
        values = sent.view["state"]["values"]
        text = " ".join(str(values[QUESTION_FIELD][QUESTION_FIELD].get("value") or "").split())
        chosen = values.get(WHERE_FIELD, {}).get(WHERE_FIELD, {}).get("selected_option") or {}
        is_direct = chosen.get("value", ALONE) == ALONE
        try:
            async with asyncio.timeout(LOOK_UP_S):
                channel = await self._api.open_direct(sent.user.id) if is_direct else memory.channel
                question = await self._inbox.accept(
                    IncomingQuestion(
                        event_id=f"form:{sent.view['id']}",
                        channel=channel,
                        ts=str(sent.view["id"]),
                        thread="" if is_direct else memory.thread,
                        account=sent.user.id,
                        text=text,
                        is_direct=is_direct,
                        origin=Origin(channel=memory.channel, thread=memory.thread),
                    )
                )
        except (ZhixingError, TimeoutError) as error:
            _log.warning("slack_form_not_taken", reason=str(error))
            said = get_chat_texts(await self._languages.for_person(sent.user.id, text)).not_taken
            return {"response_action": "errors", "errors": {QUESTION_FIELD: said}}
        if question is not None:
            self._worker.take(question)
        return {}

    async def share(self, click: Click) -> None:
        """Answer aloud, where the form was opened, what was answered to one person alone."""
        question = await self._inbox.find(click.action.value)
        words = question.text if question else ""
        texts = get_chat_texts(await self._languages.for_person(click.user.id, words))
        said = texts.gone if question is None else await self._share(question, click, texts)
        await self._api.respond(click.response_url, render_note(said))

    async def _share(self, question: Question, click: Click, texts: ChatTexts) -> str:
        """Share an answer; returns what to tell the person."""
        origin, account = question.origin, click.user.id
        if account != question.account:
            return texts.asker_only
        if origin is None or not origin.channel or not await self._is_here(origin.channel):
            return texts.share_absent
        if not await self._rooms.has_member(origin.channel, account):
            return texts.share_not_member
        reader = await self._searching.rights.resolve(account, channel=origin.channel)
        wanted = question.passages
        shown = (
            await self._searching.load(wanted, reader.audience_readable)
            if reader is not None
            else []
        )
        if not wanted or len(shown) < len(set(wanted)):
            return texts.share_refused
        shared = await self._inbox.accept(
            IncomingQuestion(
                event_id=f"share:{question.question_id}",
                channel=origin.channel,
                # Slack's own are moments.
                ts=f"share:{question.question_id}",
                thread=origin.thread,
                account=account,
                text=question.text,
                is_direct=False,
                origin=origin,
            )
        )
        # It is written anew, from what everybody there may read.
        if shared is not None:
            self._worker.take(shared)
        return texts.shared

    async def _is_here(self, channel: str) -> bool:
        """Tell whether we are in a channel; when nobody says so in time, we are not."""
        try:
            async with asyncio.timeout(LOOK_UP_S):
                return await self._rooms.has_member(channel, self._bot_user_id)
        except (SlackRefusedError, ZhixingError, TimeoutError, ValidationError):
            return False


def build_ask_form(text: str, memory: AskMemory, *, has_thread: bool, language: Language) -> Block:
    """Return the form; where the answer goes is asked only where there is a choice."""
    texts = get_chat_texts(language)
    typed: Block = {"type": "plain_text_input", "multiline": True, "max_length": QUESTION_CHARS}
    if text:
        typed["initial_value"] = text[:QUESTION_CHARS]
    fields = [field(QUESTION_FIELD, texts.ask_question, typed, hint=texts.ask_hint)]
    if has_thread:
        alone = option(texts.ask_alone, ALONE)
        choice: Block = {
            "type": "radio_buttons",
            "options": [alone, option(texts.ask_in_thread, IN_THREAD)],
            "initial_option": alone,
        }
        fields.append(field(WHERE_FIELD, texts.ask_where, choice))
    return modal(
        ASK_FORM,
        texts.ask_title,
        fields,
        close=texts.cancel,
        submit=texts.ask_send,
        memory=memory.model_dump_json(),
    )
