"""The slash command: search for oneself, leaf through, share what everybody may read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.chat_texts import ChatTexts, describe_age, get_chat_texts
from bot.conversation import Conversation
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.neutral import escape_mrkdwn, neutralise, shorten
from bot.handlers.slack.payloads import Click, Command
from bot.handlers.slack.rendering import (
    Block,
    SlackMessage,
    build_button,
    render_answer,
    render_note,
)
from bot.handlers.slack.rights import Rights
from bot.preferences.languages import Languages
from bot.search_query import build_filter, parse_search
from core.clock import Clock
from core.credentials import mask_credentials
from core.errors import SettingsError
from core.logging import MASK
from core.settings import BaseSettings
from knowledge.access import ReadableClasses
from knowledge.documents import Hit, PassageId, Status
from knowledge.ledger import Ledger
from knowledge.retrieval.lock import check_hits
from knowledge.retrieval.pipeline import Retriever
from knowledge.stores import PassageFilter, PassageStore

EARLIER, LATER, SHARE, ANSWER = "search_earlier", "search_later", "search_share", "search_answer"
SNIPPET_CHARS = 240
# All blocks of a message together take 13,200 characters.
MOST_SOURCES, SOURCE_CHARS = 8, 1_000
PLACE_CHARS = 300
# Up to ten results and the navigation each carry the search in a button, as JSON spells it.
MOST_WORDS, MOST_HEADING = 300, 150
_WEB = ("http://", "https://")


class SearchState(BaseModel):
    """What a button of a result list remembers: the search, not its results."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    words: str
    page: int = 0
    passage: str = ""

    def dump(self) -> str:
        """Return it as a button's value."""
        return json.dumps(self.model_dump(exclude_defaults=True), ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPage:
    """One page of results.

    Attributes:
        is_shareable: Whether there is a channel to share to.
    """

    state: SearchState
    hits: Sequence[Hit]
    has_more: bool
    is_shareable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """Searches on behalf of the account that asks; rights are those of the moment of each click."""

    api: SlackApi
    rights: Rights
    retriever: Retriever
    store: PassageStore
    ledger: Ledger
    conversation: Conversation
    languages: Languages
    bases: dict[str, BaseSettings]
    clock: Clock

    async def run(self, command: Command) -> None:
        """Answer the slash command, for the person alone."""
        words = " ".join(command.text.split())
        texts = get_chat_texts(await self.languages.for_person(command.user_id, words))
        if len(json.dumps(words, ensure_ascii=False)) > MOST_WORDS:
            said = texts.search_too_long
        elif not words:
            said = texts.search_help.format(command=command.command)
        else:
            try:
                message = await self._search(
                    command.user_id, SearchState(words=words), channel=command.channel_id
                )
            except SettingsError:
                said = texts.search_help.format(command=command.command)
            else:
                await self.api.respond(command.response_url, message)
                return
        await self.api.respond(command.response_url, render_note(said))

    async def turn(self, click: Click) -> None:
        """Show another page in place of the one there is."""
        state = _read_state(click)
        message = await self._search(click.user.id, state, channel=click.container.channel_id)
        await self.api.respond(click.response_url, message, replaces=True)

    async def share(self, click: Click) -> None:
        """Post a result into the channel, if everybody there may read it at this moment."""
        state, channel = _read_state(click), click.container.channel_id
        texts = get_chat_texts(await self.languages.for_person(click.user.id, state.words))
        said = await self._share(state, channel, click.user.id, texts)
        await self.api.respond(click.response_url, render_note(said))

    async def answer(self, click: Click) -> None:
        """Answer what was searched for, for the person alone."""
        state = _read_state(click)
        language = await self.languages.for_person(click.user.id, state.words)
        reader = await self.rights.resolve(click.user.id)
        if reader is None:
            refused = render_note(get_chat_texts(language).refused_stranger)
            await self.api.respond(click.response_url, refused)
            return
        answer = await self.conversation.ask(state.words, reader)
        messages = render_answer(answer, question_id="", language=language, now=self.clock.now())
        for message in messages:
            await self.api.whisper(
                click.container.channel_id,
                click.user.id,
                message,
                thread=click.container.thread_ts,
            )

    async def show_sources(self, click: Click, passages: Sequence[str], texts: ChatTexts) -> None:
        """Quote passages to whoever pressed, as far as they may read them now."""
        reader = await self.rights.resolve(click.user.id)
        hits = await self.load(passages, reader.asker_readable) if reader else []
        if not hits:
            await self.api.respond(click.response_url, render_note(texts.no_sources))
            return
        now = self.clock.now()
        blocks = [render_hit(hit, texts, now, snippet=SOURCE_CHARS) for hit in hits[:MOST_SOURCES]]
        message = SlackMessage(text=texts.show_sources, blocks=tuple(blocks))
        await self.api.respond(click.response_url, message)

    async def load(self, ids: Sequence[str], access: ReadableClasses) -> list[Hit]:
        """Return those of the passages that may be read, in order, checked by today's rules."""
        where = PassageFilter(access=access, any_time=True, statuses=frozenset(Status))
        found = await self.store.get([PassageId(one) for one in ids], where)
        shown = await check_hits(self.ledger, found, access, only_current=False)
        order = {name: index for index, name in enumerate(ids)}
        return sorted(shown, key=lambda hit: order[hit.passage_id])

    async def _search(self, account: str, state: SearchState, *, channel: str) -> SlackMessage:
        texts = get_chat_texts(await self.languages.for_person(account, state.words))
        reader = await self.rights.resolve(account)
        if reader is None:
            return render_note(texts.refused_stranger)
        query = parse_search(state.words)
        where = build_filter(query, reader.asker_readable, self.bases)
        size = self.rights.settings.search_page_size
        first = state.page * size
        found = await self.retriever.search(query.words, where, limit=first + size + 1)
        page = SearchPage(
            state=state,
            hits=found.hits[first : first + size],
            has_more=len(found.hits) > first + size,
            is_shareable=not channel.startswith("D"),
        )
        return render_page(page, texts, self.clock.now())

    async def _share(self, state: SearchState, channel: str, account: str, texts: ChatTexts) -> str:
        """Share a result; returns what to tell the person."""
        reader = await self.rights.resolve(account, channel=channel)
        hits = await self.load([state.passage], reader.audience_readable) if reader else []
        if not hits:
            return texts.share_refused
        intro: Block = {
            "type": "context",
            "elements": [{"type": "mrkdwn", "text": texts.shared_by.format(user=account)}],
        }
        block = render_hit(hits[0], texts, self.clock.now())
        try:
            await self.api.call(
                "chat.postMessage",
                channel=channel,
                text=escape_mrkdwn(neutralise(hits[0].title)),
                blocks=[intro, block],
                unfurl_links=False,
            )
        except SlackRefusedError as error:
            if error.code in {"not_in_channel", "channel_not_found"}:
                return texts.share_absent
            raise
        return texts.shared


def render_page(page: SearchPage, texts: ChatTexts, now: datetime) -> SlackMessage:
    """Return a page of results as a message for one person."""
    words = shorten(page.state.words, MOST_HEADING)
    if not page.hits:
        return render_note(texts.search_nothing.format(words=words))
    heading = texts.search_heading.format(words=words)
    blocks: list[Block] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": f"*{heading}*"}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": texts.search_only_you}]},
    ]
    for hit in page.hits:
        block = render_hit(hit, texts, now)
        if page.is_shareable:
            state = SearchState(words=page.state.words, passage=hit.passage_id)
            block["accessory"] = build_button(SHARE, texts.share, state.dump())
        blocks.append(block)
    blocks.append({"type": "actions", "elements": _build_navigation(page, texts)})
    return SlackMessage(text=heading, blocks=tuple(blocks))


def render_hit(hit: Hit, texts: ChatTexts, now: datetime, *, snippet: int = SNIPPET_CHARS) -> Block:
    """Return a result: its place as a link, version, date, age, and the beginning of its text."""
    place = " › ".join((hit.title, *hit.heading_path)).replace("|", "¦")
    label = shorten(place, PLACE_CHARS)
    is_web = hit.url.lower().startswith(_WEB)
    link = f"<{hit.url.replace('>', '%3E').replace('|', '%7C')}|{label}>" if is_web else label
    version = hit.version_label or f"v{hit.version_number}"
    details = [
        hit.space,
        version if not version[0].isdigit() else f"v{version}",
        texts.page.format(page=hit.page) if hit.page else "",
        f"{hit.updated_at:%Y-%m-%d} ({describe_age(hit.updated_at, now, texts)})",
    ]
    shown = shorten(mask_credentials(hit.text, MASK), snippet)
    said = f"*{link}*\n{escape_mrkdwn(' · '.join(filter(None, details)))}\n{shown}"
    return {"type": "section", "text": {"type": "mrkdwn", "text": said}}


def _build_navigation(page: SearchPage, texts: ChatTexts) -> list[Block]:
    state = page.state
    buttons = []
    if state.page > 0:
        earlier = replace_page(state, state.page - 1)
        buttons.append(build_button(EARLIER, texts.earlier, earlier.dump()))
    if page.has_more:
        later = replace_page(state, state.page + 1)
        buttons.append(build_button(LATER, texts.later, later.dump()))
    buttons.append(build_button(ANSWER, texts.answer_this, state.dump()))
    return buttons


def replace_page(state: SearchState, page: int) -> SearchState:
    """Return the same search at another page."""
    return state.model_copy(update={"page": page})


def _read_state(click: Click) -> SearchState:
    try:
        return SearchState.model_validate_json(click.action.value)
    except ValidationError as error:
        raise SettingsError(f"a button of a result list carries {click.action.value!r}") from error
