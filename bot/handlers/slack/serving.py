"""The Slack part of a serving process: built from the product, run until told to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp

from bot.agent.action_store import ActionStore
from bot.agent.card_store import CardStore
from bot.agent.wiring import build_confirmation, build_deciders
from bot.assembly import build_turn_store
from bot.bootstrap import Product
from bot.handlers.slack.action_desk import ActionDesk
from bot.handlers.slack.answering import Answering
from bot.handlers.slack.api import SlackApi, open_slack_api
from bot.handlers.slack.app import AppParts, build_app
from bot.handlers.slack.asking import Asking
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.card_renderer import CardRenderer
from bot.handlers.slack.cards import CardKeeper
from bot.handlers.slack.commands import Commands
from bot.handlers.slack.feedback import Feedback
from bot.handlers.slack.helping import Helping
from bot.handlers.slack.home import Home
from bot.handlers.slack.intake import Intake
from bot.handlers.slack.live import LiveParts
from bot.handlers.slack.memory_desk import MemoryDesk
from bot.handlers.slack.pressing import Pressing
from bot.handlers.slack.publishing import Publisher
from bot.handlers.slack.rights import Rights
from bot.handlers.slack.rooms import Rooms
from bot.handlers.slack.roster import SYSTEM, Roster
from bot.handlers.slack.search import Searching
from bot.handlers.slack.user_groups import GroupKeeper, UserGroups
from bot.handlers.slack.welcome import Welcome
from bot.handlers.slack.worker import Worker
from bot.inbox.amendments import Amendments
from bot.inbox.help_requests import HelpRequests
from bot.inbox.pace import Limits
from bot.inbox.store import Inbox
from bot.preferences.languages import Languages
from bot.preferences.store import Preferences
from core.chat_settings import SlackSettings
from core.clock import SystemClock
from core.errors import SettingsError

_log = structlog.get_logger(__name__)


async def serve_slack(product: Product, stop: asyncio.Event) -> None:
    """Answer in Slack until told to stop, then finish what is under way.

    Raises:
        SettingsError: A token is missing or not taken.
    """
    settings = product.state.settings.slack
    check_settings(settings)
    async with open_slack_api(settings) as api:
        parts = await build_parts(product, api)
        async with _listen(build_app(parts), parts):
            _log.info("slack_connected", mode=settings.mode)
            async with asyncio.TaskGroup() as group:
                group.create_task(parts.worker.serve(stop))
                group.create_task(parts.keeper.serve(parts.confirmation, stop))
        # Nothing new comes any more.
        await parts.worker.finish()
        await parts.keeper.finish(timeout_s=settings.stop_timeout_s)


def check_settings(settings: SlackSettings) -> None:
    """Refuse settings that can't work.

    Raises:
        SettingsError: A token is missing.
    """
    wanted = {"bot_token": (settings.bot_token, "SLACK_BOT_TOKEN")}
    if settings.mode == "socket":
        wanted["app_token"] = (settings.app_token, "SLACK_APP_TOKEN")
    else:
        wanted["signing_secret"] = (settings.signing_secret, "SLACK_SIGNING_SECRET")
    for name, (secret, variable) in wanted.items():
        if not secret.get_secret_value():
            raise SettingsError(
                f"slack.{name} is missing for mode {settings.mode!r}; set {variable} "
                "(docs/slack.md)"
            )


async def build_parts(product: Product, api: SlackApi) -> AppParts:
    """Put together what answers in Slack."""
    state, settings = product.state, product.state.settings.slack
    account = await api.identify()
    inbox = Inbox(
        state.database,
        SystemClock(),
        platform=SYSTEM,
        lease_s=settings.lease_s,
        limits=_build_limits(settings),
    )
    roster = Roster(api, settings, team_id=account.team_id)
    rooms = Rooms(api, settings, roster=roster, directory=state.directory)
    preferences = Preferences(state.database, platform=SYSTEM)
    languages = Languages(preferences)
    rights = Rights(
        registry=state.registry,
        memberships=product.memberships,
        roster=roster,
        rooms=rooms,
        preferences=preferences,
        settings=settings,
    )
    publisher = Publisher(api, inbox, bot_user_id=account.user_id)
    helping = Helping(
        api=api,
        inbox=inbox,
        requests=HelpRequests(
            state.database, SystemClock(), platform=SYSTEM, lease_s=settings.lease_s
        ),
        preferences=preferences,
        languages=languages,
        settings=settings,
    )
    mail = state.settings.mail
    card_store = CardStore(state.database, SystemClock(), platform=SYSTEM)
    renderer = CardRenderer(rights=rights, mail=mail, skills=product.skills)
    keeper = CardKeeper(api, card_store, renderer.render, every_s=settings.sweep_s)
    confirmation = build_confirmation(product, notify=keeper.notify)
    actions = ActionStore(state.database)
    desk = ActionDesk(
        api=api,
        rights=rights,
        confirmation=confirmation,
        deciders=build_deciders(product),
        actions=actions,
        cards=card_store,
        keeper=keeper,
        preferences=preferences,
        languages=languages,
        mail=mail,
    )
    answering = Answering(
        api=api,
        inbox=inbox,
        publisher=publisher,
        live=LiveParts(
            api=api,
            inbox=inbox,
            publisher=publisher,
            show_every_s=settings.show_every_s,
            is_streaming=settings.stream_answers,
        ),
        helping=helping,
        rights=rights,
        conversation=product.conversation,
        desk=desk,
        languages=languages,
        clock=state.clock,
        settings=settings,
        team_id=account.team_id,
    )
    groups = GroupKeeper(
        UserGroups(api, roster, state.directory.load),
        state.directory,
        state.clock,
        every_s=settings.roster_fresh_s,
    )
    worker = Worker(answering, inbox, settings, chores=(helping.repair, groups.keep))
    searching = Searching(
        api=api,
        rights=rights,
        retriever=product.retriever,
        store=product.store,
        ledger=state.ledger,
        conversation=product.conversation,
        languages=languages,
        bases=state.settings.bases,
        clock=state.clock,
    )
    feedback = Feedback(
        api=api,
        inbox=inbox,
        publisher=publisher,
        searching=searching,
        languages=languages,
        worker=worker,
        helping=helping,
    )
    memory = MemoryDesk(
        api=api,
        rights=rights,
        inbox=inbox,
        memory=product.conversation.parts.memory,
        turns=build_turn_store(state.settings, state.database),
        languages=languages,
        clock=state.clock,
        days=state.settings.memory.days,
    )
    home = Home(
        api=api,
        rights=rights,
        inbox=inbox,
        memory=memory,
        preferences=preferences,
        languages=languages,
        actions=actions,
        cards=card_store,
        bases=sorted({*state.settings.bases, *state.settings.sources}),
        skills=product.skills,
    )
    return AppParts(
        settings=settings,
        account=account,
        client=api.client,
        inbox=inbox,
        intake=Intake(
            inbox,
            settings,
            preferences,
            Amendments(state.database, inbox),
            bot_user_id=account.user_id,
        ),
        worker=worker,
        searching=searching,
        feedback=feedback,
        pressing=Pressing(api=api, inbox=inbox, worker=worker),
        commands=Commands(
            api=api,
            searching=searching,
            desk=desk,
            memory=memory,
            rights=rights,
            languages=languages,
            database=state.database,
            clock=state.clock,
        ),
        desk=desk,
        home=home,
        keeper=keeper,
        confirmation=confirmation,
        rooms=rooms,
        roster=roster,
        welcome=Welcome(api, settings),
        groups=groups,
        helping=helping,
        asking=Asking(
            api=api,
            inbox=inbox,
            rooms=rooms,
            searching=searching,
            worker=worker,
            languages=languages,
            bot_user_id=account.user_id,
        ),
    )


def _build_limits(settings: SlackSettings) -> Limits:
    return Limits(
        per_person=settings.questions_per_person,
        per_channel=settings.questions_per_channel,
        window=timedelta(seconds=settings.limit_window_s),
        waiting_per_person=settings.waiting_per_person,
        waiting_per_channel=settings.waiting_per_channel,
    )


def _listen(app: AsyncApp, parts: AppParts) -> AbstractAsyncContextManager[None]:
    if parts.settings.mode == "socket":
        return _listen_on_socket(app, parts)
    return listen_on_http(app, parts.settings)


@asynccontextmanager
async def _listen_on_socket(app: AsyncApp, parts: AppParts) -> AsyncIterator[None]:
    token = parts.settings.app_token.get_secret_value()
    await _check_app_token(parts, token)
    handler = AsyncSocketModeHandler(app, token, ping_interval=parts.settings.ping_interval_s)
    # The same way round a proxy as the Web API.
    handler.client.proxy = parts.client.proxy
    # Tries until it succeeds, which must not keep the process from being stopped.
    connecting = asyncio.create_task(handler.connect_async())
    try:
        yield
    finally:
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        await handler.close_async()


async def _check_app_token(parts: AppParts, token: str) -> None:
    """Ask for a connection once: the client itself would ask for ever."""
    try:
        await SlackApi(parts.client).open_connection(token)
    except SlackRefusedError as error:
        raise SettingsError(
            f"Slack does not take the app token ({error.code}); set SLACK_APP_TOKEN to an "
            "app-level token (xapp-…) with the scope connections:write"
        ) from error


@asynccontextmanager
async def listen_on_http(app: AsyncApp, settings: SlackSettings) -> AsyncIterator[None]:
    """Take events over HTTP, signatures checked by Bolt."""

    async def take(request: web.Request) -> web.Response:
        if not request.headers.get("X-Slack-Request-Timestamp", "0").isdecimal():
            # Bolt would stumble over it and answer 500.
            return web.json_response({"error": "invalid request"}, status=401)
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))

    server = web.Application()
    server.router.add_post(settings.path, take)
    runner = web.AppRunner(server, shutdown_timeout=settings.stop_timeout_s)
    await runner.setup()
    try:
        await web.TCPSite(runner, settings.host, settings.port).start()
        yield
    except OSError as error:
        raise SettingsError(
            f"nothing can be served at {settings.host}:{settings.port}: {error.strerror}; set "
            "slack.host and slack.port"
        ) from error
    finally:
        await runner.cleanup()
