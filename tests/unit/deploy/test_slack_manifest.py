"""The manifest of the Slack app: within Slack's limits, and asking for what the code uses."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.handlers.slack.asking import ASK, ASK_ABOUT
from core.chat_settings import SlackSettings
from playground.slack.features import MESSAGE_SHORTCUTS, SHORTCUTS
from playground.slack.server import SCOPES

ROOT = Path(__file__).parents[3]
ALLOWED: Mapping[str, set[str]] = {
    "": {"_metadata", "display_information", "features", "oauth_config", "settings"},
    "_metadata": {"major_version", "minor_version"},
    "display_information": {"name", "description", "long_description", "background_color"},
    "features": {
        "app_home", "bot_user", "slash_commands", "shortcuts", "agent_view", "assistant_view",
    },
    "features.app_home": {
        "home_tab_enabled", "messages_tab_enabled", "messages_tab_read_only_enabled",
    },
    "features.agent_view": {"agent_description", "suggested_prompts", "actions"},
    "features.bot_user": {"display_name", "always_online"},
    "oauth_config": {"scopes", "redirect_urls"},
    "oauth_config.scopes": {"bot", "user", "bot_optional", "user_optional"},
    "settings": {
        "event_subscriptions", "interactivity", "socket_mode_enabled", "org_deploy_enabled",
        "token_rotation_enabled",
    },
    "settings.event_subscriptions": {"request_url", "bot_events"},
    "settings.interactivity": {"is_enabled", "request_url"},
}  # fmt: skip
# What each subscription needs beside it, by the beginning of its name.
EVENT_SCOPES: Mapping[str, set[str]] = {
    "app_home_opened": {"assistant:write"},
    "app_mention": {"app_mentions:read"},
    "message.channels": {"channels:history"},
    "message.groups": {"groups:history"},
    "message.im": {"im:history"},
    "message.mpim": {"mpim:history"},
    "channel_": {"channels:read"},
    "group_": {"groups:read"},
    "member_": {"channels:read", "groups:read"},
    "subteam_": {"usergroups:read"},
    "team_join": {"users:read"},
    "user_change": {"users:read"},
}


@pytest.fixture
def manifest() -> dict[str, Any]:
    text = (ROOT / "deploy" / "slack-manifest.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def find(manifest: dict[str, Any], path: str) -> dict[str, Any]:
    for name in filter(None, path.split(".")):
        manifest = manifest[name]
    return manifest


@pytest.mark.parametrize("path", ALLOWED)
def test_only_keys_that_slack_knows_are_there(manifest: dict[str, Any], path: str) -> None:
    assert set(find(manifest, path)) <= ALLOWED[path]


def test_names_and_texts_are_within_the_limits(manifest: dict[str, Any]) -> None:
    shown = manifest["display_information"]
    assert manifest["_metadata"]["major_version"] == 2
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert 175 <= len(shown["long_description"]) <= 4000
    assert re.fullmatch("#[0-9a-f]{6}", shown["background_color"])
    assert len(manifest["features"]["bot_user"]["display_name"]) <= 80
    assert len(manifest["features"]["agent_view"]["agent_description"]) <= 300
    assert len(manifest["settings"]["event_subscriptions"]["bot_events"]) <= 100


def test_the_command_is_the_one_that_is_listened_to(manifest: dict[str, Any]) -> None:
    [command] = manifest["features"]["slash_commands"]
    assert set(command) <= {"command", "url", "description", "usage_hint", "should_escape"}
    assert command["command"] == SlackSettings().command
    assert len(command["command"]) <= 32
    assert len(command["description"]) <= 2000


def test_the_shortcuts_are_those_that_are_listened_to(manifest: dict[str, Any]) -> None:
    shortcuts = manifest["features"]["shortcuts"]
    assert len(shortcuts) <= 10
    kinds = {one["callback_id"]: one["type"] for one in shortcuts}
    assert kinds == {ASK_ABOUT: "message", ASK: "global"}
    offered = {
        "message": {one["callback_id"]: one["name"] for one in MESSAGE_SHORTCUTS},
        "global": {one["callback_id"]: one["name"] for one in SHORTCUTS},
    }
    for one in shortcuts:
        assert set(one) == {"name", "type", "callback_id", "description"}
        assert len(one["name"]) <= 24
        assert len(one["callback_id"]) <= 255
        assert len(one["description"]) <= 150
        assert offered[one["type"]] == {one["callback_id"]: one["name"]}


def test_every_subscription_has_the_scopes_it_needs(manifest: dict[str, Any]) -> None:
    scopes = manifest["oauth_config"]["scopes"]["bot"]
    assert len(scopes) == len(set(scopes))
    assert set(scopes) <= SCOPES
    for event in manifest["settings"]["event_subscriptions"]["bot_events"]:
        needed = [one for name, one in EVENT_SCOPES.items() if event.startswith(name)]
        assert needed, event
        assert needed[0] <= set(scopes), event
    # Postings, rights, people's addresses, direct messages and the command.
    assert {"chat:write", "users:read", "users:read.email", "im:write", "commands"} <= set(scopes)


def test_the_socket_is_on_and_buttons_work(manifest: dict[str, Any]) -> None:
    settings = manifest["settings"]
    assert settings["socket_mode_enabled"] is True
    assert settings["interactivity"]["is_enabled"] is True
