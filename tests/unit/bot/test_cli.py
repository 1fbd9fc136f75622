"""The command line as a process: exit codes, and what is said on which stream."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import structlog

from bot.cli import build_app, main
from tests.unit.bot.office import LEAVE_QUESTION, OPS, Office

SETTINGS, FAILED = 2, 1


def run_main(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str | Path
) -> tuple[object, str, str]:
    """Run the entry point in this process; returns exit code, standard output and error."""
    monkeypatch.setattr(sys, "argv", ["zhixing", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    structlog.reset_defaults()
    written = capsys.readouterr()
    return ended.value.code, written.out, " ".join(written.err.split())


def run_process(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ZHIXING_", "OPENAI_")) and name != "DATABASE_URL"
    }
    return subprocess.run(
        [sys.executable, "-m", "bot", *map(str, arguments)],
        env={**kept, "ZHIXING_EMBEDDER": "none", **variables},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--now", "tomorrow", "status"), "'tomorrow' is not a date; write it as 2026-11-30"),
        (("ask", LEAVE_QUESTION, "--as", "no.body"), "'no.body' is nobody the directory knows"),
        (("ask", LEAVE_QUESTION, "--in", "c-none"), "'c-none' is no channel the directory knows"),
        (("sync", "no-such-folder"), "'no-such-folder' does not exist"),
        (("directory", "import", "no-such-folder"), "people.json' is missing"),
        (("trace", "nothing"), "there is no trace 'nothing'"),
        (("ask", "--batch", "none.jsonl"), "'none.jsonl' can't be read"),
    ],
)
def test_what_the_operator_has_to_mend_ends_with_2_and_a_reason_on_standard_error(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    code, out, error = run_main(monkeypatch, capsys, "--home", office.home, *arguments)
    assert code == SETTINGS
    assert out == ""
    assert error.startswith("zhixing: ")
    assert said in error
    assert "Traceback" not in error


def test_an_unknown_environment_variable_is_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZHIXING_EMBEDER", "none")
    code, out, error = run_main(monkeypatch, capsys, "--home", office.home, "status")
    assert (code, out) == (SETTINGS, "")
    assert "unknown environment variable 'ZHIXING_EMBEDER'" in error
    assert "ZHIXING_EMBEDDER" in error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[model]\nchat_model = 'x'\n", "model: Extra inputs are not permitted"),
        ("[models\n", "is not valid TOML"),
        ("[retrieval]\nlimit = 0\n", "retrieval.limit"),
    ],
)
def test_a_settings_file_that_is_wrong_is_refused_by_place(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    said: str,
) -> None:
    (office.home / "zhixing.toml").write_text(text, encoding="utf-8")
    code, _, error = run_main(monkeypatch, capsys, "--home", office.home, "status")
    assert code == SETTINGS
    assert said in error


def test_a_database_that_does_not_answer_ends_with_1(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    connection = sqlite3.connect(office.home / "state.sqlite3")
    connection.execute("ALTER TABLE people RENAME TO people_gone")
    connection.commit()
    connection.close()
    line = ("--home", office.home, "ask", LEAVE_QUESTION, "--as", OPS)
    code, out, error = run_main(monkeypatch, capsys, *line)
    assert (code, out) == (FAILED, "")
    assert error.startswith("zhixing: database ")
    assert "Traceback" not in error


def test_a_command_that_worked_ends_with_0(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ("--home", office.home, "ask", LEAVE_QUESTION, "--as", OPS)
    code, out, error = run_main(monkeypatch, capsys, *line)
    assert (code, error) == (0, "")
    assert "5 天" in out


def test_an_unknown_option_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = run_main(monkeypatch, capsys, "ask", "--loud")
    assert (code, out) == (SETTINGS, "")
    assert "--loud" in error


def test_every_command_is_registered_once() -> None:
    app = build_app()
    names = [
        command.name or getattr(command.callback, "__name__", "")
        for command in app.registered_commands
    ]
    groups = [group.name for group in app.registered_groups]
    assert len(names) == len(set(names))
    assert {"init", "sync", "search", "ask", "chat", "status", "trace", "doctor"} <= set(names)
    assert {"eval", "bench"} <= set(names)
    assert sorted(str(one) for one in groups) == ["audit", "directory", "jobs", "memory", "skills"]


def test_a_process_takes_home_and_clock_from_the_environment_and_prints_json_alone(
    office: Office,
) -> None:
    variables = {"ZHIXING_HOME": str(office.home), "ZHIXING_NOW": "2026-09-01"}
    done = run_process("ask", LEAVE_QUESTION, "--as", OPS, "--json", **variables)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    [line] = done.stdout.splitlines()
    [trace] = office.run_json("trace")["traces"]
    assert trace["trace_id"] == json.loads(line)["trace_id"]
    assert trace["at"].startswith("2026-09-01")


def test_a_process_ends_with_2_where_a_setting_has_to_be_mended(tmp_path: Path) -> None:
    done = run_process("--home", tmp_path / "home", "sync", tmp_path / "missing")
    assert (done.returncode, done.stdout) == (SETTINGS, "")
    assert done.stderr.startswith("zhixing: ")
    assert "Traceback" not in done.stderr
