"""Pages that decide for others are looked at first; of large spaces nothing else is."""

from core.source_settings import ConfluenceSettings
from knowledge.access import AccessRule
from knowledge.documents import DocumentId
from knowledge.source import AccessChanged, ScopeListed
from tests.unit.connectors.confluence.conftest import Bench, Run

STAFF = "group:wiki/staff"
ONLY_ANN = AccessRule.of([STAFF], ["user:ann"]).access_id
OPEN = AccessRule.of([STAFF]).access_id
LARGE = {"rights_every_page": 0}


def access_of(bench: Bench, page: str) -> str:
    return bench.known[DocumentId(f"wiki:{page}")].access_id


def was_whole(run: Run) -> set[bool]:
    return {one.is_whole for one in run.changes if isinstance(one, ScopeListed)}


def grow(bench: Bench, *, below: str, count: int, first: int) -> list[str]:
    pages = [str(first + number) for number in range(count)]
    for page in pages:
        bench.edit.add_page("HR", f"Page {page}", "<p>text</p>", page_id=page, parent=below)
    return pages


async def test_a_changed_page_of_a_large_space_takes_all_below_with_it(bench: Bench) -> None:
    below = grow(bench, below="2", count=30, first=5000)
    deep = grow(bench, below="5003", count=3, first=6000)
    source = bench.open(**LARGE)
    await bench.sync(source)
    bench.edit.restrict("2", users=["ann"])
    run = await bench.rights(source)
    assert sorted(run.ids(AccessChanged)) == sorted(["2", *below, *deep])
    assert {access_of(bench, page) for page in ["2", *below, *deep]} == {ONLY_ANN}
    assert was_whole(run) == {False}
    bench.edit.restrict("2")
    await bench.rights(source)
    assert {access_of(bench, page) for page in ["2", *below, *deep]} == {OPEN}


async def test_a_page_with_readers_of_its_own_keeps_them_when_those_above_are_lifted(
    bench: Bench,
) -> None:
    # Both rules are equal as long as both hold, so the ledger can't tell them apart.
    grow(bench, below="2", count=3, first=5000)
    bench.edit.restrict("2", users=["ann"])
    bench.edit.restrict("5001", users=["ann"])
    source = bench.open(**LARGE)
    await bench.sync(source)
    bench.edit.restrict("2")
    await bench.rights(source)
    assert access_of(bench, "5000") == OPEN
    assert access_of(bench, "5001") == ONLY_ANN


async def test_a_moved_page_and_a_changed_space_are_noticed(bench: Bench) -> None:
    grow(bench, below="2", count=3, first=5000)
    source = bench.open(**LARGE)
    await bench.sync(source)
    bench.edit.restrict("1", users=["ann"])
    bench.edit.set_view("FIN", users=["dan"])
    await bench.rights(source)
    assert access_of(bench, "5002") == ONLY_ANN
    bench.edit.restrict("1")
    bench.edit.move("2", "3")
    await bench.rights(source)
    closed = AccessRule.of([STAFF], ["user:ann", "group:wiki/finance"]).access_id
    assert {access_of(bench, page) for page in ("2", "5001")} == {closed}


async def test_a_page_that_none_decides_for_waits_for_the_whole_listing(bench: Bench) -> None:
    grow(bench, below="2", count=3, first=5000)
    source = bench.open(**LARGE)
    await bench.sync(source)
    bench.edit.restrict("5002", users=["ann"])
    await bench.rights(source)
    assert access_of(bench, "5002") == OPEN
    bench.clock.forward(hours=25)
    await bench.sync(source)
    assert access_of(bench, "5002") == ONLY_ANN


async def test_a_page_that_cannot_be_seen_any_more_closes_nothing_below(bench: Bench) -> None:
    grow(bench, below="2", count=3, first=5000)
    source = bench.open(**LARGE)
    await bench.sync(source)
    bench.wiki.hidden.add("2")
    run = await bench.rights(source)
    assert not run.ids(AccessChanged)


async def test_a_usual_space_is_read_whole_by_every_run(bench: Bench) -> None:
    assert ConfluenceSettings.model_fields["rights_every_page"].default == 20_000
    pages = grow(bench, below="2", count=3, first=5000)
    source = bench.open()
    await bench.sync(source)
    bench.edit.restrict(pages[-1], users=["ann"])
    run = await bench.rights(source)
    assert run.ids(AccessChanged) == [pages[-1]]
    assert was_whole(run) == {True}


async def test_pages_that_decide_come_before_the_rest(bench: Bench) -> None:
    pages = grow(bench, below="2", count=510, first=5000)
    source = bench.open()
    await bench.sync(source)
    bench.edit.restrict("3", users=["ann"])
    bench.edit.restrict(pages[-1], users=["ann"])
    run = await bench.rights(source)
    said = [one for one in run.changes if isinstance(one, (AccessChanged, ScopeListed))]
    first = next(place for place, one in enumerate(said) if isinstance(one, ScopeListed))
    assert {one.document_id for one in said[:first] if isinstance(one, AccessChanged)} == {
        "wiki:3",
        "wiki:4",
    }
    assert was_whole(run) == {True, False}
    assert access_of(bench, pages[-1]) == ONLY_ANN
