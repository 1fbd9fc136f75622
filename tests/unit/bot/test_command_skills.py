"""`zhixing skills` and what `zhixing doctor` says of them."""

import json

import pytest

from bot.agent.skills.skill_file import build_file_schema
from tests.unit.bot.office import GUEST, HR, OPS, Office

MAIL = '[mail]\nhost = "127.0.0.1"\nport = 9\nsender = "zhixing@nimbus.example"\n'
LOOK_UP = """\
name: count_desks
kind: sql
description: Counts the desks of the office.
title: {zh: 工位, en: Desks}
database: desks
query: SELECT 1 AS n
visible_to: ["group:company/hr"]
"""


@pytest.fixture
def skilled(office: Office) -> Office:
    office.add_settings(f'{MAIL}\n[databases.desks]\nurl = "sqlite:///desks.sqlite"\n')
    folder = office.home / "skills"
    folder.mkdir()
    (folder / "desks.yaml").write_text(LOOK_UP, encoding="utf-8")
    return office


def test_skills_are_listed_for_whom_they_are(skilled: Office) -> None:
    def names(person: str) -> list[str]:
        found = skilled.run_json("skills", "list", "--as", person)
        return [one["name"] for one in found["skills"]]

    assert names(HR) == ["count_desks", "send_email"]
    assert names(OPS) == ["send_email"]
    assert names(GUEST) == []
    assert "工位 · Desks" in skilled.run("skills", "list").stdout


def test_a_home_without_skills_says_so(office: Office) -> None:
    assert "no skills" in office.run("skills", "list").stdout
    assert office.run_json("skills", "check") == {"skills": 0, "problems": []}


def test_a_bad_file_is_told_by_line_and_column(skilled: Office) -> None:
    assert skilled.run("skills", "check").exit_code == 0
    path = skilled.home / "skills" / "desks.yaml"
    path.write_text(LOOK_UP.replace("query: SELECT", "qurey: SELECT"), encoding="utf-8")
    result = skilled.run("skills", "check", "--json")
    assert result.exit_code == 1
    [problem] = json.loads(result.stdout)["problems"]
    assert problem.startswith(f"{path}:6:1: `qurey` is no key")
    assert f"✗ skills: {path}:6:1: `qurey`" in skilled.run("doctor").stdout


def test_the_schema_is_printed_for_editors(office: Office) -> None:
    assert office.run("skills", "schema").stdout == build_file_schema()
