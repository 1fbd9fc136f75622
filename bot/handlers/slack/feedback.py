"""The buttons below an answer, and the form behind "not solved"."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.chat_texts import ChatTexts, get_chat_texts
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.elements import actions, mrkdwn, section
from bot.handlers.slack.helping import Helping
from bot.handlers.slack.payloads import Click
from bot.handlers.slack.publishing import Publisher
from bot.handlers.slack.rendering import ASK_HUMAN, Block, SlackMessage, build_button, render_note
from bot.handlers.slack.search import Searching
from bot.handlers.slack.worker import Worker
from bot.inbox.questions import Question
from bot.inbox.store import Inbox
from bot.preferences.languages import Languages
from bot.rag.language import Language

CORRECTION_FORM, CORRECTION = "answer_correction", "correction"
MOST_CORRECTION = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What happens when a button below an answer is pressed.

    The person who asked says whether it is solved and may try again; anybody may see the sources,
    under their own rights.
    """

    api: SlackApi
    inbox: Inbox
    publisher: Publisher
    searching: Searching
    languages: Languages
    worker: Worker
    helping: Helping

    async def solve(self, click: Click) -> None:
        """Note that the answer helped."""
        question, texts = await self._find(click)
        if question is None or not await self._is_allowed(click, question, texts):
            return
        await self.inbox.save_feedback(question.question_id, click.user.id, is_solved=True)
        await self.api.respond(click.response_url, render_note(texts.thanks_solved))

    async def object(self, click: Click) -> None:
        """Note that the answer did not help, and ask what is wrong."""
        question, texts = await self._find(click)
        if question is None or not await self._is_allowed(click, question, texts):
            return
        # Slack's leave to open a form is over after three seconds.
        language = await self.languages.for_person(click.user.id, question.text)
        form = build_correction_form(question.question_id, language)
        await self.api.call("views.open", trigger_id=click.trigger_id, view=form)
        await self.inbox.save_feedback(question.question_id, click.user.id, is_solved=False)

    async def take_correction(self, body: Mapping[str, Any]) -> None:
        """Keep what the form says."""
        view = body["view"]
        question = await self.inbox.find(str(view["private_metadata"]))
        account = str(body["user"]["id"])
        if question is None or question.account != account:
            return
        typed = view["state"]["values"].get(CORRECTION, {}).get(CORRECTION, {}).get("value") or ""
        await self.inbox.save_feedback(
            question.question_id, account, is_solved=False, correction=str(typed)
        )
        texts = get_chat_texts(await self.languages.for_person(account, question.text))
        message = render_note(texts.thanks_not_solved)
        if await self.helping.find_people(question):
            button = build_button(ASK_HUMAN, texts.ask_human, question.question_id)
            blocks = (section(mrkdwn(message.text)), actions([button]))
            message = SlackMessage(text=message.text, blocks=blocks)
        await self.api.whisper(question.channel, account, message, thread=question.thread)

    async def show_sources(self, click: Click) -> None:
        """Quote what the answer rests on."""
        question, texts = await self._find(click)
        if question is not None:
            await self.searching.show_sources(click, question.passages, texts)

    async def try_again(self, click: Click) -> None:
        """Answer anew, in the same place."""
        question, texts = await self._find(click)
        if question is None or not await self._is_allowed(click, question, texts):
            return
        reopened = await self.inbox.reopen(question.question_id)
        if reopened is None:
            await self.api.respond(click.response_url, render_note(texts.still_working))
            return
        self.worker.take(reopened)

    async def _find(self, click: Click) -> tuple[Question | None, ChatTexts]:
        question = await self.inbox.find(click.action.value)
        # The words of a question that was forgotten are empty.
        if question is None or not question.text:
            texts = get_chat_texts("zh")
            said = f"{texts.gone} {get_chat_texts('en').gone}"
            await self.api.respond(click.response_url, render_note(said))
            return None, texts
        language = await self.languages.for_person(click.user.id, question.text)
        return question, get_chat_texts(language)

    async def _is_allowed(self, click: Click, question: Question, texts: ChatTexts) -> bool:
        """Tell whether whoever pressed asked the question; others are told why not."""
        if click.user.id == question.account:
            return True
        await self.api.respond(click.response_url, render_note(texts.asker_only))
        return False


def build_correction_form(question_id: str, language: Language) -> Block:
    """Return the form that asks what is wrong with an answer."""
    texts = get_chat_texts(language)
    return {
        "type": "modal",
        "callback_id": CORRECTION_FORM,
        "private_metadata": question_id,
        "title": _plain(texts.correction_title),
        "submit": _plain(texts.send),
        "close": _plain(texts.cancel),
        "blocks": [
            {
                "type": "input",
                "block_id": CORRECTION,
                "optional": True,
                "label": _plain(texts.correction_label),
                "hint": _plain(texts.correction_hint),
                "element": {
                    "type": "plain_text_input",
                    "action_id": CORRECTION,
                    "multiline": True,
                    "max_length": MOST_CORRECTION,
                },
            }
        ],
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}
