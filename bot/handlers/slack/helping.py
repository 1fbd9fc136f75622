"""The button "ask a human": people are called to a question, and say when it is resolved."""

from dataclasses import dataclass

from bot.chat_texts import ChatTexts, get_chat_texts
from bot.handlers.slack.api import CALL, Place, SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.elements import actions, mrkdwn, section
from bot.handlers.slack.neutral import shorten
from bot.handlers.slack.payloads import Click
from bot.handlers.slack.publishing import CLOCKS_DIFFER_BY, place_of
from bot.handlers.slack.rendering import RESOLVE, SlackMessage, build_button, render_note
from bot.inbox.help_requests import HelpPost, HelpRequest, HelpRequests
from bot.inbox.questions import Question
from bot.inbox.store import Inbox
from bot.preferences.languages import Languages
from bot.preferences.store import Preferences
from core.chat_settings import SlackSettings

# A paragraph takes 3,000 characters, names and frame included.
QUOTED_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Helping:
    """Calls people.

    They are told the question and nothing of any page: in its thread, where it stands for everybody
    to read, or directly when it was asked directly, by whoever asked it and pressed the button. It
    is resolved by those who were called, or by whoever asked.
    """

    api: SlackApi
    inbox: Inbox
    requests: HelpRequests
    preferences: Preferences
    languages: Languages
    settings: SlackSettings

    async def find_people(self, question: Question) -> tuple[str, ...]:
        """Return whom to call for a question: those of its channel, else those of the settings."""
        chosen: tuple[str, ...] = ()
        if not question.is_direct:
            chosen = (await self.preferences.load_channel(question.channel)).people_to_call
        people = chosen or self.settings.people_to_call
        return tuple(one for one in dict.fromkeys(people) if one != question.account)

    async def call(self, click: Click) -> None:
        """Call people to a question, once."""
        question = await self.inbox.find(click.action.value)
        texts = await self._speak(question, click.user.id)
        said = texts.gone if question is None else await self._call(question, click.user.id, texts)
        await self.api.respond(click.response_url, render_note(said))

    async def _speak(self, question: Question | None, account: str) -> ChatTexts:
        """Return our own words, as chosen by the person or for the channel."""
        if question is None:
            return get_chat_texts(await self.languages.for_person(account))
        channel = "" if question.is_direct else question.channel
        return get_chat_texts(
            await self.languages.for_place(question.account, channel, question.text)
        )

    async def _call(self, question: Question, account: str, texts: ChatTexts) -> str:
        """Call people; returns what to tell whoever pressed."""
        if account != question.account:
            return texts.asker_only
        people = await self.find_people(question)
        if not people or question.is_withdrawn:
            return texts.nobody_to_call
        request = await self.requests.open(question.question_id, account, people)
        if request is None:
            return texts.called_before
        await self._post(request, question)
        return texts.called.format(people=_name(people))

    async def resolve(self, click: Click) -> None:
        """Mark a call as resolved."""
        request = await self.requests.find(click.action.value)
        question = await self.inbox.find(click.action.value)
        texts = await self._speak(question, click.user.id)
        if request is None or question is None:
            await self.api.respond(click.response_url, render_note(texts.gone))
            return
        account = click.user.id
        if account not in {request.account, *request.called}:
            await self.api.respond(click.response_url, render_note(texts.helpers_only))
            return
        if not await self.requests.resolve(request.question_id, account):
            await self.api.respond(click.response_url, render_note(texts.resolved_before))
        # Also when somebody did so before, and was kept from saying it.
        resolved = await self.requests.find(request.question_id) or request
        message = render_call(resolved, question, texts)
        for post in resolved.posts:
            await self.api.update(post.channel, post.ts, message)

    async def repair(self) -> None:
        """Post what another process wrote down and did not post."""
        for request in await self.requests.take_unposted():
            question = await self.inbox.find(request.question_id)
            if question is not None:
                await self._post(request, question)

    async def _post(self, request: HelpRequest, question: Question) -> None:
        texts = await self._speak(question, request.account)
        message = render_call(request, question, texts)
        posts = []
        for part, place in enumerate(await self._find_places(request, question)):
            ts = await self._post_once(place, message, question, part)
            posts.append(HelpPost(channel=place.channel, ts=ts))
        await self.requests.save_posts(question.question_id, posts)

    async def _post_once(
        self, place: Place, message: SlackMessage, question: Question, part: int
    ) -> str:
        found = await self.api.find_posts(place, question.question_id, kind=CALL)
        return found.get(part) or await self.api.post(
            place, message, question_id=question.question_id, part=part, kind=CALL
        )

    async def _find_places(self, request: HelpRequest, question: Question) -> list[Place]:
        if not question.is_direct:
            return [place_of(question)]
        since = f"{(request.at - CLOCKS_DIFFER_BY).timestamp():.6f}"
        places = []
        for person in request.called:
            try:
                channel = await self.api.open_direct(person)
            except SlackRefusedError:
                # Somebody who left; the others are called all the same.
                continue
            places.append(Place(channel=channel, thread="", since=since))
        return places


def render_call(request: HelpRequest, question: Question, texts: ChatTexts) -> SlackMessage:
    """Return the message that calls people, or says that it is resolved. Pure."""
    said = texts.help_needed.format(
        people=_name(request.called),
        asker=f"<@{request.account}>",
        question=shorten(question.text, QUOTED_CHARS),
    )
    if request.resolved_by:
        said += "\n" + texts.resolved.format(person=f"<@{request.resolved_by}>")
        return SlackMessage(text=said, blocks=(section(mrkdwn(said)),))
    button = build_button(RESOLVE, texts.mark_resolved, question.question_id)
    return SlackMessage(text=said, blocks=(section(mrkdwn(said)), actions([button])))


def _name(people: tuple[str, ...]) -> str:
    return " ".join(f"<@{one}>" for one in people)
