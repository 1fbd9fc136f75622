import stat
from pathlib import Path

import pytest

from bot.agent.audit import KEY_FILE, load_audit_key
from core.errors import SettingsError


def test_the_key_is_made_once_and_for_this_account_only(tmp_path: Path) -> None:
    home = tmp_path / "home"
    key = load_audit_key(home)
    assert len(key) == 32
    assert load_audit_key(home) == key
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "not hexadecimal", "abcd"])
def test_a_damaged_key_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / KEY_FILE).write_text(text)
    with pytest.raises(SettingsError, match="audit key"):
        load_audit_key(tmp_path)
