"""`zhixing eval` and `zhixing bench`, run for real over tiny sets with the embedder `none`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from bot.commands.context import CommandContext
from core.errors import SettingsError
from evaluation.commands import register

QUERIES: Sequence[Mapping[str, object]] = (
    {
        "id": "q1",
        "question": "How do I clean the disk of a build server?",
        "lang": "en",
        "kind": "how",
        "evidence_ids": ["disk"],
        "must": [["docker prune", "prune images"]],
    },
    {
        "id": "q2",
        "question": "差旅住宿每晚上限是多少？",
        "lang": "zh",
        "kind": "fact",
        "evidence_ids": ["travel"],
        "must": [["500 元"]],
    },
    {"id": "q3", "question": "Who won the chess tournament?", "lang": "en", "kind": "nothing"},
)
CORPUS: Sequence[Mapping[str, object]] = (
    {
        "id": "disk",
        "title": "Build servers",
        "text": "To clean the disk of a build server, prune images that no build uses.",
    },
    {"id": "travel", "title": "差旅制度", "text": "差旅住宿每晚上限为 500 元，超出部分自理。"},
    {"id": "leave", "title": "Leave", "text": "Annual leave is requested two weeks ahead."},
)
OTHER_QUERIES: Sequence[Mapping[str, object]] = (
    {"id": "o1", "question": "When do tulips bloom?", "lang": "en", "evidence_ids": ["tulips"]},
)
OTHER_CORPUS: Sequence[Mapping[str, object]] = (
    {"id": "tulips", "title": "Tulips", "text": "Tulips bloom in April and May."},
)


@pytest.fixture(autouse=True)
def _words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZHIXING_EMBEDDER", "none")


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    return (
        write_set(tmp_path / "office", CORPUS, QUERIES),
        write_set(tmp_path / "garden", OTHER_CORPUS, OTHER_QUERIES),
    )


def write_set(
    folder: Path, corpus: Sequence[Mapping[str, object]], queries: Sequence[Mapping[str, object]]
) -> Path:
    folder.mkdir()
    for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(home: Path, *arguments: str | Path) -> Result:
    app = typer.Typer()

    @app.callback()
    def prepare(context: typer.Context) -> None:
        context.obj = CommandContext(home=home, now=None)

    register(app)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_run_prints_the_stable_json_and_writes_its_files(
    tmp_path: Path, sets: tuple[Path, Path]
) -> None:
    files = {name: tmp_path / "out" / f"run.{name}" for name in ("json", "html", "jsonl")}
    result = run(
        tmp_path / "home",
        *("eval", *sets, "--json", "--answers", "--ablations"),
        *("--save", files["json"], "--html", files["html"], "--records", files["jsonl"]),
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads(files["json"].read_text(encoding="utf-8"))
    office = printed["datasets"]["office"]
    assert office["recall_at_1"] == office["mrr"] == 1
    assert office["answer_right"] == 1
    assert set(printed["variants"]) >= {"shipped", "bm25", "vector", "rrf"}
    assert printed["refusals"]["questions"]["foreign"] == 3
    assert "<h2>Ablations</h2>" in files["html"].read_text(encoding="utf-8")
    records = files["jsonl"].read_text(encoding="utf-8").splitlines()
    assert len(records) == (3 + 1 + 1 + 2) * len(printed["variants"])


def test_a_run_prints_tables_and_compares_with_an_earlier_one(
    tmp_path: Path, sets: tuple[Path, Path]
) -> None:
    home, earlier = tmp_path / "home", tmp_path / "earlier.json"
    first = run(home, "eval", sets[0], "--save", earlier)
    assert first.exit_code == 0, first.output
    assert "Ranking by set (shipped)" in first.stdout
    again = run(home, "eval", sets[0], "--compare", earlier)
    assert again.exit_code == 0, again.output
    assert "no figure moved" in again.stdout
    better = json.loads(earlier.read_text(encoding="utf-8"))
    better["datasets"]["office"]["not_found_right"] = 1.5
    earlier.write_text(json.dumps(better), encoding="utf-8")
    worse = run(home, "eval", sets[0], "--compare", earlier)
    assert worse.exit_code == 1
    assert "regression" in worse.stdout


def test_one_simple_pipeline_can_be_run_alone(tmp_path: Path, sets: tuple[Path, Path]) -> None:
    result = run(tmp_path / "home", "eval", sets[0], "--only", "bm25", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert list(printed["variants"]) == [printed["variant"]] == ["bm25"]
    assert printed["variants"]["bm25"]["settings"]["recall_vector"] == 0


def test_a_stage_can_be_left_out(tmp_path: Path, sets: tuple[Path, Path]) -> None:
    result = run(tmp_path / "home", "eval", sets[0], "--no-rescore", "--no-two-levels", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["variant"] == "shipped no-rescore no-two-levels"


def test_a_cross_run_searches_the_other_language(tmp_path: Path) -> None:
    corpus = (
        {"id": "z", "title": "配额", "text": "默认配额 quota 为 20", "meta": {"lang": "zh"}},
        {"id": "e", "title": "Quota", "text": "The quota is 20.", "meta": {"lang": "en"}},
    )
    queries = (
        {
            "id": "q",
            "question": "What is the quota?",
            "lang": "en",
            "evidence_ids": ["e"],
            "evidence_ids_other_lang": ["z"],
        },
    )
    folder = write_set(tmp_path / "both", corpus, queries)
    result = run(tmp_path / "home", "eval", folder, "--cross", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["datasets"]["both"]["recall_at_1"] == 1
    assert printed["run"]["cross"] is True


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--only", "rrf", "--ablations"], "--only rrf"),
        (["--cross"], "evidence_ids_other_lang"),
        (["--compare", "missing.json"], "missing.json"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, sets: tuple[Path, Path], options: list[str], reason: str
) -> None:
    result = run(tmp_path / "home", "eval", sets[0], *options)
    assert isinstance(result.exception, SettingsError)
    assert reason in str(result.exception)


def test_two_sets_of_one_name_are_refused(tmp_path: Path, sets: tuple[Path, Path]) -> None:
    result = run(tmp_path / "home", "eval", sets[0], sets[0])
    assert isinstance(result.exception, SettingsError)
    assert "'office'" in str(result.exception)


def test_a_file_that_cannot_be_written_is_said_so(tmp_path: Path, sets: tuple[Path, Path]) -> None:
    (tmp_path / "file").touch()
    result = run(tmp_path / "home", "eval", sets[0], "--save", tmp_path / "file" / "run.json")
    assert isinstance(result.exception, SettingsError)
    assert "can't be written" in str(result.exception)


def test_the_bench_measures_the_parts_it_is_told_to(tmp_path: Path) -> None:
    saved = tmp_path / "bench.json"
    result = run(
        tmp_path / "home",
        *("bench", "--passages", "100", "--questions", "3", "--part", "retrieval"),
        *("--json", "--save", saved),
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads(saved.read_text(encoding="utf-8"))
    assert printed["retrieval"]["latencies"]["count"] == 3
    assert set(printed) == {"retrieval", "targets", "machine"}


def test_load_alone_is_measured_at_every_level(tmp_path: Path) -> None:
    result = run(tmp_path / "home", "bench", "--load", "--passages", "100", "--questions", "4")
    assert result.exit_code == 0, result.output
    for level in ("1 at once", "10 at once", "40 at once"):
        assert level in result.stdout
    assert "ingest" not in result.stdout
