from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.trace import Trace, TraceStore
from core.database import Database
from core.errors import SettingsError

AT = datetime(2026, 11, 30, 9, tzinfo=UTC)
TRACE = Trace(
    trace_id="t1",
    at=AT,
    asker="ann",
    place="dm",
    question="磁盘满了怎么清理？",
    outcome="answered",
    payload={"stages": [{"stage": "bm25", "rows": [["p1", 0.5]]}]},
)


async def test_trace_is_given_back_as_saved(database: Database) -> None:
    store = TraceStore(database)
    await store.save(TRACE)
    assert await store.get("t1") == TRACE
    await store.save(replace(TRACE, outcome="failed", asker=None))
    assert (await store.get("t1")).outcome == "failed"


async def test_unknown_trace_is_a_settings_error(database: Database) -> None:
    with pytest.raises(SettingsError, match="no trace 'x'; traces are kept for 30 days"):
        await TraceStore(database).get("x")


async def test_latest_come_first(database: Database) -> None:
    store = TraceStore(database)
    for number in range(4):
        at = AT + timedelta(minutes=number)
        asker = "ann" if number % 2 else None
        await store.save(replace(TRACE, trace_id=f"t{number}", at=at, asker=asker))
    assert [one.trace_id for one in await store.list_recent(limit=3)] == ["t3", "t2", "t1"]
    assert [one.trace_id for one in await store.list_recent(asker="ann")] == ["t3", "t1"]


async def test_old_traces_are_purged(database: Database) -> None:
    store = TraceStore(database)
    await store.save(TRACE)
    await store.save(replace(TRACE, trace_id="t2", at=AT + timedelta(days=1)))
    assert await store.purge(AT + timedelta(days=30)) == 1
    assert [one.trace_id for one in await store.list_recent()] == ["t2"]


@pytest.mark.parametrize("key", ["text", "section_text", "indexed_text", "markdown"])
async def test_text_of_passages_is_refused(database: Database, key: str) -> None:
    nested = replace(TRACE, payload={"stages": [{"hits": [{key: "secret"}]}]})
    with pytest.raises(ValueError, match=f"must not carry '{key}'"):
        await TraceStore(database).save(nested)
