"""`zhixing search`, `chat` and `doctor`."""

import shutil

import pytest

from core.errors import SettingsError
from tests.unit.bot.office import (
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
)

HIT_KEYS = [
    "document_id",
    "passage_id",
    "title",
    "heading_path",
    "url",
    "version",
    "updated_at",
    "score",
    "text",
]


def test_the_json_of_a_search_has_the_keys_that_are_promised(office: Office) -> None:
    found = office.run_json("search", "年假 结转", "--as", OPS)
    assert list(found) == ["hits", "took_ms"]
    assert list(found["hits"][0])[: len(HIT_KEYS)] == HIT_KEYS
    assert found["hits"][0]["document_id"] == "files:handbook/休假制度.md"
    assert found["took_ms"] > 0


def test_a_search_shows_page_version_and_snippet(office: Office) -> None:
    result = office.run("search", "docker image prune", "--as", OPS)
    assert result.stdout.startswith("Cleaning up a full disk")
    assert "ops/disk-clean-up.md  v1, " in result.stdout
    assert "docker image prune" in result.stdout


def test_nothing_found_is_said(office: Office) -> None:
    assert office.run("search", "zzqqxx", "--as", OPS).stdout == "nothing found\n"
    assert office.run_json("search", "zzqqxx", "--as", OPS)["hits"] == []


@pytest.mark.parametrize(
    ("options", "may_read"),
    [
        (("--as", HR), True),
        (("--as", HR, "--in", "c-hr"), True),
        ((), True),
        (("--as", OPS), False),
        (("--as", HR, "--in", "c-mixed"), False),
        (("--in", "c-mixed"), False),
    ],
)
def test_a_search_finds_what_all_who_listen_may_read(
    office: Office, options: tuple[str, ...], *, may_read: bool
) -> None:
    hits = office.run_json("search", "薪酬带宽 上限", *options)["hits"]
    assert any(SALARY in hit["text"] for hit in hits) is may_read
    assert any(hit["space"] == "hr" for hit in hits) is may_read


def test_filters_and_limit_narrow_a_search(office: Office) -> None:
    hits = office.run_json("search", "杭州 住宿标准 space:handbook")["hits"]
    assert {hit["space"] for hit in hits} == {"handbook"}
    assert office.run_json("search", "杭州 住宿标准 space:ops")["hits"] == []
    assert len(office.run_json("search", "杭州 住宿标准", "--limit", "1")["hits"]) == 1


def test_what_was_not_yet_written_is_not_found_as_of_then(office: Office) -> None:
    assert office.run_json("search", "年假", "--as-of", "2020-01-01")["hits"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("年假", "--as-of", "yesterday"), "'yesterday' is not a date"),
        (("年假 after:soon",), "'soon' is not a date"),
        (("年假 status:lost",), "status:lost is unknown"),
        (("年假", "--as", "no.body"), "'no.body' is nobody the directory knows"),
    ],
)
def test_what_cannot_be_searched_is_said_to_the_operator(
    office: Office, arguments: tuple[str, ...], said: str
) -> None:
    result = office.run("search", *arguments)
    assert isinstance(result.exception, SettingsError)
    assert said in str(result.exception)


def test_a_chat_goes_on_until_it_is_left(office: Office) -> None:
    lines = f"{SALARY_QUESTION}\n\n那 L5 呢？\n/quit\n{LEAVE_QUESTION}\n"
    result = office.run("chat", "--as", HR, input=lines)
    assert result.exit_code == 0
    assert SALARY in result.stdout
    assert "52,000" in result.stdout
    assert "5 天" not in result.stdout
    assert "/quit ends" in result.stderr


def test_a_chat_ends_with_its_input(office: Office) -> None:
    result = office.run("chat", "--as", OPS, input=f"{SALARY_QUESTION}\n")
    assert result.exit_code == 0
    assert "not_found" in result.stdout
    assert SALARY not in result.stdout


def test_another_embedder_than_the_index_was_built_with_is_refused_until_a_sync(
    office: Office,
) -> None:
    (office.home / "words.txt").write_text("结转\n", encoding="utf-8")
    office.add_settings('[analysis]\ndictionary = ["words.txt"]')
    for arguments in (("search", "年假"), ("ask", LEAVE_QUESTION), ("chat",)):
        result = office.run(*arguments)
        assert isinstance(result.exception, SettingsError)
        assert "run `zhixing sync` to build that one" in str(result.exception)
    office.run_json("sync")
    assert "5 天" in office.run_json("ask", LEAVE_QUESTION)["answer"]


def test_the_doctor_finds_nothing_wrong_with_a_sound_home(office: Office) -> None:
    found = office.run_json("doctor")["findings"]
    assert all(list(one) == ["part", "is_well", "said"] for one in found)
    assert all(one["is_well"] for one in found)
    said = {one["part"]: one["said"] for one in found}
    assert "5 people" in said["database"]
    assert said["embedder"] == "none, 0 dimensions"
    assert said["chat model"] == "none is set; answers are quoted"
    assert " rows in " in said["index"]


def test_the_doctor_names_what_is_broken_and_still_checks_the_rest(office: Office) -> None:
    shutil.rmtree(office.files)
    office.add_settings('[models]\nchat_model = "m"\nbase_url = "http://127.0.0.1:9/v1"')
    result = office.run("doctor")
    assert result.exit_code == 1
    assert "✗ source files: " in result.stdout
    assert "mend sources.files.path or remove the source" in result.stdout
    assert "✗ chat model: " in result.stdout
    assert "✓ index: " in result.stdout


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_limit_is_a_limit_also_among_equals(office: Office, limit: int) -> None:
    for number in range(8):
        (office.files / f"p{number}.md").write_text("# Page\n\nThe gizmo is here.\n", "utf-8")
    office.run("sync", office.files)
    found = office.run_json("search", "gizmo", "--limit", str(limit))
    assert len(found["hits"]) == limit
