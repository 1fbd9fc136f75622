from pathlib import Path

import pytest

from bot.source_settings import select_sources
from core.errors import SettingsError
from core.settings import FilesSettings, Settings, load_settings


def get_path(settings: Settings, name: str) -> Path:
    source = settings.sources[name]
    assert isinstance(source, FilesSettings)
    return Path(source.path)


def test_a_folder_given_once_is_remembered(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "Team Handbook 手册"
    folder.mkdir()
    chosen = select_sources(load_settings(home, {}), [folder])
    assert list(chosen) == ["team-handbook-手册"]
    again = load_settings(home, {})
    assert get_path(again, "team-handbook-手册") == folder
    assert select_sources(again, []) == chosen
    assert select_sources(again, [folder]) == chosen


def test_folders_of_equal_name_become_different_sources(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "a" / "docs").mkdir(parents=True)
    (tmp_path / "b" / "docs").mkdir(parents=True)
    chosen = select_sources(
        load_settings(home, {}), [tmp_path / "a" / "docs", tmp_path / "b" / "docs"]
    )
    assert list(chosen) == ["docs", "docs-2"]


def test_quotes_and_backslashes_in_a_path_survive(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / 'odd "name" \\ here'
    folder.mkdir()
    (name,) = select_sources(load_settings(home, {}), [folder])
    assert get_path(load_settings(home, {}), name) == folder


def test_a_missing_folder_and_nothing_to_sync_are_said(tmp_path: Path) -> None:
    settings = load_settings(tmp_path / "home", {})
    with pytest.raises(SettingsError, match="does not exist"):
        select_sources(settings, [tmp_path / "nowhere"])
    with pytest.raises(SettingsError, match="zhixing sync FOLDER"):
        select_sources(settings, [])
