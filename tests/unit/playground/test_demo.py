"""The demo: its settings, its cast, and that its scenes show what they promise."""

from importlib.resources import as_file, files
from pathlib import Path

import pytest
import typer

from bot.commands.context import load_clock
from core.clock import parse_moment
from core.settings import FilesSettings, load_settings
from knowledge.directory_import import load_directory_folder
from knowledge.people import ChannelId, PersonId
from playground.demo import register
from playground.demo_play import EDITED, SCENES, play
from playground.home import write_settings


def test_the_settings_name_the_companys_files_and_words(tmp_path: Path) -> None:
    company = tmp_path / 'a "company"\\公司'
    (company / "files").mkdir(parents=True)
    (company / "jargon.txt").touch()
    write_settings(tmp_path / "home", company)
    written = load_settings(tmp_path / "home")
    assert written.sources["files"] == FilesSettings(path=str(company / "files"))
    assert written.analysis.synonyms == (str(company / "jargon.txt"),)


def test_the_people_and_channels_of_the_scenes_exist() -> None:
    with as_file(files("playground") / "sample_company") as company:
        directory = load_directory_folder(company)
        assert (company / "files").is_dir()
        assert (company / "jargon.txt").is_file()
    people = {person.person_id: person for person in directory.people}
    channels = {channel.channel_id: channel for channel in directory.channels}
    for scene in (*SCENES, EDITED):
        asker = people[PersonId(scene.asker)]
        assert asker.is_active
        if scene.where is not None:
            assert asker.person_id in channels[ChannelId(scene.where)].members


def test_the_demo_is_a_command() -> None:
    app = typer.Typer()
    register(app)
    [command] = app.registered_commands
    assert command.callback is not None
    assert command.callback.__name__ == "demo"


async def test_the_demo_answers_every_scene_and_shows_the_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZHIXING_EMBEDDER", "none")
    home = tmp_path / "home"
    (home / "left-over").mkdir(parents=True)
    with as_file(files("playground") / "sample_company") as company:
        await play(home, company)
    assert not (home / "left-over").exists()
    shown = capsys.readouterr().out
    parts = shown.split("─" * 78)[1:]
    assert len(parts) == len(SCENES) + 2
    outcomes = [part.rsplit("zhixing trace", 1)[0].split("\n")[-1].split(" ")[0] for part in parts]
    assert "failed" not in outcomes
    by_question = {
        (scene.asker, scene.question): part for scene, part in zip(SCENES, parts, strict=False)
    }
    budget = {asker: part for (asker, asked), part in by_question.items() if "研发费用" in asked}
    assert "7640" in budget["lin.baitang"]
    assert "7640" not in budget["jonas.wendt"]
    assert "not_found · " in budget["jonas.wendt"]
    assert "仅您可见" in next(part for part in parts if "c-budget" in part)
    assert "66,000" in next(part for (_, asked), part in by_question.items() if "cost" in asked)
    assert "fernctl rollout pause" in by_question["sui.ning", "How do I stop a firmware roll-out?"]
    before, after = parts[-2:]
    assert "99.5" in before
    assert "99.6" not in before
    assert "99.6" in after
    assert "1 changed" in before
    assert load_clock(home) == parse_moment("2026-10-16T10:05:00+08:00")
