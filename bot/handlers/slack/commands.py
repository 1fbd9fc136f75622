"""The slash command: which of its words call for what. Everything else is searched for."""

from dataclasses import dataclass

from bot.chat_texts import get_chat_texts
from bot.handlers.slack.action_desk import ActionDesk
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.memory_desk import MemoryDesk
from bot.handlers.slack.payloads import Command
from bot.handlers.slack.rendering import render_note
from bot.handlers.slack.rights import Rights
from bot.handlers.slack.search import Searching
from bot.handlers.slack.status import render_status
from bot.home_texts import get_home_texts
from bot.preferences.languages import Languages
from core.clock import Clock
from core.database import Database
from knowledge.sync_status import load_status

# In both languages; `search` lets one look for these very words.
_EMAIL = frozenset({"email", "e-mail", "mail", "邮件", "发邮件", "写邮件"})
_STATUS = frozenset({"status", "状态"})
_MEMORY = frozenset({"memory", "记忆"})
_FORGET = frozenset({"forget", "忘掉", "忘记"})
_HELP = frozenset({"help", "?", "？", "帮助"})
_SEARCH = frozenset({"search", "搜索", "查"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """Hands each command to what it is for."""

    api: SlackApi
    searching: Searching
    desk: ActionDesk
    memory: MemoryDesk
    rights: Rights
    languages: Languages
    database: Database
    clock: Clock

    async def run(self, command: Command) -> None:
        """Take a command."""
        first, _, rest = command.text.strip().partition(" ")
        word = first.casefold()
        if word in _EMAIL:
            await self.desk.open_form(command, rest)
        elif word in _STATUS and not rest:
            await self._show_status(command)
        elif word in _MEMORY and not rest:
            await self.memory.show(command)
        elif word in _FORGET and not rest:
            await self.memory.ask_back(command)
        elif word in _HELP and not rest:
            await self._help(command)
        elif word in _SEARCH and rest:
            await self.searching.run(command.model_copy(update={"text": rest}))
        else:
            await self.searching.run(command)

    async def _show_status(self, command: Command) -> None:
        words = "" if command.text.isascii() else command.text
        language = await self.languages.for_person(command.user_id, words)
        if await self.rights.is_admin(command.user_id):
            sources = await load_status(self.database)
            message = render_status(sources, language=language, now=self.clock.now())
        else:
            message = render_note(get_home_texts(language).admins_only)
        await self.api.respond(command.response_url, message)

    async def _help(self, command: Command) -> None:
        texts = get_chat_texts("en" if command.text.strip().casefold() == "help" else "zh")
        said = texts.command_help.format(command=command.command)
        await self.api.respond(command.response_url, render_note(said))
