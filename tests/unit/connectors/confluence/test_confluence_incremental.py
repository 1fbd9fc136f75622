from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from core.errors import ResourceGoneError, ServiceUnavailableError
from knowledge.access import NOBODY, AccessRule
from knowledge.documents import DocumentId, Status
from knowledge.source import AccessChanged, Cursor, Gone, ScopeListed, Upserted
from tests.unit.connectors.confluence.conftest import Bench

STAFF, FINANCE = "group:wiki/staff", "group:wiki/finance"


@pytest.mark.parametrize(
    "cursor",
    ['{"since": "2026-11-30T09:00:00+00:00", "spaces": ["HR"]}', "[1]", "v0:17", '{"since": 5}'],
)
async def test_a_cursor_of_another_form_lists_everything_anew(bench: Bench, cursor: str) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.cursor = Cursor(cursor)
    bench.edit.set_status("2", "trashed")
    run = await bench.sync(source)
    listed = [one.scope for one in run.changes if isinstance(one, ScopeListed) and not one.error]
    assert sorted(listed) == ["wiki/FIN", "wiki/HR"]
    assert "wiki:2" not in bench.known
    assert bench.cursor != cursor


async def test_an_edit_is_all_that_an_incremental_run_reads(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.clock.forward(days=3)
    await bench.sync(source, afresh=True)
    bench.server.calls.reset()
    bench.edit.edit("2", "<p>31 days</p>", by="cy")
    bench.clock.forward(minutes=5)
    run = await bench.sync(source)
    assert run.ids(Upserted) == ["2"]
    assert bench.text("2") == "31 days"
    assert not [one for one in run.changes if isinstance(one, ScopeListed)]
    assert (await bench.sync(source)).ids(Upserted) == []


async def test_one_change_costs_five_calls_at_most(bench: Bench) -> None:
    del bench.wiki.spaces["FIN"]
    bench.edit.purge("5")
    await bench.sync(bench.open())
    bench.clock.forward(minutes=5)
    bench.edit.edit("4", "<p>Eleven percent</p>")
    fresh = bench.open()
    bench.server.calls.reset()
    run = await bench.sync(fresh)
    assert run.ids(Upserted) == ["4"]
    assert run.documents["4"].breadcrumbs == ("人事 People", "Home", "Pay")
    assert bench.server.calls.total <= 5


async def test_only_versions_the_ledger_lacks_are_read_back(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.edit("2", "<p>two</p>")
    bench.edit.edit("2", "<p>three</p>")
    run = await bench.sync(source)
    assert [old.version.number for old in run.documents["2"].history] == [2]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "America/New_York"])
async def test_no_zone_hides_a_change(bench: Bench, zone: str) -> None:
    bench.server.serving.zone = ZoneInfo(zone)
    source = bench.open(overlap_hours=1)
    await bench.sync(source)
    bench.clock.forward(hours=20)
    bench.edit.edit("2", "<p>late</p>")
    bench.clock.forward(seconds=59)
    run = await bench.sync(source)
    assert run.ids(Upserted) == ["2"]
    narrow = bench.open(overlap_hours=1, time_zone=zone)
    bench.clock.forward(hours=3)
    bench.edit.edit("4", "<p>later</p>")
    assert (await bench.sync(narrow)).ids(Upserted) == ["4"]


async def test_new_pages_come_with_their_place_and_rights(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.add_page("HR", "Shares", "<p>Options</p>", page_id="30", parent="4")
    run = await bench.sync(bench.open())
    assert run.ids(Upserted) == ["30"]
    page = run.documents["30"]
    assert page.access == AccessRule.of([STAFF], ["user:ann", FINANCE])
    assert page.breadcrumbs == ("人事 People", "Home", "Pay", "Bonus")


async def test_a_restriction_of_an_ancestor_holds_for_a_page_edited_after_it(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.restrict("1", users=["bo"])
    bench.edit.edit("2", "<p>31 days</p>")
    run = await bench.sync(source)
    assert "2" in run.ids(AccessChanged)
    assert run.documents["2"].access == AccessRule.of([STAFF], ["user:bo"])


async def test_a_new_version_of_an_attachment_is_read_without_a_new_version_of_its_page(
    bench: Bench,
) -> None:
    file = bench.edit.attach("3", "bands.csv", b"band,pay\nA,10\n", media_type="text/csv")
    bench.edit.attach("3", "party.mp4", b"\x00\x01")
    source = bench.open()
    run = await bench.sync(source)
    document = run.documents[file.file_id]
    assert "| A | 10 |" in document.content.parts[0].markdown
    assert document.access == bench.documents["3"].access
    assert document.breadcrumbs == ("人事 People", "Home", "Pay")
    assert (document.content.title, document.content.version.number) == ("bands.csv", 1)
    bench.clock.forward(hours=1)
    bench.edit.attach("3", "bands.csv", b"band,pay\nA,12\n")
    run = await bench.sync(source)
    assert run.ids(Upserted) == [file.file_id]
    assert "| A | 12 |" in bench.text(file.file_id)
    assert (await bench.sync(source)).ids(Upserted) == []
    assert (await bench.sync(source, afresh=True)).ids(Upserted) == []


async def test_attachments_may_be_left_out(bench: Bench) -> None:
    bench.edit.attach("3", "bands.csv", b"band,pay\nA,10\n")
    run = await bench.sync(bench.open(attachments=False))
    assert len(run.documents) == 5


async def test_too_large_an_attachment_is_recorded(bench: Bench) -> None:
    file = bench.edit.attach("3", "bands.csv", b"x" * 5000)
    run = await bench.sync(bench.open(max_file_mb=0.001))
    assert "raise max_file_mb" in run.failures[file.file_id]


async def test_everything_is_listed_again_after_a_day(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.move("2", "3")
    bench.clock.forward(hours=23)
    assert (await bench.sync(source)).ids(Upserted) == []
    bench.clock.forward(hours=2)
    assert (await bench.sync(source)).ids(Upserted) == ["2"]


async def test_a_space_that_is_added_is_listed_whole(bench: Bench) -> None:
    await bench.sync(bench.open(spaces=["HR"]))
    run = await bench.sync(bench.open(spaces=["HR", "FIN"]))
    assert run.ids(Upserted) == ["5"]


async def test_head_tells_unchanged_edited_moved_archived_and_gone(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    known = bench.known[DocumentId("wiki:2")]
    bench.server.calls.reset()
    assert (await source.head(known)).token == known.token
    assert bench.server.calls.total == 1
    bench.edit.move("2", "3")
    assert (await source.head(known)).token != known.token
    bench.edit.move("2", "1")
    bench.edit.edit("2", "<p>x</p>")
    assert (await source.head(known)).token != known.token
    bench.edit.set_status("2", "archived")
    assert (await source.head(known)).status is Status.ARCHIVED
    bench.edit.set_status("2", "trashed")
    with pytest.raises(ResourceGoneError):
        await source.head(known)
    bench.edit.purge("2")
    with pytest.raises(ResourceGoneError):
        await source.head(known)


async def test_head_of_an_attachment(bench: Bench) -> None:
    file = bench.edit.attach("3", "bands.csv", b"a,b\n1,2\n")
    source = bench.open()
    await bench.sync(source)
    known = bench.known[DocumentId(f"wiki:{file.file_id}")]
    assert (await source.head(known)).token == known.token
    bench.edit.attach("3", "bands.csv", b"a,b\n1,3\n")
    assert (await source.head(known)).token != known.token
    bench.edit.set_status("3", "trashed")
    with pytest.raises(ResourceGoneError):
        await source.head(known)


async def test_access_is_asked_afresh(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.restrict("1", groups=["finance"])
    known = bench.known[DocumentId("wiki:2")]
    assert await source.fetch_access(known) == AccessRule.of([STAFF], [FINANCE])
    bench.edit.set_view("HR", users=["dan"])
    assert await source.fetch_access(known) == AccessRule.of(["user:dan"], [FINANCE])
    bench.wiki.hidden.add("2")
    assert await source.fetch_access(known) == NOBODY


async def test_a_page_that_is_back_is_not_taken_for_trash(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.set_status("2", "trashed")
    assert (await bench.sync(source)).ids(Gone) == ["2"]
    bench.edit.set_status("2", "current")
    bench.clock.forward(minutes=3)
    bench.edit.edit("2", "<p>back</p>")
    run = await bench.sync(source)
    assert (run.ids(Gone), run.ids(Upserted)) == ([], ["2"])


async def test_members_of_groups_come_from_the_site(bench: Bench) -> None:
    source = bench.open()
    groups = {one.group_id: one for one in await source.fetch_groups(["finance", "staff", "gone"])}
    assert groups["staff"].members == {"ann", "bo", "cy"}
    assert groups["finance"].members == {"ann"}
    assert groups["gone"].members == frozenset()
    assert {one.source for one in groups.values()} == {"wiki"}
    bench.edit.remove_member("staff", "bo")
    (staff,) = await source.fetch_groups(["staff"])
    assert staff.members == {"ann", "cy"}


async def test_members_are_not_guessed_when_the_site_does_not_answer(bench: Bench) -> None:
    bench.server.faults.fail_times["/group/"] = -1
    source = bench.open()
    with pytest.raises(ServiceUnavailableError):
        await source.fetch_groups(["staff"])


async def test_large_groups_come_in_pages(bench: Bench) -> None:
    for number in range(450):
        bench.edit.add_person(f"p{number}")
        bench.edit.add_member("crowd", f"p{number}")
    (crowd,) = await bench.open().fetch_groups(["crowd"])
    assert len(crowd.members) == 450


async def test_a_change_while_the_clock_is_set_back_is_not_lost(bench: Bench) -> None:
    bench.server.serving.zone = ZoneInfo("Europe/Berlin")
    source = bench.open(time_zone="Europe/Berlin", overlap_hours=1)
    bench.clock.moment = bench.clock.moment.replace(month=3, day=29, hour=0, minute=30)
    await bench.sync(source)
    for _ in range(4):
        bench.clock.forward(minutes=45)
        bench.edit.edit("2", f"<p>{bench.clock.moment.isoformat()}</p>")
        bench.clock.moment += timedelta(seconds=20)
        assert (await bench.sync(source)).ids(Upserted) == ["2"]
