"""Questions about what was said before: versions, moments, archived pages, and who may know."""

import os

import pytest

from tests.unit.bot.office import HR, OPS, Office

SHUTTLE = "# 通勤补贴\n\n## 班车\n\n班车补贴为每月 {amount} 元，随工资发放。\n"
PARKING = "# Parking\n\n## Spaces\n\nEvery floor has {count} parking spaces for visitors.\n{more}"
BADGE = """\
---
status: archived
---
# Badge fee

## Replacement

A lost badge costs 30 euro to replace.
"""


def write(office: Office, name: str, text: str, *, month: int) -> None:
    """Write a file as of the first day of a month of 2026."""
    path = office.files / name
    path.write_text(text, encoding="utf-8")
    at = 1_767_225_600 + (month - 1) * 31 * 86_400
    os.utime(path, (at, at))


@pytest.fixture
def aged(office: Office) -> Office:
    """Return an office whose pages have a past of some months."""
    for month, amount, count in ((1, 380, 4), (4, 430, 6), (8, 480, 9)):
        write(office, "handbook/通勤补贴.md", SHUTTLE.format(amount=amount), month=month)
        write(office, "ops/parking.md", PARKING.format(count=count, more=""), month=month)
        assert office.run("sync").exit_code == 0
    return office


@pytest.mark.parametrize(
    ("question", "told", "not_told"),
    [
        ("班车补贴以前是每月多少元？", ["480", "430", "v3", "v2", "2026-04"], ["380"]),
        ("班车补贴是什么时候改的？", ["480", "430", "2026-08"], ["380"]),
        ("班车补贴历次分别是每月多少元？", ["480", "430", "380"], []),
        ("截至 2026 年 5 月，班车补贴是每月多少元？", ["430", "v2"], ["480"]),
        ("2026 年 5 月的时候班车补贴是每月多少元？", ["430", "480"], ["380"]),
        ("班车补贴现在是每月多少元？", ["480"], ["430", "380"]),
        ("How many parking spaces did every floor have before?", ["9", "6"], ["4 parking"]),
        ("How many parking spaces did every floor have before it was changed?", ["6"], []),
        ("When was the number of parking spaces on every floor changed?", ["9", "2026-08"], []),
        ("As of May 2026, how many parking spaces did every floor have?", ["6", "v2"], ["has 9"]),
        ("In May 2026, how many parking spaces did every floor have?", ["6", "9"], ["has 4"]),
        ("How many parking spaces does every floor have?", ["9"], ["has 6", "has 4"]),
    ],
)
def test_a_question_about_the_past_is_answered_with_versions_and_dates(
    aged: Office, question: str, told: list[str], not_told: list[str]
) -> None:
    found = aged.run_json("ask", question, "--as", OPS)
    assert found["outcome"] == "answered", found["answer"]
    for word in told:
        assert word in found["answer"]
    for word in not_told:
        assert word not in found["answer"]
    assert {one["document_id"] for one in found["citations"]} <= {
        "files:handbook/通勤补贴.md",
        "files:ops/parking.md",
    }


def test_a_citation_of_text_in_force_shows_the_pages_version_of_today(office: Office) -> None:
    more = "\n## Charging\n\n" + "The charging columns on level two deliver 22 kilowatts. " * 12
    for month, count in ((2, 4), (5, 6)):
        write(office, "ops/parking.md", PARKING.format(count=count, more=more), month=month)
        office.run("sync")
    found = office.run_json("ask", "What do the charging columns deliver?")
    (citation,) = found["citations"]
    assert (citation["version"], citation["updated_at"][:7]) == (2, "2026-05")
    (hit, *_) = office.run_json("search", "charging columns")["hits"]
    assert (hit["version"], hit["updated_at"][:7]) == (2, "2026-05")
    shown = office.run_json("trace", found["trace_id"])["passages"]
    assert shown[citation["passage_id"]]["version"] == 2
    then = office.run_json("search", "charging columns", "--as-of", "2026-03-15")["hits"][0]
    assert (then["version"], then["updated_at"][:7]) == (1, "2026-02")
    told = office.run_json("ask", "What did the charging columns deliver before?")
    assert "since 2026-02-01, v1" in told["answer"]


def test_a_past_that_nobody_knows_is_said_to_be_unknown(office: Office) -> None:
    found = office.run_json("ask", "年假最多以前可以结转几天？")
    assert "5 天" in found["answer"]
    assert "没有更早的版本" in found["answer"]


def test_what_a_page_no_longer_says_is_found_in_its_former_versions(office: Office) -> None:
    more = "\n## Charging\n\nThe charging columns deliver 22 kilowatts each.\n"
    write(office, "ops/parking.md", PARKING.format(count=4, more=more), month=2)
    office.run("sync")
    write(office, "ops/parking.md", PARKING.format(count=4, more=""), month=5)
    office.run("sync")
    found = office.run_json("ask", "What did the charging columns previously deliver?")
    assert "22 kilowatts" in found["answer"]
    assert "in force from 2026-02-01" in found["answer"]
    # In force neither then nor now: the moment is counted from the day of the question.
    then = office.run_json("ask", "As of last month, what did the charging columns deliver?")
    assert "22 kilowatts" in then["answer"]
    assert "in force from 2026-02-01" in then["answer"]
    now = office.run_json("ask", "What do the charging columns deliver?")
    assert "22 kilowatts" not in now["answer"]


def test_an_archived_page_speaks_when_nothing_current_does_and_says_so(office: Office) -> None:
    write(office, "ops/badge.md", BADGE, month=1)
    office.run("sync")
    found = office.run_json("ask", "What does a lost badge cost to replace?")
    assert "30 euro" in found["answer"]
    assert "archived page" in found["answer"]


def test_an_archived_page_is_told_of_when_the_past_is_asked_for(office: Office) -> None:
    write(office, "ops/badge.md", BADGE, month=1)
    current = BADGE.replace("status: archived", "status: current").replace("30 euro", "45 euro")
    write(office, "ops/badge-2026.md", current.replace("# Badge fee", "# Badge fees"), month=6)
    office.run("sync")
    now = office.run_json("ask", "What does a lost badge cost to replace?")
    assert "45 euro" in now["answer"]
    assert "30 euro" not in now["answer"]
    before = office.run_json("ask", "What did a lost badge cost to replace previously?")
    assert "30 euro" in before["answer"]
    assert "archived page" in before["answer"]
    assert "45 euro" in before["answer"]
    numbers = [one["n"] for one in before["citations"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(f"[{number}]" in before["answer"] for number in numbers)


@pytest.mark.parametrize(
    "question",
    ["班车补贴以前是每月多少元？", "截至 2026 年 5 月，班车补贴是每月多少元？"],
)
def test_who_lost_the_right_to_a_page_lost_its_past(aged: Office, question: str) -> None:
    (aged.files / "handbook" / ".access.yaml").write_text("read:\n  - group:company/hr\n")
    assert aged.run("jobs", "run", "files", "rights").exit_code == 0
    told = aged.run_json("ask", question, "--as", HR)
    assert "430" in told["answer"]
    denied = aged.run_json("ask", question, "--as", OPS)
    assert not any(amount in denied["answer"] for amount in ("380", "430", "480"))
    assert denied["citations"] == []
    hits = aged.run_json("search", "班车补贴", "--as", OPS, "--as-of", "2026-05-01")["hits"]
    assert not any("班车" in hit["text"] for hit in hits)
