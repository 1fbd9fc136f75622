"""The Bolt app: which listener takes what. Whatever Slack sends, one of them acknowledges it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from bot.agent.confirmation import Confirmation
from bot.handlers.slack import card_rendering, home_rendering, memory_desk, rendering, search
from bot.handlers.slack.action_desk import ActionDesk
from bot.handlers.slack.api import OurAccount, bypass_proxy
from bot.handlers.slack.asking import ASK, ASK_ABOUT, ASK_FORM, Asking
from bot.handlers.slack.cards import CardKeeper
from bot.handlers.slack.channel_form import CHANNEL_FORM
from bot.handlers.slack.commands import Commands
from bot.handlers.slack.feedback import CORRECTION_FORM, Feedback
from bot.handlers.slack.helping import Helping
from bot.handlers.slack.home import Home
from bot.handlers.slack.intake import QUESTION, Intake
from bot.handlers.slack.mail_form import MAIL_FORM
from bot.handlers.slack.pressing import ClickHandler, Pressing
from bot.handlers.slack.rooms import Rooms
from bot.handlers.slack.roster import Roster
from bot.handlers.slack.search import Searching
from bot.handlers.slack.user_groups import GroupKeeper
from bot.handlers.slack.welcome import Welcome
from bot.handlers.slack.worker import Worker
from bot.inbox.store import Inbox
from core.chat_settings import SlackSettings

_ANY = re.compile(".*")
_MEMBERSHIP = re.compile(
    "^(member_joined_channel|member_left_channel|channel_shared|channel_unshared|channel_deleted"
    "|channel_archive|channel_unarchive|channel_rename|group_.*)$"
)
_GROUPS = re.compile("^subteam_(created|updated|members_changed)$")
_ACCOUNTS = re.compile("^(team_join|user_change)$")


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
    pressing: Pressing
    commands: Commands
    desk: ActionDesk
    keeper: CardKeeper
    confirmation: Confirmation
    home: Home
    rooms: Rooms
    roster: Roster
    welcome: Welcome
    groups: GroupKeeper
    asking: Asking
    helping: Helping


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
    _register_forms(app, parts)
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

    async def open_home(event: dict[str, Any]) -> None:
        parts.intake.note_ignored(f"event {event['type']}")
        parts.worker.spawn(parts.home.open(event), name="home")

    async def forget_groups() -> None:
        parts.groups.forget()

    async def is_messages_tab(event: Mapping[str, Any]) -> bool:
        return event.get("tab") == "messages"

    async def greet(event: Mapping[str, Any]) -> None:
        parts.intake.note_ignored(f"event {event['type']}")
        await parts.welcome.greet(event)

    app.event("app_home_opened", matchers=[is_messages_tab])(greet)
    app.event("app_home_opened")(open_home)
    app.event("assistant_thread_started")(greet)
    app.event(_MEMBERSHIP)(forget_room)
    app.event(_ACCOUNTS)(forget_account)
    app.event(_GROUPS)(forget_groups)


def _register_buttons(app: AsyncApp, parts: AppParts) -> None:
    feedback, searching = parts.feedback, parts.searching
    desk, home = parts.desk, parts.home
    handlers: Mapping[str, ClickHandler] = {
        rendering.SOLVED: feedback.solve,
        rendering.NOT_SOLVED: feedback.object,
        rendering.SHOW_SOURCES: feedback.show_sources,
        rendering.TRY_AGAIN: feedback.try_again,
        rendering.ASK_HUMAN: parts.helping.call,
        rendering.RESOLVE: parts.helping.resolve,
        rendering.SHARE_ANSWER: parts.asking.share,
        search.EARLIER: searching.turn,
        search.LATER: searching.turn,
        search.SHARE: searching.share,
        search.ANSWER: searching.answer,
        card_rendering.CONFIRM: desk.confirm,
        card_rendering.EDIT: desk.edit,
        card_rendering.CANCEL: desk.cancel,
        card_rendering.ARRIVED: desk.note_arrived,
        card_rendering.NOT_ARRIVED: desk.note_not_arrived,
        card_rendering.SEND_AGAIN: desk.send_again,
        card_rendering.CHECK_AGAIN: desk.check_again,
        card_rendering.DRAFT_AGAIN: desk.draft_again,
        home_rendering.LANGUAGE: home.choose_language,
        home_rendering.FORGET: home.forget,
        home_rendering.CHANNEL: home.choose_channel,
        memory_desk.FORGET: parts.home.memory.press,
    }
    press = parts.pressing.build_click_listener(handlers)
    for action_id in handlers:
        app.action(action_id)(press)


def _register_forms(app: AsyncApp, parts: AppParts) -> None:
    async def take_correction(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        parts.worker.spawn(parts.feedback.take_correction(body), name=CORRECTION_FORM)

    async def take_mail(ack: AsyncAck, body: dict[str, Any]) -> None:
        # Kept before it is acknowledged: a form that was closed is gone.
        await ack(**await parts.desk.submit(body))

    async def take_channel(ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        parts.worker.spawn(parts.home.save_channel(body), name=CHANNEL_FORM)

    async def take_question(ack: AsyncAck, body: dict[str, Any]) -> None:
        # Accepted before it is acknowledged, as messages are.
        await ack(**await parts.asking.submit(body))

    open_form = parts.pressing.build_shortcut_listener(parts.asking.open_form)
    app.message_shortcut(ASK_ABOUT)(open_form)
    app.global_shortcut(ASK)(open_form)
    app.view(ASK_FORM)(take_question)
    app.view(CORRECTION_FORM)(take_correction)
    app.view(CHANNEL_FORM)(take_channel)
    app.view(MAIL_FORM)(take_mail)


def _register_command(app: AsyncApp, parts: AppParts) -> None:
    listener = parts.pressing.build_command_listener(parts.commands.run)
    app.command(parts.settings.command)(listener)


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
