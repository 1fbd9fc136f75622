"""Starting in Slack: what is missing or wrong is said before anybody is kept waiting."""

import asyncio
from dataclasses import replace

import pytest
from pydantic import SecretStr

from bot.bootstrap import open_product
from bot.handlers.slack.serving import check_settings, serve_slack
from bot.serving import Role, serve_bot, serve_roles
from core.chat_settings import SlackSettings
from core.clock import FixedClock, parse_moment
from core.errors import SettingsError
from core.settings import load_settings
from playground.slack.server import BOT_TOKEN
from playground.slack.server import serve_slack as serve_workspace
from tests.unit.bot.office import LEAVE_QUESTION, OPS, TODAY, Office
from tests.unit.bot.slack.workplace import (
    MIXED,
    build_workspace,
    open_workplace,
    settings_for,
    words_of,
)

CLOCK = FixedClock(parse_moment(TODAY))
TOKEN = SecretStr("xoxb-1")


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (SlackSettings(), "SLACK_BOT_TOKEN"),
        (SlackSettings(bot_token=TOKEN), "SLACK_APP_TOKEN"),
        (SlackSettings(bot_token=TOKEN, mode="http"), "SLACK_SIGNING_SECRET"),
    ],
)
def test_a_missing_token_is_named(settings: SlackSettings, missing: str) -> None:
    with pytest.raises(SettingsError, match=missing):
        check_settings(settings)


@pytest.mark.parametrize("wrong", ["bot_token", "app_token"])
async def test_a_token_that_slack_does_not_take_ends_the_process(
    office: Office, wrong: str
) -> None:
    async with serve_workspace(build_workspace()) as slack:
        settings = settings_for(slack, office)
        section = settings.slack.model_copy(update={wrong: SecretStr("xoxb-wrong")})
        async with open_product(settings.model_copy(update={"slack": section}), CLOCK) as product:
            with pytest.raises(SettingsError, match=f"SLACK_{wrong.upper()}"):
                await serve_slack(product, asyncio.Event())


async def test_without_a_chat_the_bot_has_nothing_to_serve(office: Office) -> None:
    async with open_product(load_settings(office.home), CLOCK) as product:
        with pytest.raises(SettingsError, match="SLACK_BOT_TOKEN"):
            await serve_bot(product, asyncio.Event())


async def test_the_role_serves_the_workspace_until_told_to_stop(office: Office) -> None:
    async with serve_workspace(build_workspace()) as slack:
        async with open_product(settings_for(slack, office), CLOCK) as product:
            stop = asyncio.Event()
            serving = asyncio.create_task(serve_roles(product, Role.BOT, stop))
            await slack.delivery.sockets.wait_connected()
            slack.people.mention(OPS, MIXED, LEAVE_QUESTION)
            await slack.people.wait_until(
                lambda: any("5 天" in one.text for one in slack.people.from_bot(MIXED))
            )
            stop.set()
            await serving
        assert not slack.delivery.sockets.is_connected


async def test_the_bot_waits_for_the_index_the_settings_ask_for(office: Office) -> None:
    async with open_product(load_settings(office.home), CLOCK) as product:
        settings = product.state.settings.model_copy(
            update={"slack": SlackSettings(bot_token=SecretStr(BOT_TOKEN))}
        )
        waiting = replace(
            product,
            state=replace(product.state, settings=settings),
            shape=replace(product.shape, analysis="another"),
        )
        stop = asyncio.Event()
        serving = asyncio.create_task(serve_bot(waiting, stop))
        await asyncio.sleep(0)
        stop.set()
        # It would be refused for want of a token if it went on to Slack.
        await serving


async def test_a_click_or_command_that_fails_is_apologised_for(office: Office) -> None:
    async with open_workplace(office) as workplace:
        answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        workplace.slack.faults.fail["views.open"] = 9
        assert await workplace.people.press(OPS, answer, "answer_not_solved")
        await workplace.wait_until(
            lambda: any(one.ephemeral_to for one in workplace.people.messages(MIXED, viewer=OPS))
        )
        told = workplace.people.from_bot(MIXED, viewer=OPS)[-1]
        assert "please try again" in words_of(told)
