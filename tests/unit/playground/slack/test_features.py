"""The playground's workspace offers what the app's manifest declares."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from playground.slack.features import COMMANDS, MESSAGE_SHORTCUTS, SHORTCUTS
from playground.slack.front import WEB

MANIFEST = Path(__file__).parents[4] / "deploy" / "slack-manifest.yaml"


def test_commands_and_shortcuts_are_those_of_the_manifest() -> None:
    declared: dict[str, Any] = yaml.safe_load(MANIFEST.read_text("utf-8"))["features"]
    commands = [(one["command"], one["usage_hint"]) for one in declared["slash_commands"]]
    assert [(one["command"], one["hint"]) for one in COMMANDS] == commands
    for kind, offered in (("global", SHORTCUTS), ("message", MESSAGE_SHORTCUTS)):
        shortcuts = [
            {"name": one["name"], "callback_id": one["callback_id"]}
            for one in declared.get("shortcuts", ())
            if one["type"] == kind
        ]
        assert list(offered) == shortcuts


@pytest.mark.parametrize("path", sorted(WEB.glob("*.js")), ids=lambda path: path.name)
def test_the_pages_modules_are_small_and_never_parse_markup(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 250
    for risky in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert risky not in text
    assert re.findall(r"https?://[a-z]", text) == []
