"""`zhixing init`, `sync`, `status` and `directory import`."""

import json
import shutil
from pathlib import Path

import pytest

from bot.commands.context import load_clock
from bot.commands.sync import describe
from core.errors import SettingsError
from core.settings import SETTINGS_FILE, load_settings
from knowledge.sync_report import SyncReport
from tests.unit.bot.office import LEAVE_QUESTION, OPS, Office, write_directory

DOCUMENT_KEYS = ["seen", "added", "changed", "unchanged", "removed", "failed", "held"]


@pytest.fixture
def fresh(tmp_path: Path, words_only: None) -> Office:  # noqa: ARG001
    """Return an empty home and an empty folder."""
    office = Office(home=tmp_path / "home", company=tmp_path / "company")
    office.files.mkdir(parents=True)
    return office


def test_init_writes_a_settings_file_that_loads(fresh: Office) -> None:
    result = fresh.run("init")
    assert result.exit_code == 0
    assert "next: zhixing sync FOLDER" in result.stdout
    text = (fresh.home / SETTINGS_FILE).read_text(encoding="utf-8")
    assert load_settings(fresh.home, {}).sources == {}
    # What is commented out is right as well.
    lines = [
        line.removeprefix("# ") for line in text.splitlines() if " = " in line or "# [" in line
    ]
    (fresh.home / SETTINGS_FILE).write_text("\n".join(lines), encoding="utf-8")
    named = {"ERP_URL": "sqlite:///erp.sqlite3", "JIRA_TOKEN": "three", "STOCK_TOKEN": "four"}
    tokens = {"WIKI_TOKEN": "one", "NOTION_TOKEN": "two", **named}
    loaded = load_settings(fresh.home, tokens)
    assert loaded.models.chat_model
    assert {one.kind for one in loaded.sources.values()} == {"files", "confluence", "notion"}


def test_init_never_overwrites(fresh: Office) -> None:
    fresh.run("init")
    (fresh.home / SETTINGS_FILE).write_text("# mine\n", encoding="utf-8")
    result = fresh.run("init")
    assert isinstance(result.exception, SettingsError)
    assert "exists already; edit it" in str(result.exception)
    assert (fresh.home / SETTINGS_FILE).read_text(encoding="utf-8") == "# mine\n"


def test_the_json_of_a_sync_has_the_keys_that_are_promised(fresh: Office) -> None:
    (fresh.files / "a.md").write_text("# A\n\nOne.\n", encoding="utf-8")
    (fresh.files / "b.docx").write_bytes(b"PK\x03\x04 damaged")
    found = fresh.run_json("sync", fresh.files)
    assert list(found["documents"]) == DOCUMENT_KEYS
    assert found["documents"] == {
        **dict.fromkeys(DOCUMENT_KEYS, 0),
        "seen": 2,
        "added": 1,
        "failed": 1,
    }
    assert list(found["passages"]) == ["added", "closed", "embedded"]
    assert found["passages"]["added"] == 1
    [failure] = found["failures"]
    assert list(failure) == ["id", "reason"]
    assert failure["id"] == "files:b.docx"
    assert failure["reason"]
    assert found["seconds"] >= 0


def test_a_second_sync_touches_only_what_changed(office: Office) -> None:
    (office.files / "handbook" / "休假制度.md").write_text(
        "# 休假制度\n\n## 年假结转\n\n未休完的年假最多可以结转 8 天。\n", encoding="utf-8"
    )
    (office.files / "ops" / "facilities.md").unlink()
    found = office.run_json("sync")["documents"]
    assert found["changed"] == found["removed"] == 1
    assert found["unchanged"] == found["seen"] - 1
    assert "8 天" in office.run_json("ask", LEAVE_QUESTION, "--as", OPS)["answer"]
    again = office.run_json("sync")["documents"]
    assert again["unchanged"] == again["seen"]


def test_a_folder_named_once_is_synced_again_without_naming_it(fresh: Office) -> None:
    (fresh.files / "a.md").write_text("# A\n\nOne.\n", encoding="utf-8")
    result = fresh.run("sync", fresh.files)
    assert "1 documents: 1 added, 0 changed" in result.stdout
    (fresh.files / "b.md").write_text("# B\n\nTwo.\n", encoding="utf-8")
    assert fresh.run_json("sync")["documents"]["added"] == 1


@pytest.mark.parametrize(
    ("folders", "said"), [((), "nothing to sync"), (("no-such-folder",), "does not exist")]
)
def test_what_cannot_be_synced_is_said_to_the_operator(
    fresh: Office, folders: tuple[str, ...], said: str
) -> None:
    result = fresh.run("sync", *folders)
    assert isinstance(result.exception, SettingsError)
    assert said in str(result.exception)


def test_a_mass_deletion_is_held_until_it_is_agreed_to(fresh: Office) -> None:
    for number in range(8):
        (fresh.files / f"{number}.md").write_text(f"# Page {number}\n\nText {number}.\n")
    fresh.run_json("sync", fresh.files)
    for number in range(6):
        (fresh.files / f"{number}.md").unlink()
    held = fresh.run("sync")
    assert "6 held" in held.stdout
    assert "! " in held.stdout
    assert "! " in fresh.run("status").stdout
    [source] = fresh.run_json("status")["sources"]
    assert source["held_documents"] == 6
    assert [hold["missing"] for hold in source["holds"]] == [6]
    assert fresh.run_json("sync", "--accept-deletions")["documents"]["removed"] == 6


def test_status_tells_documents_last_run_and_failures(fresh: Office) -> None:
    assert fresh.run("status").stdout == "nothing synced yet: `zhixing sync FOLDER`\n"
    assert fresh.run_json("status") == {"sources": [], "routes": []}
    (fresh.files / "a.md").write_text("# A\n\nOne.\n", encoding="utf-8")
    (fresh.files / "b.docx").write_bytes(b"PK\x03\x04 damaged")
    fresh.run("sync", fresh.files)
    [source] = fresh.run_json("status")["sources"]
    assert (source["source"], source["documents"], source["passages"]) == ("files", 1, 1)
    assert [one["id"] for one in source["failures"]] == ["files:b.docx"]
    assert source["last_run"]["status"] == "partial"
    assert source["last_run"]["counts"]["failed"] == 1
    text = fresh.run("status").stdout
    assert "files: 1 documents, 1 passages" in text
    assert "✗ files:b.docx: " in text


def test_a_report_in_words_shows_the_first_failures_and_says_how_many_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = SyncReport(seen=30, added=5, failures={f"f:{n:02}": "damaged" for n in range(25)})
    text = describe(report)
    assert "30 documents: 5 added" in text
    assert text.count("✗") == 20
    assert "5 more failures: `zhixing status`" in capsys.readouterr().err


def test_an_import_counts_people_groups_and_channels(fresh: Office) -> None:
    write_directory(fresh.company)
    assert fresh.run("directory", "import", fresh.company).stdout == (
        "5 people, 2 groups, 2 channels\n"
    )
    found = fresh.run_json("directory", "import", fresh.company)
    assert found == {"people": 5, "groups": 2, "channels": 2}


def test_an_import_that_fails_leaves_the_directory_as_it_was(office: Office) -> None:
    (office.company / "groups.json").write_text(
        json.dumps([{"id": "hr", "members": ["no.body"]}]), encoding="utf-8"
    )
    result = office.run("directory", "import", office.company)
    assert isinstance(result.exception, SettingsError)
    assert "member 'no.body' is not in people.json" in str(result.exception)
    (office.company / "groups.json").unlink()
    result = office.run("directory", "import", office.company)
    assert "is missing" in str(result.exception)
    assert office.run_json("ask", LEAVE_QUESTION, "--as", OPS)["outcome"] == "answered"


def test_people_unknown_before_the_import_may_not_ask(fresh: Office) -> None:
    (fresh.files / "a.md").write_text("# A\n\nOne.\n", encoding="utf-8")
    fresh.run("sync", fresh.files)
    result = fresh.run("ask", LEAVE_QUESTION, "--as", OPS)
    assert isinstance(result.exception, SettingsError)
    assert "zhixing directory import DIR" in str(result.exception)


def test_one_missing_source_does_not_stop_the_others(fresh: Office, tmp_path: Path) -> None:
    folders = [tmp_path / "one" / "docs", tmp_path / "two" / "docs"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("# A\n\nAlpha.\n", encoding="utf-8")
    fresh.run("sync", *folders)
    shutil.rmtree(folders[0])
    (folders[1] / "b.md").write_text("# B\n\nThe gamma is here.\n", encoding="utf-8")
    result = fresh.run("sync")
    assert result.exit_code == 1
    assert "source 'docs' was not read" in result.stdout
    assert fresh.run_json("search", "gamma")["hits"]


def test_a_home_below_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert load_clock(tmp_path / "file" / "home") is None
