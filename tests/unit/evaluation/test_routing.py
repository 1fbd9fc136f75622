"""The router's figures: from labelled messages to shares, bins and a confusion table."""

import json
from pathlib import Path

import pytest

from bot.routing import By, Route, Routing
from core.errors import SettingsError
from evaluation.routing import Labelled, Routed, load_labelled, score
from tests.unit.evaluation.test_commands import run


def _routed(
    right: Route, chosen: Route, *, by: By = "examples", confidence: float = 0.9, sure: bool = True
) -> Routed:
    routing = Routing(route=chosen, reason="made up", confidence=confidence, by=by, is_sure=sure)
    return Routed(
        labelled=Labelled(text="x", route=right, lang="en"),
        first=routing,
        final=routing,
        likeliest=None if by == "rules" else (chosen, confidence),
        took_ms=2.0,
        tokens=3,
    )


def test_figures_are_shares_of_what_they_are_about() -> None:
    figures = score(
        [
            _routed(Route.CHITCHAT, Route.CHITCHAT, by="rules", confidence=1.0),
            _routed(Route.FAQ, Route.FAQ),
            _routed(Route.FAQ, Route.MULTI_HOP),
            _routed(Route.ACTION, Route.CHITCHAT, confidence=0.5, sure=False),
        ]
    )
    assert figures.accuracy == 0.5
    assert figures.by == {"rules": 0.25, "examples": 0.5, "unsure": 0.25}
    assert figures.lost == pytest.approx(1 / 3)
    assert figures.to_agent == 0.5
    assert figures.confusion["faq"]["multi_hop"] == 1
    assert figures.tokens == 12
    # 0.9 twice and right once, 0.5 once and never right: (2 * 0.4 + 0.5) / 3.
    assert figures.calibration_error == pytest.approx(1.3 / 3)


def test_the_command_prints_figures_of_a_file_for_each_language(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    lines = [
        {"text": "你好", "route": "chitchat"},
        {"text": "How do I apply for parental leave?", "route": "faq"},
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    home = tmp_path / "home"
    home.mkdir()
    (home / "zhixing.toml").write_text('[embedding]\nkind = "none"\n', encoding="utf-8")
    result = run(home, "eval", "--router", path, "--json")
    assert result.exit_code == 0, result.output
    languages = json.loads(result.stdout)["languages"]
    assert set(languages) == {"all", "en", "zh"}
    assert languages["all"]["accuracy"] == 1
    assert languages["zh"]["by"]["rules"] == 1
    table = run(home, "eval", "--router")
    assert table.exit_code == 0, table.output
    assert "Right way (rows) and chosen way: zh" in table.stdout


def test_a_line_without_a_way_is_named(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text('{"text": "x", "route": "faq"}\n{"text": "y", "route": "nowhere"}\n')
    with pytest.raises(SettingsError, match=r"line 2 .*multi_hop"):
        load_labelled([path])
