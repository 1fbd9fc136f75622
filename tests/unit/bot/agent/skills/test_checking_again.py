"""What nobody knows is asked of the system that was to do it, and done at most once."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import JsonValue

from bot.agent.actions import ActionState, PendingAction
from bot.agent.audit import AuditLog, load_audit_key
from bot.agent.confirmation import Confirmation
from bot.agent.verdicts import Verdict
from bot.agent.wiring import build_confirmation
from core.clock import SystemClock
from playground.jira.board import Board, Project
from playground.jira.server import JiraServer, serve_jira
from tests.unit.bot.office import HR, OPS, Office

SKILL = """\
name: create_ticket
kind: ticket
description: Makes a ticket for the desk.
title: {zh: 提工单, en: Create a ticket}
tracker: desk
queues: {IT: {project: IT}}
timeout_s: 0.4
"""
TICKET: dict[str, JsonValue] = {"title": "卡纸", "description": "三楼打印机卡纸"}


@asynccontextmanager
async def open_desk(office: Office) -> AsyncIterator[tuple[Confirmation, JiraServer]]:
    async with serve_jira(Board([Project(key="IT", name="IT")])) as server:
        lines = [f"{name} = {json.dumps(one)}" for name, one in server.settings().items()]
        office.add_settings("\n".join(["[trackers.desk]", *lines]))
        folder = office.home / "skills"
        folder.mkdir(exist_ok=True)
        (folder / "ticket.yaml").write_text(SKILL, encoding="utf-8")
        async with office.open() as product:
            yield build_confirmation(product), server


async def lose_the_reply(confirmation: Confirmation, server: JiraServer) -> PendingAction:
    """Have a ticket made whose reply never comes."""
    draft = await confirmation.propose("create_ticket", TICKET, asker=HR, place="dm")
    server.faults.hangs_after_write = 1
    decision = await confirmation.confirm(draft.action_id, draft.nonce, HR)
    assert decision.action is not None
    assert decision.action.state is ActionState.UNKNOWN
    return decision.action


async def test_a_system_that_knows_of_it_settles_it(office: Office) -> None:
    async with open_desk(office) as (confirmation, server):
        action = await lose_the_reply(confirmation, server)
        decision = await confirmation.check_again(action.action_id, action.nonce, HR)
        late = await confirmation.check_again(action.action_id, action.nonce, HR)
        assert len(server.board.issues) == 1
    assert decision.verdict is Verdict.ACCEPTED
    assert decision.action is not None
    assert decision.action.state is ActionState.DONE
    assert decision.action.result.startswith("IT-1 http://127.0.0.1:")
    assert late.verdict is Verdict.ALREADY_DECIDED


async def test_a_system_that_does_not_know_yet_settles_nothing(office: Office) -> None:
    async with open_desk(office) as (confirmation, server):
        server.faults.unseen_searches = 1
        action = await lose_the_reply(confirmation, server)
        first = await confirmation.check_again(action.action_id, action.nonce, HR)
        server.faults.failures = 1
        second = await confirmation.check_again(action.action_id, action.nonce, HR)
        third = await confirmation.check_again(action.action_id, action.nonce, HR)
    assert [first.verdict, second.verdict] == [Verdict.NOT_KNOWN] * 2
    assert third.verdict is Verdict.ACCEPTED


async def test_doing_it_again_does_not_double_what_is_found(office: Office) -> None:
    async with open_desk(office) as (confirmation, server):
        action = await lose_the_reply(confirmation, server)
        decision = await confirmation.send_again(action.action_id, action.nonce, HR)
        assert len(server.board.issues) == 1
    assert decision.action is not None
    assert decision.action.state is ActionState.DONE


async def test_others_can_not_ask(office: Office) -> None:
    async with open_desk(office) as (confirmation, server):
        action = await lose_the_reply(confirmation, server)
        server.calls.reset()
        other = await confirmation.check_again(action.action_id, action.nonce, OPS)
        guess = await confirmation.check_again(action.action_id, "guess", OPS)
        assert not server.calls.total
    assert other.verdict is Verdict.NOT_YOURS
    assert guess.verdict is Verdict.NOT_FOUND


async def test_what_was_found_is_in_the_audit_log(office: Office) -> None:
    async with open_desk(office) as (confirmation, server):
        action = await lose_the_reply(confirmation, server)
        await confirmation.check_again(action.action_id, action.nonce, HR)
    async with office.open() as product:
        log = AuditLog(product.state.database, SystemClock(), load_audit_key(office.home))
        events = [one.event for one in await log.load()]
    assert events == ["skills_changed", "proposed", "confirmed", "unknown", "found"]
