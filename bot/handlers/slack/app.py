"""The Bolt app: which listener takes what. Whatever Slack sends, one of them acknowledges it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import ValidationError
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from bot.handlers.slack import rendering, search
from bot.handlers.slack.api import OurAccount, bypass_proxy
from bot.handlers.slack.feedback import CORRECTION_FORM, Feedback
from bot.handlers.slack.intake import QUESTION, Intake
from bot.handlers.slack.payloads import Click, Command
from bot.handlers.slack.rendering import render_note
from bot.handlers.slack.rooms import Rooms
from bot.handlers.slack.roster import Roster
from bot.handlers.slack.search import Searching
from bot.handlers.slack.worker import Worker
from bot.inbox.store import Inbox
from core.chat_settings import SlackSettings
from core.errors import ZhixingError

_ANY = re.compile(".*")
_MEMBERSHIP = re.compile(
    "^(member_joined_channel|member_left_channel|channel_shared|channel_unshared|channel_deleted"
    "|channel_archive|channel_unarchive|channel_rename|group_.*)$"
)
_ACCOUNTS = re.compile("^(team_join|user_change)$")

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppParts:
    """What the listeners hand events to."""

    settings: SlackSettings
    account: OurAccount
    client: AsyncWebClient
    inbox: Inbox
    intake: Intake
    worker: Worker
    searching: Searching
    feedback: Feedback
    rooms: Rooms
    roster: Roster


def build_app(parts: AppParts) -> AsyncApp:
    """Build the app. Catch-all listeners stand last: what nobody takes is acknowledged too."""

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None,
            team_id=parts.account.team_id,
            bot_user_id=parts.account.user_id,
            bot_id=parts.account.bot_id,
            bot_token=parts.settings.bot_token.get_secret_value(),
        )

    client = AsyncWebClient(base_url=parts.settings.base_url, session=parts.client.session)
    bypass_proxy(client)
    app = AsyncApp(
        name="zhixing",
        client=client,
        signing_secret=parts.settings.signing_secret.get_secret_value(),
        authorize=authorize,
    )
    _register_messages(app, parts)
    _register_changes(app, parts)
    _register_buttons(app, parts)
    _register_command(app, parts)
    _register_rest(app, parts)
    return app


def _register_messages(app: AsyncApp, parts: AppParts) -> None:
    async def take(context: AsyncBoltContext) -> None:
        question = context.get(QUESTION)
        if question is not None:
            parts.worker.take(question)

    for event in ("app_mention", "message"):
        app.event(event, middleware=[parts.intake.accept])(take)


def _register_changes(app: AsyncApp, parts: AppParts) -> None:
    async def forget_room(event: Mapping[str, Any]) -> None:
        channel = event.get("channel")
        channel_id = channel.get("id") if isinstance(channel, Mapping) else channel
        parts.rooms.forget(str(channel_id))

    async def forget_account(event: Mapping[str, Any]) -> None:
        user = event.get("user")
        parts.roster.take_change(user if isinstance(user, Mapping) else {})

    app.event(_MEMBERSHIP)(forget_room)
    app.event(_ACCOUNTS)(forget_account)


def _register_buttons(app: AsyncApp, parts: AppParts) -> None:
    feedback, searching = parts.feedback, parts.searching
    handlers: Mapping[str, Callable[[Click], Awaitable[None]]] = {
        rendering.SOLVED: feedback.solve,
        rendering.NOT_SOLVED: feedback.object,
        rendering.SHOW_SOURCES: feedback.show_sources,
        rendering.TRY_AGAIN: feedback.try_again,
        search.EARLIER: searching.turn,
        search.LATER: searching.turn,
        search.SHARE: searching.share,
        search.ANSWER: searching.answer,
    }

    async def press(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        try:
            click = Click.model_validate(body)
        except ValidationError as error:
            _log.warning("slack_click_not_understood", reason=str(error))
            return
        parts.worker.spawn(_run(click), name=click.action.action_id)

    async def _run(click: Click) -> None:
        # Slack delivers a click again when its acknowledgement is lost.
        event_id = f"click:{click.user.id}:{click.action.action_id}:{click.action.action_ts}"
        if await parts.inbox.claim_event(event_id):
            await _apologise_for(handlers[click.action.action_id](click), click.response_url, parts)

    for action_id in handlers:
        app.action(action_id)(press)

    async def submit(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        parts.worker.spawn(feedback.take_correction(body), name=CORRECTION_FORM)

    app.view(CORRECTION_FORM)(submit)


def _register_command(app: AsyncApp, parts: AppParts) -> None:
    async def run(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        command = Command.model_validate(body)
        work = _apologise_for(parts.searching.run(command), command.response_url, parts)
        parts.worker.spawn(work, name=command.command)

    app.command(parts.settings.command)(run)


async def _apologise_for(work: Awaitable[None], response_url: str, parts: AppParts) -> None:
    """Tell whoever pressed or typed when it fails; the error itself goes to the log."""
    try:
        await work
    except Exception as error:
        kind = type(error) if isinstance(error, ZhixingError) else ZhixingError
        await parts.feedback.api.respond(response_url, render_note(kind.public_message))
        raise


def _register_rest(app: AsyncApp, parts: AppParts) -> None:
    async def ignore_event(event: Mapping[str, Any]) -> None:
        parts.intake.note_ignored(f"event {event.get('type')}")

    async def ignore(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        await ack()
        parts.intake.note_ignored(f"request {body.get('type') or body.get('command')}")

    async def offer_nothing(ack: AsyncAck, body: Mapping[str, Any]) -> None:
        await ack(options=[])
        parts.intake.note_ignored(f"request {body.get('type')}")

    app.event(_ANY)(ignore_event)
    for kind in ("dialog_submission", "dialog_cancellation", "interactive_message"):
        app.action({"type": kind, "callback_id": _ANY})(ignore)
    app.action(_ANY)(ignore)
    app.view(_ANY)(ignore)
    app.view_closed(_ANY)(ignore)
    app.shortcut(_ANY)(ignore)
    app.command(_ANY)(ignore)
    app.options({"type": "dialog_suggestion", "callback_id": _ANY})(offer_nothing)
    app.options(_ANY)(offer_nothing)
