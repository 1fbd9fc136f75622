"""`zhixing doctor` looks at the workspace and says what to mend; no token is ever shown."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from bot.commands.context import CommandContext
from bot.commands.doctor import Finding, check_all
from bot.handlers.slack.checkup import CHECKS, NEEDED_SCOPES, WISHED_SCOPES
from core.chat_settings import SlackSettings
from core.clock import parse_moment
from core.errors import ZhixingError
from core.settings import SETTINGS_FILE
from playground.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer, serve_slack
from tests.unit.bot.office import TODAY
from tests.unit.bot.slack.workplace import build_workspace

ROOT = Path(__file__).parents[4]


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with serve_slack(build_workspace()) as slack:
        yield slack


def settings_for(slack: SlackServer, **more: Any) -> SlackSettings:
    values = {"bot_token": SecretStr(BOT_TOKEN), "app_token": SecretStr(APP_TOKEN), **more}
    return SlackSettings(base_url=slack.api_url, call_timeout_s=5, rate_limit_retries=0, **values)


async def look(slack: SlackServer, part: str, **more: Any) -> str:
    """Return what is said of a part, whether it is well or not."""
    try:
        return await CHECKS[part](settings_for(slack, **more))
    except ZhixingError as error:
        return f"wrong: {error}"


async def test_a_workspace_that_is_set_up_is_well(slack: SlackServer) -> None:
    assert await look(slack, "slack tokens") == "'zhixing' in 'Playground'"
    assert await look(slack, "slack scopes") == "all that is needed and wished"
    assert await look(slack, "slack socket") == "opens"
    assert (await look(slack, "slack command")).startswith("'/kb'")


@pytest.mark.parametrize(
    ("token", "value", "said"),
    [
        ("bot_token", "xoxp-secret-1", "SLACK_BOT_TOKEN begins with 'xoxp-', not 'xoxb-'"),
        ("bot_token", "xoxb-secret-1", "SLACK_BOT_TOKEN"),
        ("app_token", "xoxb-secret-1", "SLACK_APP_TOKEN begins with 'xoxb-', not 'xapp-'"),
        ("app_token", "", "SLACK_APP_TOKEN is not set"),
    ],
)
async def test_a_token_of_another_kind_is_named_and_not_shown(
    slack: SlackServer, token: str, value: str, said: str
) -> None:
    found = await look(slack, "slack tokens", **{token: SecretStr(value)})
    assert found.startswith("wrong: ")
    assert said in found
    assert "secret" not in found


async def test_over_http_the_signing_secret_is_needed_and_no_socket(slack: SlackServer) -> None:
    assert "SLACK_SIGNING_SECRET" in await look(slack, "slack tokens", mode="http")
    assert "not used" in await look(slack, "slack socket", mode="http")


async def test_scopes_that_are_missing_are_named_with_what_they_are_for(slack: SlackServer) -> None:
    slack.scopes.discard("usergroups:read")
    assert "user groups in access files" in await look(slack, "slack scopes")
    slack.scopes -= {"groups:read", "commands"}
    found = await look(slack, "slack scopes")
    assert found.startswith("wrong: ")
    assert "groups:read (who listens in private channels)" in found
    assert "commands" in found
    assert "install the app again" in found


async def test_a_socket_that_is_not_given_or_does_not_open_is_explained(slack: SlackServer) -> None:
    app_token = SecretStr("xapp-wrong")
    assert "turn Socket Mode on" in await look(slack, "slack socket", app_token=app_token)
    slack.delivery.sockets.address = "ws://127.0.0.1:9/link/"
    assert "can't be opened" in await look(slack, "slack socket")


@pytest.mark.parametrize("command", ["kb", "/k b", "/KB", "/" + "k" * 32])
async def test_a_name_no_command_can_have_is_told(slack: SlackServer, command: str) -> None:
    assert "set slack.command" in await look(slack, "slack command", command=command)


def test_the_manifest_asks_for_what_is_looked_for() -> None:
    text = (ROOT / "deploy" / "slack-manifest.yaml").read_text(encoding="utf-8")
    scopes = yaml.safe_load(text)["oauth_config"]["scopes"]["bot"]
    assert set(scopes) == {*NEEDED_SCOPES, *WISHED_SCOPES}


async def test_the_doctor_looks_only_where_there_is_a_workspace(
    slack: SlackServer, tmp_path: Path, words_only: None
) -> None:
    del words_only
    context = CommandContext(home=tmp_path, now=parse_moment(TODAY))

    async def find() -> list[Finding]:
        found = await check_all(context)
        return [one for one in found if one.part.startswith("slack")]

    assert await find() == []
    tokens = f"bot_token = {json.dumps(BOT_TOKEN)}\napp_token = {json.dumps(APP_TOKEN)}"
    text = f'[slack]\nbase_url = "{slack.api_url}"\n{tokens}\n'
    (tmp_path / SETTINGS_FILE).write_text(text, encoding="utf-8")
    assert [one.is_well for one in await find()] == [True] * len(CHECKS)
