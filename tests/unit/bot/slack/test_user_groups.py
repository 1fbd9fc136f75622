"""User groups of the workspace in access files: who is in them reads, who is not does not."""

import asyncio
from pathlib import Path

import pytest

from bot.handlers.slack.roster import SYSTEM
from playground.slack.server import serve_slack
from playground.slack.workspace import UserGroup
from tests.unit.bot.office import OPS, Office
from tests.unit.bot.slack.workplace import (
    MIXED,
    PATIENCE_S,
    Workplace,
    build_workspace,
    open_workplace,
    words_of,
)

PAGER_QUESTION = "值班手机的解锁口令提示是什么？"
PAGER = "蓝色水壶"
PAGE = f"# 值班手机\n\n## 解锁\n\n值班手机的解锁口令提示是{PAGER}。\n"


@pytest.fixture
def oncall_office(office: Office) -> Office:
    """Return an office with a folder that only the user group S1 may read."""
    folder = Path(office.files, "oncall")
    folder.mkdir()
    (folder / ".access.yaml").write_text("read:\n  - group:slack/S1\n", encoding="utf-8")
    (folder / "值班手机.md").write_text(PAGE, encoding="utf-8")
    office.add_settings("[directory]\ngroups_fresh_s = 0.01")
    assert office.run("sync").exit_code == 0
    return office


async def find_members(workplace: Workplace) -> set[str] | None:
    content = (await workplace.product.state.directory.load()).content
    found = [one for one in content.groups if one.source == SYSTEM and one.group_id == "S1"]
    return set(found[0].members) if found else None


async def wait_for_members(workplace: Workplace, *members: str) -> None:
    """Wait until the directory knows who is in the group."""
    async with asyncio.timeout(PATIENCE_S):
        while await find_members(workplace) != {*members}:  # noqa: ASYNC110 - another task writes
            await asyncio.sleep(0.01)


async def ask(workplace: Workplace) -> str:
    return words_of(await workplace.ask(OPS, "dm", PAGER_QUESTION))


async def test_members_of_a_user_group_read_what_it_may_and_leave_at_once(
    oncall_office: Office,
) -> None:
    async with serve_slack(build_workspace()) as slack:
        group = UserGroup(group_id="S1", handle="oncall", users=["U3", "U4"])
        slack.workspace.groups["S1"] = group
        async with open_workplace(oncall_office, slack=slack) as workplace:
            await wait_for_members(workplace, OPS)
            assert PAGER in await ask(workplace)
            assert PAGER not in words_of(await workplace.ask(OPS, MIXED, PAGER_QUESTION))
            group.users.remove("U3")
            slack.delivery.send_event({"type": "subteam_updated", "event_ts": "1.1"})
            await wait_for_members(workplace)
            assert PAGER not in await ask(workplace)


@pytest.mark.parametrize("fate", ["disabled", "gone"])
async def test_a_group_that_is_no_more_admits_nobody(oncall_office: Office, fate: str) -> None:
    async with serve_slack(build_workspace()) as slack:
        slack.workspace.groups["S1"] = UserGroup(group_id="S1", handle="oncall", users=["U3"])
        async with open_workplace(oncall_office, slack=slack) as workplace:
            await wait_for_members(workplace, OPS)
            assert PAGER in await ask(workplace)
        if fate == "gone":
            del slack.workspace.groups["S1"]
        else:
            slack.workspace.groups["S1"].is_disabled = True
        async with open_workplace(oncall_office, slack=slack) as workplace:
            await wait_for_members(workplace)
            assert PAGER not in await ask(workplace)


async def test_without_the_scope_nobody_counts_as_a_member_and_questions_are_answered(
    oncall_office: Office,
) -> None:
    async with serve_slack(build_workspace()) as slack:
        slack.workspace.groups["S1"] = UserGroup(group_id="S1", handle="oncall", users=["U3"])
        slack.scopes.discard("usergroups:read")
        async with open_workplace(oncall_office, slack=slack) as workplace:
            assert PAGER not in await ask(workplace)
