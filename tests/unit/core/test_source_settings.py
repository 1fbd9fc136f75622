from pathlib import Path

import pytest

from core.errors import SettingsError
from core.settings import SETTINGS_FILE, ConfluenceSettings, FilesSettings, Settings, load_settings


def load(home: Path, text: str, **environment: str) -> Settings:
    (home / SETTINGS_FILE).write_text(text, encoding="utf-8")
    return load_settings(home, environment)


WIKI = """
[sources.wiki]
kind = "confluence"
url = "https://acme.example.net/wiki"
email = "bot@example.com"
token_variable = "WIKI_TOKEN"
spaces = ["HR", "OPS"]
[sources.wiki.space_readers]
HR = ["group:company/all"]
[sources.notes]
path = "/srv/notes"
"""


def test_sources_of_several_kinds_are_told_apart(tmp_path: Path) -> None:
    sources = load(tmp_path, WIKI, WIKI_TOKEN="secret-of-the-bot").sources
    wiki, notes = sources["wiki"], sources["notes"]
    assert isinstance(wiki, ConfluenceSettings)
    assert wiki.token.get_secret_value() == "secret-of-the-bot"
    assert wiki.spaces == ("HR", "OPS")
    assert "secret-of-the-bot" not in repr(wiki)
    assert notes == FilesSettings(path="/srv/notes")


def test_a_token_variable_that_is_not_set_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"sources\.wiki\.token_variable.*'WIKI_TOKEN'"):
        load(tmp_path, WIKI)


def test_a_token_variable_of_ours_is_not_taken_for_a_mistyped_one(tmp_path: Path) -> None:
    text = WIKI.replace("WIKI_TOKEN", "ZHIXING_WIKI_TOKEN")
    wiki = load(tmp_path, text, ZHIXING_WIKI_TOKEN="x").sources["wiki"]
    assert isinstance(wiki, ConfluenceSettings)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [('kind = "sharepoint"', "kind"), ('kind = "confluence"\ntypo = 1', "typo")],
)
def test_wrong_kinds_and_keys_are_refused(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        load(tmp_path, f'[sources.x]\n{line}\nurl = "https://a"\n')
