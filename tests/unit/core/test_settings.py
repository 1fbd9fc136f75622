from pathlib import Path

import pytest

from core.errors import SettingsError
from core.settings import SETTINGS_FILE, load_settings
from core.source_settings import NotionSettings


def write(home: Path, text: str) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    (home / SETTINGS_FILE).write_text(text, encoding="utf-8")
    return home


def test_defaults_need_no_file(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    assert settings.embedding.kind == "bundled"
    assert settings.database_url == f"sqlite:///{tmp_path / 'state.sqlite3'}"
    assert settings.store_path == tmp_path / "passages"


def test_the_environment_goes_over_the_file(tmp_path: Path) -> None:
    write(tmp_path, '[models]\nchat_model = "small"\nbase_url = "http://file/v1"\n')
    settings = load_settings(
        tmp_path, {"OPENAI_BASE_URL": "http://environment/v1", "OPENAI_API_KEY": "k-1"}
    )
    assert settings.models.chat_model == "small"
    assert settings.models.base_url == "http://environment/v1"
    assert settings.models.api_key.get_secret_value() == "k-1"
    assert "k-1" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[models]\nchat_modle = 'x'\n", "models.chat_modle"),
        ("[ingest]\nbatch_documents = 0\n", "ingest.batch_documents"),
        ("not toml", "not valid TOML"),
        ("models = 3\n", "must be a table"),
    ],
)
def test_a_wrong_file_says_where(tmp_path: Path, text: str, told: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=told):
        load_settings(tmp_path, {"OPENAI_API_KEY": "k"})


def test_a_mistyped_variable_is_refused_and_the_known_ones_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ZHIXING_HOEM.*ZHIXING_HOME"):
        load_settings(tmp_path, {"ZHIXING_HOEM": "x"})


def test_a_notion_source_takes_the_usual_token_unless_it_names_another(tmp_path: Path) -> None:
    text = (
        '[sources.wiki]\nkind = "notion"\n[sources.lab]\nkind = "notion"\ntoken_variable = "LAB"\n'
    )
    (tmp_path / "zhixing.toml").write_text(text, encoding="utf-8")
    sources = load_settings(tmp_path, {"NOTION_TOKEN": "usual", "LAB": "own"}).sources
    tokens = {
        name: one.token.get_secret_value()
        for name, one in sources.items()
        if isinstance(one, NotionSettings)
    }
    assert tokens == {"wiki": "usual", "lab": "own"}
