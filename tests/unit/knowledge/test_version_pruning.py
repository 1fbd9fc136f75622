from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.clock import FixedClock
from core.database import Database
from core.settings import IngestSettings
from knowledge.documents import BodyPart, Content, DocumentId, Version
from knowledge.forgotten import Forgotten, describe_state, leave_out_forgotten
from knowledge.runs import RunKind
from knowledge.source import Upserted
from knowledge.version_pruning import find_old_versions, prune_versions
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import NOW, Workbench, open_workbench

PAGE = DocumentId("memory:p")
MOMENTS = {number: datetime(2026, number, 1, tzinfo=UTC) for number in range(1, 6)}


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("kept", "days", "old"),
    [(10, 0, []), (3, 0, [1, 2]), (1, 0, [1, 2, 3, 4]), (10, 45, [1, 2]), (4, 45, [1, 2])],
)
def test_versions_go_by_number_and_by_age(kept: int, days: int, old: list[int]) -> None:
    now = datetime(2026, 5, 15, tzinfo=UTC)
    assert find_old_versions(MOMENTS, now=now, kept=kept, days=days) == old
    assert find_old_versions({}, now=now, kept=kept, days=days) == []


async def test_pruning_drops_versions_their_text_and_old_runs(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text="limit one")})
    await bench.sync(source)
    for text in ("limit two", "limit three", "limit four"):
        source.edit("p", text)
        await bench.sync(source)
    # Replaced on 2, 3 and 4 January; a hundred days after the 3rd the first two are too old.
    settings = IngestSettings(versions_days=100)
    clock = FixedClock(START + timedelta(days=102, hours=1))
    parts = replace(bench.parts, ingest=settings, clock=clock)
    assert await prune_versions("memory", parts, bench.logs, history_days=90) == 2
    assert [one.number for one in await bench.parts.ledger.load_versions(PAGE)] == [3, 4]
    assert await bench.texts("limit", as_of=START) == []
    assert await bench.texts("limit", as_of=START + timedelta(days=2)) == ["limit three"]
    later = replace(parts, clock=FixedClock(NOW + timedelta(days=200)))
    await prune_versions("memory", later, bench.logs, history_days=90)
    kinds = [one.kind for one in await bench.logs.runs.load_history(limit=20)]
    # The latest run of each kind is remembered, however old.
    assert kinds.count(RunKind.SYNC) == 1


async def test_a_version_that_the_source_removed_goes_with_the_next_read(bench: Workbench) -> None:
    history = tuple(
        Content(
            title="p",
            parts=(BodyPart(markdown=f"text {number}"),),
            version=Version(number=number, at=START + timedelta(days=number)),
        )
        for number in (1, 2, 3, 4)
    )
    page = MemoryPage(text="text 4", number=4, at=START + timedelta(days=4), history=history[:3])
    source = MemorySource({"p": page})
    await bench.sync(source)
    source.edit("p", "text 5")
    source.pages["p"].history = (history[0], *history[2:])
    await bench.sync(source)
    assert [one.number for one in await bench.parts.ledger.load_versions(PAGE)] == [1, 3, 4, 5]
    assert await bench.texts("text", as_of=START + timedelta(days=2, hours=1)) == []


async def test_a_page_counts_as_changed_by_hash_number_or_token() -> None:
    source = MemorySource({"p": MemoryPage(text="secret", number=3)})
    document = await source.fetch(Upserted(document_id=PAGE, scope="memory", locator="p"))

    def forget(state: str, number: int = 0) -> dict[DocumentId, list[Forgotten]]:
        one = Forgotten(document_id=PAGE, number=number, at=START, forgotten_at=NOW, state=state)
        return {PAGE: [one]}

    same = describe_state(content_hash="", number=3, token="other")
    older = describe_state(content_hash="", number=2, token=document.token)
    assert leave_out_forgotten(document, forget(same)) is None
    assert leave_out_forgotten(document, forget(older)) == document
    hashed = replace(document, content_hash="abc")
    assert leave_out_forgotten(hashed, forget("hash abc")) is None
    assert leave_out_forgotten(hashed, forget("hash xyz")) == hashed
    uncounted = replace(
        document, content=replace(document.content, version=Version(number=0, at=START))
    )
    token = describe_state(content_hash="", number=7, token=document.token)
    assert leave_out_forgotten(uncounted, forget(token)) is None
    assert leave_out_forgotten(uncounted, forget(same)) == uncounted
    assert leave_out_forgotten(document, {}) == document
