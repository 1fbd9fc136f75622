from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.database import Database
from core.errors import ServiceUnavailableError, UnsupportedContentError
from core.settings import IngestSettings
from knowledge.access import (
    ALL_MEMBERS,
    NOBODY,
    NOTHING,
    OPERATOR,
    AccessNo,
    AccessRule,
    ReadableClasses,
)
from knowledge.documents import BodyPart, Content, PassageId, Status, Version
from knowledge.runs import RunKind, RunStatus
from knowledge.stores import PassageFilter
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

FINANCE = AccessRule.of(["group:company/finance"])
DAY = timedelta(days=1)
EVERYTHING = PassageFilter(access=OPERATOR)


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


def pages(count: int) -> dict[str, MemoryPage]:
    return {f"p{n:02}": MemoryPage(text=f"unique{n} text of a page") for n in range(count)}


def only(*numbers: int) -> ReadableClasses:
    readable = frozenset(map(AccessNo, numbers))
    return ReadableClasses(numbers=readable, denied=frozenset(), last_known=AccessNo(99))


async def test_syncing_twice_changes_nothing(bench: Workbench) -> None:
    source = MemorySource(pages(5))
    first = await bench.sync(source)
    rows = await bench.parts.store.count()
    second = await bench.sync(source)
    assert (first.added, first.seen) == (5, 5)
    assert (second.added, second.changed, second.unchanged, second.rows_added) == (0, 0, 5, 0)
    assert await bench.parts.store.count() == rows
    assert len(source.fetched) == 5


async def test_a_change_closes_and_opens_only_the_passages_that_changed(bench: Workbench) -> None:
    text = "# One\n\nalpha stays as it is\n\n# Two\n\nbeta is the old value here"
    source = MemorySource({"p": MemoryPage(text=text)})
    first = await bench.sync(source)
    source.edit("p", text.replace("beta is the old", "gamma is the new"))
    second = await bench.sync(source)
    assert second.changed == 1
    assert 0 < second.rows_added < first.rows_added or first.rows_added == 1
    assert any("gamma" in found for found in await bench.texts("gamma"))
    assert not any("beta" in found for found in await bench.texts("beta"))


async def test_as_of_finds_what_was_in_force_then(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text="the limit is fifty", at=START)})
    await bench.sync(source)
    source.edit("p", "the limit is eighty")
    await bench.sync(source)
    assert "fifty" in (await bench.texts("limit", as_of=START + DAY / 2))[0]
    assert "eighty" in (await bench.texts("limit"))[0]
    assert "eighty" in (await bench.texts("limit", as_of=START + 2 * DAY))[0]


async def test_history_that_the_source_knows_is_filled_back(bench: Workbench) -> None:
    old = Content(
        title="p",
        parts=(BodyPart(markdown="the fee was ten"),),
        version=Version(number=1, at=START),
    )
    page = MemoryPage(text="the fee is twelve", number=2, at=START + DAY, history=(old,))
    await bench.sync(MemorySource({"p": page}))
    assert "ten" in (await bench.texts("fee", as_of=START + DAY / 2))[0]
    versions = await bench.parts.ledger.load_versions(MemorySource({}).id_of("p"))
    assert [one.number for one in versions] == [1, 2]


async def test_only_the_newest_versions_are_kept(database: Database, tmp_path: Path) -> None:
    settings = IngestSettings(versions_kept=2)
    async with open_workbench(database, tmp_path, ingest=settings) as bench:
        source = MemorySource({"p": MemoryPage(text="value one")})
        for text in ("value one", "value two", "value three", "value four"):
            if text != "value one":
                source.edit("p", text)
            await bench.sync(source)
        assert "three" in (await bench.texts("value", as_of=START + 2.5 * DAY))[0]
        assert not await bench.texts("value", as_of=START + DAY / 2)
        versions = await bench.parts.ledger.load_versions(source.id_of("p"))
        assert [one.number for one in versions] == [3, 4]


async def test_one_bad_document_is_recorded_and_the_rest_goes_on(bench: Workbench) -> None:
    source = MemorySource(pages(4))
    source.broken = {
        "p01": UnsupportedContentError("'p01' is encrypted; remove the password"),
        "p02": ServiceUnavailableError("the source did not answer for 'p02'"),
        "p03": ValueError("a bug"),
    }
    report = await bench.sync(source)
    assert report.added == 1
    assert report.failures[source.id_of("p01")] == "'p01' is encrypted; remove the password"
    assert "failed unexpectedly" in report.failures[source.id_of("p03")]
    recorded = await bench.logs.failures.load_failures("memory")
    assert [one.last.is_permanent for one in recorded] == [True, False, True]
    run = (await bench.logs.runs.load_last_runs())["memory"][RunKind.SYNC]
    assert run.status is RunStatus.PARTIAL
    source.broken = {}
    for key in ("p01", "p02", "p03"):
        source.edit(key, "mended")
    assert (await bench.sync(source)).added == 3
    assert not await bench.logs.failures.load_failures("memory")


async def test_a_page_that_failed_is_not_read_again_until_it_changes(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text="words")})
    source.broken = {"p": UnsupportedContentError("'p' is encrypted")}
    await bench.sync(source)
    source.fetched.clear()
    report = await bench.sync(source)
    assert (source.fetched, len(report.failures)) == ([], 1)
    source.edit("p", "other words")
    source.broken = {}
    assert (await bench.sync(source)).added == 1


async def test_a_failing_page_keeps_its_old_version(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text="the old words")})
    await bench.sync(source)
    source.edit("p", "the new words")
    source.broken = {"p": UnsupportedContentError("damaged")}
    await bench.sync(source)
    assert "old" in (await bench.texts("words"))[0]


async def test_a_deleted_page_leaves_with_its_history(bench: Workbench) -> None:
    source = MemorySource(pages(10))
    await bench.sync(source)
    statistics = await bench.term_index.load(["unique3"])
    assert (statistics.rows, statistics.document_frequency["unique3"]) == (10, 1)
    del source.pages["p03"]
    report = await bench.sync(source)
    assert report.removed == 1
    assert not [text for text in await bench.texts("unique3") if "unique3" in text]
    statistics = await bench.term_index.load(["unique3"])
    assert (statistics.rows, statistics.document_frequency["unique3"]) == (9, 0)


async def test_a_mass_deletion_is_held_until_a_person_agrees(bench: Workbench) -> None:
    source = MemorySource(pages(10))
    await bench.sync(source)
    for number in range(6):
        del source.pages[f"p{number:02}"]
    held = await bench.sync(source)
    assert (held.removed, held.held) == (0, 6)
    assert "--accept-deletions" in held.alarms[0]
    assert any("unique2" in text for text in await bench.texts("unique2"))
    hit = (await bench.retriever.search("unique2", EVERYTHING)).hits[0]
    assert hit.is_unconfirmed_since is not None
    accepted = await bench.sync(source, accept_deletions=True)
    assert (accepted.removed, accepted.held) == (6, 0)
    assert not any("unique2" in text for text in await bench.texts("unique2"))
    assert not await bench.logs.holds.load_holds()


async def test_pages_that_come_back_end_the_hold(bench: Workbench) -> None:
    source = MemorySource(pages(10))
    await bench.sync(source)
    kept = dict(source.pages)
    source.pages = {}
    assert (await bench.sync(source)).held == 10
    source.pages = kept
    assert (await bench.sync(source)).held == 0
    hit = (await bench.retriever.search("unique2", EVERYTHING)).hits[0]
    assert hit.is_unconfirmed_since is None


async def test_a_listing_that_failed_deletes_nothing(bench: Workbench) -> None:
    source = MemorySource(pages(3))
    await bench.sync(source)
    del source.pages["p01"]
    source.listing_error = "permission denied below 'x'"
    report = await bench.sync(source)
    assert report.removed == 0
    assert "permission denied" in report.alarms[0]


async def test_a_tightened_rule_holds_at_once_without_reading_the_page(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text="the secret budget")})
    await bench.sync(source)
    members = await bench.parts.registry.number_of(ALL_MEMBERS)
    finance = await bench.parts.registry.number_of(FINANCE)
    assert await bench.texts("budget", only(members))
    source.pages["p"].rule = FINANCE
    source.fetched.clear()
    await bench.sync(source)
    assert not source.fetched
    assert not await bench.texts("budget", only(members))
    assert await bench.texts("budget", only(finance))
    assert not await bench.texts("budget", NOTHING)


async def test_included_text_needs_both_rules_also_after_either_changes(bench: Workbench) -> None:
    included = BodyPart(
        markdown="the embedded price is nine",
        included_from=MemorySource({}).id_of("price"),
        included_rule=FINANCE,
    )
    source = MemorySource(
        {
            "open": MemoryPage(text="an open page", included=included),
            "price": MemoryPage(text="the embedded price is nine", rule=FINANCE),
        }
    )
    await bench.sync(source)
    members = await bench.parts.registry.number_of(ALL_MEMBERS)
    finance = await bench.parts.registry.number_of(FINANCE)
    both = await bench.parts.registry.number_of(ALL_MEMBERS & FINANCE)
    assert not await bench.texts("price", only(members))
    assert await bench.texts("price", only(both))
    assert await bench.texts("open", only(members))
    source.pages["price"].rule = NOBODY
    source.pages["open"].included = BodyPart(
        markdown=included.markdown,
        included_from=included.included_from,
        included_rule=NOBODY,
    )
    await bench.sync(source)
    assert not await bench.texts("price", only(members, finance, both))


async def test_archived_pages_are_found_only_when_asked_for(bench: Workbench) -> None:
    source = MemorySource({"p": MemoryPage(text="the former client")})
    await bench.sync(source)
    source.pages["p"].status = Status.ARCHIVED
    report = await bench.sync(source)
    assert report.changed == 1
    assert not await bench.texts("client")
    assert await bench.texts("client", statuses=frozenset(Status))


async def test_a_run_that_was_killed_leaves_no_trace(bench: Workbench) -> None:
    """Rows written but never committed are invisible, and gone after the next run."""
    source = MemorySource(pages(2))
    await bench.sync(source)
    clean = await bench.parts.store.count()
    (hit, *_) = (await bench.retriever.search("unique1", EVERYTHING)).hits
    await bench.parts.writer.record_intents([hit.passage_id, PassageId("never-written")])
    await bench.sync(source)
    assert await bench.parts.store.count() == clean
    unfinished = await bench.parts.writer.load_unfinished()
    assert not unfinished.passage_ids
    assert any("unique1" in text for text in await bench.texts("unique1"))


async def test_the_next_run_resumes_from_the_saved_cursor(bench: Workbench) -> None:
    source = MemorySource(pages(1))
    await bench.sync(source)
    await bench.sync(source)
    assert source.cursors == ["", "1"]
