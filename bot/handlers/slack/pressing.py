"""Presses and commands: acknowledged first, taken once, apologised for when they fail."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import ValidationError
from slack_bolt.async_app import AsyncAck

from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.payloads import Click, Command, Shortcut
from bot.handlers.slack.rendering import render_note
from bot.handlers.slack.worker import Worker
from bot.inbox.store import Inbox
from core.errors import ZhixingError

ClickHandler = Callable[[Click], Awaitable[None]]
CommandHandler = Callable[[Command], Awaitable[None]]
ShortcutHandler = Callable[[Shortcut], Awaitable[None]]
Listener = Callable[[AsyncAck, dict[str, Any]], Awaitable[None]]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressing:
    """Builds listeners out of what is to be done."""

    api: SlackApi
    inbox: Inbox
    worker: Worker

    def build_click_listener(self, handlers: Mapping[str, ClickHandler]) -> Listener:
        """Return a listener for the elements of these action ids."""

        async def press(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            try:
                click = Click.model_validate(body)
            except ValidationError as error:
                _log.warning("slack_click_not_understood", reason=str(error))
                return
            self.worker.spawn(self._run(click, handlers), name=click.action.action_id)

        return press

    def build_command_listener(self, handler: CommandHandler) -> Listener:
        """Return a listener for the slash command."""

        async def run(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            command = Command.model_validate(body)
            work = self._apologise_for(handler(command), command.response_url, command.user_id)
            self.worker.spawn(work, name=command.command)

        return run

    def build_shortcut_listener(self, handler: ShortcutHandler) -> Listener:
        """Return a listener for a shortcut."""

        async def run(ack: AsyncAck, body: dict[str, Any]) -> None:
            await ack()
            shortcut = Shortcut.model_validate(body)
            work = self._apologise_for(handler(shortcut), shortcut.response_url, shortcut.user.id)
            self.worker.spawn(work, name=str(body.get("callback_id")))

        return run

    async def _run(self, click: Click, handlers: Mapping[str, ClickHandler]) -> None:
        # Slack delivers a click again when its acknowledgement is lost.
        event_id = f"click:{click.user.id}:{click.action.action_id}:{click.action.action_ts}"
        if await self.inbox.claim_event(event_id):
            work = handlers[click.action.action_id](click)
            await self._apologise_for(work, click.response_url, click.user.id)

    async def _apologise_for(self, work: Awaitable[None], response_url: str, account: str) -> None:
        """Tell whoever pressed or typed when it fails; the error itself goes to the log."""
        try:
            await work
        except Exception as error:
            kind = type(error) if isinstance(error, ZhixingError) else ZhixingError
            note = render_note(kind.public_message)
            if response_url:
                await self.api.respond(response_url, note)
            else:
                # What is pressed in the App Home has no such address.
                await self.api.write_to(account, note)
            raise
