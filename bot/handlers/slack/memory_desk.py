"""`/kb memory` and `/kb forget`: what is remembered of somebody, and its end.

Whose memory it is goes by the account that Slack names, never by what a button carries.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.chat_texts import describe_age, get_chat_texts
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.elements import Block, actions, context, header, plain, section
from bot.handlers.slack.neutral import shorten
from bot.handlers.slack.payloads import Click, Command
from bot.handlers.slack.rendering import SlackMessage, build_button, render_note
from bot.handlers.slack.rights import Rights
from bot.handlers.slack.roster import SYSTEM
from bot.inbox.store import Inbox
from bot.memory.memory_texts import MemoryTexts, get_memory_texts
from bot.memory.session import SessionMemory
from bot.memory.summarising import find_gist
from bot.memory.turns import Remembered, Turn, TurnStore
from bot.preferences.languages import Languages
from bot.rag.language import Language
from core.clock import Clock

FORGET = "memory_forget"
MOST_SHOWN, MOST_CHARS = 20, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDesk:
    """Shows people what is remembered of them, and forgets it.

    Attributes:
        days: For how long it is remembered.
    """

    api: SlackApi
    rights: Rights
    inbox: Inbox
    memory: SessionMemory
    turns: TurnStore
    languages: Languages
    clock: Clock
    days: float

    async def show(self, command: Command) -> None:
        """Show somebody what is remembered of them, as far as they may read it today."""
        language = await self._speak(command)
        texts = get_memory_texts(language)
        reader = await self.rights.resolve(command.user_id)
        shown, hidden = ([], 0) if reader is None else await self.memory.list_own(reader)
        if not shown and not hidden:
            await self.api.respond(command.response_url, render_note(texts.nothing))
            return
        blocks: list[Block] = [header(texts.heading)]
        ages = get_chat_texts(language)
        for turn in reversed(shown[-MOST_SHOWN:]):
            age = describe_age(turn.at, self.clock.now(), ages)
            blocks.append(context(f"{_describe(turn, texts)}\n{age}{_name_place(turn.thread)}"))
        if len(shown) > MOST_SHOWN:
            blocks.append(context(texts.more.format(count=len(shown) - MOST_SHOWN)))
        if hidden:
            blocks.append(context(texts.hidden.format(count=hidden)))
        blocks.append(context(texts.kept_for.format(days=f"{self.days:g}")))
        blocks.append(_offer_to_forget(texts))
        message = SlackMessage(text=texts.heading, blocks=tuple(blocks))
        await self.api.respond(command.response_url, message)

    async def ask_back(self, command: Command) -> None:
        """Ask somebody whether all of it is to be forgotten."""
        texts = get_memory_texts(await self._speak(command))
        counts = [await self.turns.count(one) for one in await self._name(command.user_id)]
        said = texts.count(_sum(counts)) if any(one.is_any for one in counts) else texts.nothing
        blocks = (section(plain(said)), context(texts.confirm), _offer_to_forget(texts))
        await self.api.respond(command.response_url, SlackMessage(text=said, blocks=blocks))

    async def press(self, click: Click) -> None:
        """Forget, and tell how much it was."""
        language = await self.languages.for_person(click.user.id)
        gone = await self.forget(click.user.id)
        said = get_memory_texts(language).describe_forgotten(gone)
        await self.api.respond(click.response_url, render_note(said), replaces=True)

    async def forget(self, account: str) -> Remembered:
        """Forget what an account said, everywhere, and the words of its questions."""
        gone = _sum([await self.turns.forget(one) for one in await self._name(account)])
        await self.inbox.forget_texts(account)
        return gone

    async def _name(self, account: str) -> Sequence[str]:
        """Return the names turns are kept under: of whom nobody knew then, and somebody does."""
        person = await self.rights.identify(account)
        return sorted({f"{SYSTEM}:{account}", person.person_id if person else ""} - {""})

    async def _speak(self, command: Command) -> Language:
        words = "" if command.text.isascii() else command.text
        return await self.languages.for_person(command.user_id, words)


def _sum(counts: Sequence[Remembered]) -> Remembered:
    return Remembered(
        turns=sum(one.turns for one in counts),
        summaries=sum(one.summaries for one in counts),
        threads=sum(one.threads for one in counts),
    )


def _describe(turn: Turn, texts: MemoryTexts) -> str:
    if turn.is_summary:
        return _clean(texts.in_short.format(text=turn.answer))
    gist = find_gist(turn.answer)
    return f"*{_clean(turn.question)}*" + (f"\n{_clean(gist)}" if gist else "")


def _clean(text: str) -> str:
    return shorten(text.replace("*", "∗"), MOST_CHARS)


def _name_place(thread: str) -> str:
    """Name the channel of a thread; a direct conversation needs no name."""
    system, _, rest = thread.partition(":")
    channel = rest.split(":", 1)[0]
    return f" · <#{channel}>" if system == SYSTEM and channel.startswith(("C", "G")) else ""


def _offer_to_forget(texts: MemoryTexts) -> Block:
    return actions(
        [
            {
                **build_button(FORGET, texts.forget, "forget"),
                "style": "danger",
                "confirm": {
                    "title": plain(texts.forget),
                    "text": plain(texts.confirm),
                    "confirm": plain(texts.forget),
                    "deny": plain(texts.cancel),
                },
            }
        ]
    )
