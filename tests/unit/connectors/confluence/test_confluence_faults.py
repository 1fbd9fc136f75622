import pytest

from core.errors import SettingsError
from knowledge.access import AccessRule
from knowledge.documents import DocumentId
from knowledge.source import AccessChanged, ScopeListed, Upserted
from tests.unit.connectors.confluence.conftest import Bench


def many_pages(bench: Bench, count: int = 260) -> None:
    for number in range(count):
        bench.edit.add_page("HR", f"Page {number}", f"<p>n{number}</p>", page_id=str(5000 + number))


async def test_a_space_of_many_pages_comes_whole_over_lowered_pages(bench: Bench) -> None:
    many_pages(bench)
    run = await bench.sync(bench.open())
    assert len(run.documents) == 265
    assert {bench.text(str(5000 + n)) for n in range(260)} == {f"n{n}" for n in range(260)}


@pytest.mark.parametrize("status", [429, 403])
async def test_every_fifth_call_told_to_wait_loses_nothing(bench: Bench, status: int) -> None:
    many_pages(bench, 120)
    bench.server.faults.limit_every = 5
    bench.server.faults.limit_status = status
    bench.server.faults.calm_retry_after = "0.01"
    run = await bench.sync(bench.open())
    assert (len(run.documents), run.failures, run.errors()) == (125, {}, [])


async def test_faults_of_the_server_lose_nothing(bench: Bench) -> None:
    many_pages(bench, 120)
    bench.server.faults.fail_every = 4
    run = await bench.sync(bench.open())
    assert (len(run.documents), run.failures, run.errors()) == (125, {}, [])


@pytest.mark.parametrize("cuts_connection", [False, True])
async def test_half_a_listing_deletes_nothing_and_is_taken_up_again(
    bench: Bench,
    cuts_connection: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    many_pages(bench, 240)
    source = bench.open()
    await bench.sync(source)
    held = dict(bench.known)
    bench.edit.restrict("5003", users=["ann"])
    bench.edit.edit("5", "<p>two million</p>")
    path = "/pages?" if bench.server.flavour == "cloud" else "/content?spaceKey=HR"
    bench.server.faults.cut_after = {path: 120}
    bench.server.faults.cuts_connection = cuts_connection
    run = await bench.sync(source, afresh=True)
    failed = [one.scope for one in run.changes if isinstance(one, ScopeListed) and one.error]
    assert failed == ["wiki/HR"]
    assert bench.text("5") == "two million"
    assert (await bench.rights(source)).errors()
    changed = {key for key, one in bench.known.items() if one != held[key]}
    assert (bench.known.keys(), changed) == (held.keys(), {"wiki:5"})
    bench.server.faults.cut_after = {}
    bench.edit.set_status("5001", "trashed")
    run = await bench.sync(source)
    assert [one.scope for one in run.changes if isinstance(one, ScopeListed)] == ["wiki/HR"]
    assert held.keys() - bench.known.keys() == {"wiki:5001"}
    assert bench.known[DocumentId("wiki:5003")] != held[DocumentId("wiki:5003")]


async def test_one_text_that_breaks_a_bulk_call_costs_only_itself(bench: Bench) -> None:
    many_pages(bench, 30)
    is_cloud = bench.server.flavour == "cloud"
    bench.server.faults.refuse = {"/api/v2/pages/5007"} if is_cloud else {"/content/5007"}
    if not is_cloud:
        bench.server.faults.fail_times["id+in"] = -1
    bench.wiki.hidden.clear()
    run = await bench.sync(bench.open())
    assert len(run.documents) + len(run.failures) == 35


async def test_rights_that_break_a_listing_are_read_page_by_page(bench: Bench) -> None:
    bench.server.faults.break_expanded_rights = True
    run = await bench.sync(bench.open())
    restricted = AccessRule.of(["group:wiki/staff"], ["user:ann", "group:wiki/finance"])
    if bench.server.flavour == "cloud":
        assert run.documents["3"].access == run.documents["4"].access == restricted
    assert len(run.documents) == 5


async def test_a_listing_that_never_ends_is_an_error(bench: Bench) -> None:
    if bench.server.flavour != "cloud":
        pytest.skip("only Cloud has cursors")
    many_pages(bench, 260)
    bench.server.faults.repeat_cursor = True
    run = await bench.sync(bench.open())
    assert any("same cursor twice" in one for one in run.errors())


async def test_a_login_page_in_the_middle_of_a_run_ends_it(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.server.faults.login_page = True
    with pytest.raises(SettingsError, match="login form"):
        await bench.sync(source, afresh=True)
    assert len(bench.known) == 5


async def test_a_rights_run_that_fails_changes_nothing(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.set_view("HR", users=["dan"])
    path = "/spaces/" if bench.server.flavour == "cloud" else "/content?spaceKey=HR"
    bench.server.faults.fail_times[path] = -1
    run = await bench.rights(source)
    assert not run.ids(AccessChanged)
    assert run.errors()


async def test_pages_hidden_in_masses_keep_their_rule(bench: Bench) -> None:
    many_pages(bench, 20)
    for number in range(20):
        bench.edit.move(str(5000 + number), "2")
    source = bench.open()
    await bench.sync(source)
    bench.wiki.hidden |= {"2", *(str(5000 + n) for n in range(15))}
    run = await bench.rights(source)
    assert not run.ids(AccessChanged)
    assert not run.ids(Upserted)


async def test_older_servers_say_permissions_another_way(bench: Bench) -> None:
    bench.server.serving.has_permissions = False
    run = await bench.sync(bench.open())
    assert run.documents["5"].access == AccessRule.of(["group:wiki/finance", "user:dan"])
