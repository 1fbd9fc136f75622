"""The skills of the sample company can be used, and reach its ticket system and mail server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from bot.agent.actions import ActionState
from bot.agent.skills.kinds import BUILDERS, list_built_in, open_skill_parts
from bot.agent.skills.skill_set import SkillSet
from core.clock import SystemClock
from core.errors import SettingsError
from core.settings import MailSettings, load_settings
from core.skill_settings import TrackerSettings
from playground.jira.board import Board
from playground.jira.projects import read_projects
from playground.jira.server import JiraServer, serve_jira
from playground.serving import DESK


@asynccontextmanager
async def open_sample(home: Path) -> AsyncIterator[tuple[SkillSet, JiraServer]]:
    with as_file(files("playground") / "sample_company") as folder:
        async with serve_jira(Board(read_projects(folder))) as jira:
            settings = load_settings(home, {}).model_copy(
                update={
                    "trackers": {DESK: TrackerSettings.model_validate(jira.settings())},
                    "mail": MailSettings(host="127.0.0.1", sender="z@playground.example"),
                }
            )
            async with open_skill_parts(settings, SystemClock()) as parts:
                skills = SkillSet(
                    folder / "skills", parts, BUILDERS, built_in=list_built_in(settings)
                )
                await skills.refresh()
                yield skills, jira


async def test_every_file_is_good(tmp_path: Path) -> None:
    async with open_sample(tmp_path) as (skills, _):
        assert not skills.problems
        wanted = {"create_ticket", "comment_ticket", "find_ticket", "remind_approver", "send_email"}
        assert wanted <= skills.skills.keys()
        for skill in skills.skills.values():
            definition = skill.definition
            assert definition.title.zh
            assert definition.title.en
            assert definition.examples.zh
            assert definition.examples.en


async def test_every_queue_leads_to_a_project(tmp_path: Path) -> None:
    async with open_sample(tmp_path) as (skills, jira):
        create = skills["create_ticket"]
        for number, queue in enumerate(("IT-DESK", "SITE-FIX", "OPS-CHG", "PEOPLE", "HOUSE")):
            for priority in ("P1", "P4"):
                values = create.normalise(
                    {"queue": queue, "priority": priority, "title": "t", "description": "d"}
                )
                result = await create.run(values, idempotency_key=f"{number}{priority}")
                assert result.state is ActionState.DONE, result.text
        assert len(jira.board.issues) == 10


async def test_a_reminder_says_what_waits_and_goes_to_the_company_alone(tmp_path: Path) -> None:
    async with open_sample(tmp_path) as (skills, _):
        remind = skills["remind_approver"]
        values = remind.normalise({"to": "pan.zi@trellis-lib.example", "item": "报销 CL-7"})
    assert values["subject"] == "待您审批 Waiting for your approval: 报销 CL-7"
    assert "报销 CL-7 正在等待您审批" in str(values["body"])


def test_a_company_without_skills_has_a_help_desk(tmp_path: Path) -> None:
    assert [one.key for one in read_projects(tmp_path)] == ["HELP"]


def test_a_bad_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a.yaml").write_text("kind: magic\n")
    with pytest.raises(SettingsError, match=r"a.yaml:1:1: 'magic' is no kind"):
        read_projects(tmp_path)
