from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.database import Database
from knowledge.access import NOTHING, OPERATOR, AccessNo, ReadableClasses
from knowledge.documents import Hit, PassageId
from knowledge.ingest_batch import EVERY_ROW
from knowledge.ledger import Ledger
from knowledge.retrieval.lock import check_hits
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import NOW, Workbench, open_workbench
from tests.unit.knowledge.retrieval.hit_samples import make_hit

DAY = timedelta(days=1)
# The one rule of these pages is the first class there is.
MEMBER = ReadableClasses(
    numbers=frozenset({AccessNo(1)}), denied=frozenset(), last_known=AccessNo(1)
)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        source = MemorySource({"p": MemoryPage(text="the limit is fifty")})
        await opened.sync(source)
        source.edit("p", "the limit is eighty")
        await opened.sync(source)
        yield opened


async def load_hits(bench: Workbench) -> list[Hit]:
    """Return the former passage and the present one."""
    hits = await bench.parts.store.list_hits(EVERY_ROW, limit=10)
    return sorted(hits, key=lambda hit: hit.valid_from)


async def check(
    bench: Workbench, hits: Sequence[Hit], access: ReadableClasses, **limits: Any
) -> list[Hit]:
    return await check_hits(bench.parts.ledger, hits, access, **{"only_current": False, **limits})


async def test_no_hits_need_no_ledger(database: Database) -> None:
    await database.close()
    assert await check_hits(Ledger(database), [], OPERATOR, only_current=True) == []


async def test_what_the_reader_may_read_comes_back_in_its_order(bench: Workbench) -> None:
    former, present = await load_hits(bench)
    shown = await check(bench, [present, former], MEMBER)
    assert shown == [present, former]
    assert await check(bench, [present, former], NOTHING) == []


async def test_a_row_that_ended_is_not_current(bench: Workbench) -> None:
    former, present = await load_hits(bench)
    stale = replace(former, valid_to=None)
    shown = await check(bench, [stale, present], MEMBER, only_current=True)
    assert shown == [present]


async def test_a_row_the_ledger_does_not_know_is_denied_to_the_operator_too(
    bench: Workbench,
) -> None:
    former, _ = await load_hits(bench)
    stranger = replace(former, passage_id=PassageId("never committed"))
    found = await check(bench, [make_hit("x"), stranger], OPERATOR)
    assert found == []


async def test_class_and_end_are_those_of_the_ledger(bench: Workbench) -> None:
    former, _ = await load_hits(bench)
    stale = replace(former, valid_to=None, access_no=AccessNo(77))
    (shown,) = await check(bench, [stale], MEMBER)
    assert (shown.access_no, shown.valid_to) == (former.access_no, START + DAY)


@pytest.mark.parametrize(("moment", "place"), [(START, 0), (START + DAY, 1), (START - DAY, None)])
async def test_as_of_a_moment_only_what_was_in_force_is_shown(
    bench: Workbench, moment: datetime, place: int | None
) -> None:
    hits = await load_hits(bench)
    stale = [replace(hit, valid_to=None) for hit in hits]
    shown = await check(bench, stale, MEMBER, as_of=moment)
    assert shown == ([] if place is None else [hits[place]])


@pytest.fixture
async def grown(bench: Workbench) -> Sequence[Hit]:
    """Return the rows of a page of two sections, one of them changed."""
    text = f"# Desk\n\n{'fourth floor ' * 30}\n\n# Hours\n\n{'from eight ' * 30}"
    source = MemorySource({"q": MemoryPage(text=text)})
    await bench.sync(source)
    source.edit("q", text.replace("eight", "nine"))
    await bench.sync(source)
    hits = await bench.parts.store.list_hits(EVERY_ROW, limit=10)
    return [hit for hit in hits if hit.document_id == source.id_of("q")]


def of_text(hits: Sequence[Hit], text: str) -> Hit:
    return next(hit for hit in hits if text in hit.text)


async def test_text_in_force_carries_its_pages_version_of_today(
    bench: Workbench, grown: Sequence[Hit]
) -> None:
    desk = of_text(await check(bench, grown, MEMBER), "fourth")
    assert (desk.version_number, desk.updated_at) == (2, START + DAY)
    assert (desk.written_in, desk.valid_from) == ("v1", START)


async def test_former_text_keeps_the_version_it_was_of(
    bench: Workbench, grown: Sequence[Hit]
) -> None:
    former = of_text(await check(bench, grown, MEMBER), "eight")
    assert (former.version_number, former.updated_at) == (1, START)
    assert former.written_in == ""


async def test_text_of_a_moment_is_not_of_a_version_that_came_later(
    bench: Workbench, grown: Sequence[Hit]
) -> None:
    then = of_text(await check(bench, grown, MEMBER, as_of=START), "fourth")
    assert then.version_number == 1
    now = of_text(await check(bench, grown, MEMBER, as_of=START + DAY), "fourth")
    assert now.version_number == 2


async def test_a_page_whose_deletion_is_held_says_since_when(bench: Workbench) -> None:
    await bench.sync(MemorySource({f"q{n}": MemoryPage(text=f"page {n}") for n in range(9)}))
    await bench.sync(MemorySource({}))
    _, present, *_ = [hit for hit in await load_hits(bench) if hit.title == "p"]
    (shown,) = await check(bench, [present], MEMBER, only_current=True)
    assert shown.is_unconfirmed_since == NOW
