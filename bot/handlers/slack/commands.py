"""The slash command: which of its words call for what. Everything else is searched for."""

from dataclasses import dataclass

from bot.chat_texts import get_chat_texts
from bot.handlers.slack.action_desk import ActionDesk
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.payloads import Command
from bot.handlers.slack.rendering import render_note
from bot.handlers.slack.search import Searching

# In both languages; `search` lets one look for these very words.
_EMAIL = frozenset({"email", "e-mail", "mail", "邮件", "发邮件", "写邮件"})
_HELP = frozenset({"help", "?", "？", "帮助"})
_SEARCH = frozenset({"search", "搜索", "查"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """Hands each command to what it is for."""

    api: SlackApi
    searching: Searching
    desk: ActionDesk

    async def run(self, command: Command) -> None:
        """Take a command."""
        first, _, rest = command.text.strip().partition(" ")
        word = first.casefold()
        if word in _EMAIL:
            await self.desk.open_form(command, rest)
        elif word in _HELP and not rest:
            await self._help(command)
        elif word in _SEARCH and rest:
            await self.searching.run(command.model_copy(update={"text": rest}))
        else:
            await self.searching.run(command)

    async def _help(self, command: Command) -> None:
        texts = get_chat_texts("en" if command.text.strip().casefold() == "help" else "zh")
        said = texts.command_help.format(command=command.command)
        await self.api.respond(command.response_url, render_note(said))
