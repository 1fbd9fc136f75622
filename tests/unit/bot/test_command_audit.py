"""`zhixing audit verify` on a log that the product itself has written, and the job that expires."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import JsonValue
from sqlalchemy import Connection, delete, select, update

from bot.agent.action_store import pending_actions
from bot.agent.audit import KEY_FILE, audit_entries
from bot.agent.wiring import build_confirmation
from tests.unit.bot.office import OPS, Office

MAIL = """
[mail]
host = "127.0.0.1"
port = 9
sender = "zhixing@nimbus.example"
security = "none"

[actions]
lifetime_s = 0.001
"""
PARAMETERS: dict[str, JsonValue] = {
    "to": ["su.qin@nimbus.example"],
    "subject": "年假",
    "body": "能结转几天？",
}
DRAFTS = 3
# The first entry says which skills there are.
ENTRIES = 1 + DRAFTS


async def propose(office: Office) -> None:
    async with office.open() as product:
        confirmation = build_confirmation(product)
        for _ in range(DRAFTS):
            await confirmation.propose("send_email", PARAMETERS, asker=OPS, place="dm")


async def work(office: Office, what: Callable[[Connection], Any]) -> Any:
    async with office.open() as product:
        return await product.state.database.write(what)


@pytest.fixture
def busy_office(office: Office) -> Office:
    office.add_settings(MAIL)
    asyncio.run(propose(office))
    return office


def test_an_empty_log_is_whole(office: Office) -> None:
    result = office.run("audit", "verify")
    assert (result.exit_code, result.stdout.strip()) == (0, "0 entries; the chain is whole")


def test_a_log_as_it_was_written_is_whole(busy_office: Office) -> None:
    found = busy_office.run_json("audit", "verify", "--at-least", str(ENTRIES))
    assert found == {"count": ENTRIES, "broken_at": None, "is_whole": True}


def test_a_changed_entry_is_named(busy_office: Office) -> None:
    changed = update(audit_entries).where(audit_entries.c.number == 2).values(event="rejected")
    asyncio.run(work(busy_office, lambda connection: connection.execute(changed).rowcount))
    result = busy_office.run("audit", "verify")
    assert result.exit_code == 1
    assert "BROKEN at entry 2" in result.stdout


def test_entries_cut_off_at_the_end_are_missed_by_their_count(busy_office: Office) -> None:
    cut = delete(audit_entries).where(audit_entries.c.number == ENTRIES)
    asyncio.run(work(busy_office, lambda connection: connection.execute(cut).rowcount))
    assert busy_office.run("audit", "verify").exit_code == 0
    result = busy_office.run("audit", "verify", "--at-least", str(ENTRIES))
    assert result.exit_code == 1
    assert "BROKEN at the end" in result.stdout


def test_another_key_does_not_fit(busy_office: Office) -> None:
    (busy_office.home / KEY_FILE).write_text("ab" * 32)
    assert busy_office.run("audit", "verify").exit_code == 1


def test_the_job_of_the_house_expires_what_nobody_confirmed_once(busy_office: Office) -> None:
    for _ in range(2):
        assert busy_office.run("jobs", "run", "assistant", "expiry").exit_code == 0
    states = select(pending_actions.c.state)
    found = asyncio.run(
        work(busy_office, lambda connection: connection.execute(states).scalars().all())
    )
    assert found == ["expired"] * DRAFTS
    assert busy_office.run_json("audit", "verify")["count"] == ENTRIES + DRAFTS
