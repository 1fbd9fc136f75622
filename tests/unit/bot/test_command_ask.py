"""`zhixing ask`: text, the stable JSON, threads and batches."""

import json
from pathlib import Path

import pytest

from bot.commands.ask import BatchQuestion, read_batch
from core.errors import SettingsError
from tests.unit.bot.office import (
    DISK_QUESTION,
    HOTEL_QUESTION,
    HR,
    HR_MAIL,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
)

ANSWER_KEYS = [
    "outcome",
    "answer",
    "citations",
    "private_answer",
    "proposed_action",
    "route",
    "tools",
    "trace_id",
    "took_ms",
]
CITATION_KEYS = [
    "n",
    "document_id",
    "passage_id",
    "title",
    "heading_path",
    "url",
    "version",
    "updated_at",
]


def test_the_json_of_an_answer_has_the_keys_that_are_promised(office: Office) -> None:
    found = office.run_json("ask", LEAVE_QUESTION, "--as", OPS)
    assert list(found) == ANSWER_KEYS
    assert found["outcome"] == "answered"
    assert "5 天" in found["answer"]
    assert found["route"] == "faq"
    assert found["private_answer"] is found["proposed_action"] is None
    assert found["tools"] == []
    assert found["took_ms"] > 0
    [citation] = found["citations"]
    assert list(citation) == CITATION_KEYS
    assert citation["n"] == citation["version"] == 1
    assert citation["document_id"] == "files:handbook/休假制度.md"
    assert citation["title"] == "休假制度"


def test_the_json_of_small_talk_and_of_not_found_has_the_same_keys(office: Office) -> None:
    for question, outcome in (
        ("你好", "chitchat"),
        ("？", "clarify"),
        ("谁赢了象棋？", "not_found"),
    ):
        found = office.run_json("ask", question, "--as", OPS)
        assert list(found) == ANSWER_KEYS
        assert found["outcome"] == outcome
        assert found["citations"] == []


def test_the_text_names_source_version_and_trace(office: Office) -> None:
    result = office.run("ask", DISK_QUESTION, "--as", OPS)
    assert result.exit_code == 0
    assert "docker image prune" in result.stdout
    assert "[1] Cleaning up a full disk" in result.stdout
    assert "ops/disk-clean-up.md, v1, " in result.stdout
    assert "answered · " in result.stdout
    assert "zhixing trace " in result.stdout


def test_the_text_sets_apart_what_only_the_asker_may_see(office: Office) -> None:
    result = office.run("ask", SALARY_QUESTION, "--as", HR, "--in", "c-mixed")
    public, private = result.stdout.split("— only for you / 仅您可见 —")
    assert SALARY not in public
    assert SALARY in private


def test_a_private_answer_brings_its_own_sources(office: Office) -> None:
    found = office.run_json("ask", HOTEL_QUESTION, "--as", HR, "--in", "c-mixed")
    assert [one["document_id"] for one in found["citations"]] == ["files:handbook/差旅制度.md"]
    assert "[1] 住宿特批" in found["private_answer"]
    assert "住宿特批" not in found["answer"]


@pytest.mark.parametrize("asker", [HR, HR_MAIL, "slack:U1"])
def test_an_asker_goes_by_id_e_mail_or_account(office: Office, asker: str) -> None:
    assert SALARY in office.run_json("ask", SALARY_QUESTION, "--as", asker)["answer"]


@pytest.mark.parametrize("channel", ["c-mixed", "C1"])
def test_a_channel_goes_by_id_or_native_id(office: Office, channel: str) -> None:
    found = office.run_json("ask", SALARY_QUESTION, "--as", HR, "--in", channel)
    assert found["outcome"] == "no_access"


def test_a_direct_message_is_private(office: Office) -> None:
    assert SALARY in office.run_json("ask", SALARY_QUESTION, "--as", HR, "--in", "dm")["answer"]


def test_a_thread_goes_on_from_one_command_to_the_next(office: Office) -> None:
    office.run_json("ask", SALARY_QUESTION, "--as", HR, "--thread", "t")
    assert "52,000" in office.run_json("ask", "那 L5 呢？", "--as", HR, "--thread", "t")["answer"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((LEAVE_QUESTION, "--as", "no.body"), "'no.body' is nobody the directory knows"),
        ((LEAVE_QUESTION, "--in", "c-none"), "'c-none' is no channel the directory knows"),
        ((), "give a question, or a file with --batch"),
        (("--batch", "missing.jsonl"), "'missing.jsonl' can't be read"),
    ],
)
def test_what_cannot_be_asked_is_said_to_the_operator(
    office: Office, options: tuple[str, ...], said: str
) -> None:
    result = office.run("ask", *options)
    assert isinstance(result.exception, SettingsError)
    assert said in str(result.exception)
    assert result.stdout == ""


def test_a_batch_answers_the_last_turn_of_each_line_in_order(
    office: Office, tmp_path: Path
) -> None:
    lines = [
        {
            "id": "b",
            "asker": HR,
            "where": "dm",
            "turns": [SALARY_QUESTION, "那 L5 呢？"],
            "kind": 1,
        },
        {"id": "a", "asker": OPS, "where": "dm", "turns": [SALARY_QUESTION]},
        {"id": "c", "asker": HR, "where": "c-mixed", "turns": [SALARY_QUESTION]},
        {"id": "d", "turns": [DISK_QUESTION], "kind": "unknown keys are ignored"},
    ]
    batch = tmp_path / "batch.jsonl"
    text = "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    batch.write_text("\ufeff" + text, encoding="utf-8")
    result = office.run("ask", "--batch", batch)
    assert result.exit_code == 0, result.exception
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [list(answer) for answer in answers] == [["id", *ANSWER_KEYS]] * 4
    assert [answer["id"] for answer in answers] == ["b", "a", "c", "d"]
    assert "52,000" in answers[0]["answer"]
    assert answers[1]["outcome"] == "not_found"
    assert answers[2]["outcome"] == "no_access"
    assert SALARY in answers[2]["private_answer"]
    assert answers[3]["outcome"] == "answered"


def test_an_empty_batch_answers_nothing(office: Office, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.touch()
    result = office.run("ask", "--batch", batch)
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 of .* is not JSON"),
        ('{"turns": ["x"]}', 'line 2 of .* needs "id"'),
        ('{"id": "1", "turns": []}', 'line 2 of .* needs "id"'),
        ('{"id": "1", "turns": "x"}', 'line 2 of .* needs "id"'),
        ('{"id": "1", "turns": ["x"], "asker": 5}', 'line 2 of .* needs "id"'),
        ("[]", 'line 2 of .* needs "id"'),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str, said: str) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text(f'{{"id": "1", "turns": ["x"]}}\n{line}\n', encoding="utf-8")
    with pytest.raises(SettingsError, match=said):
        list(read_batch(batch))


def test_a_batch_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_bytes("年假".encode("gb18030"))
    with pytest.raises(SettingsError, match="can't be read as UTF-8 text"):
        list(read_batch(batch))


def test_unknown_keys_of_a_line_are_ignored(tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text('{"id": "1", "turns": ["x"], "expected": {"any": [1]}}', encoding="utf-8")
    assert list(read_batch(batch)) == [BatchQuestion(id="1", turns=("x",))]


def test_an_unknown_asker_does_not_end_a_batch(office: Office, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    lines = [
        {"id": "1", "asker": "no.body", "turns": [LEAVE_QUESTION]},
        {"id": "2", "asker": OPS, "turns": [LEAVE_QUESTION]},
    ]
    batch.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    first, second = map(json.loads, office.run("ask", "--batch", batch).stdout.splitlines())
    assert (first["id"], first["outcome"]) == ("1", "failed")
    assert "no.body" in first["answer"]
    assert (second["id"], second["outcome"]) == ("2", "answered")
