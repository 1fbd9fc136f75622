"""Replies in which something is missing: nothing opens, nothing is lost, nothing is emptied."""

import pytest

from core.errors import SettingsError
from knowledge.access import NOBODY, AccessRule
from tests.unit.connectors.confluence.conftest import Bench

ANY_REPLY = "/api/"
GHOST_IDS = [(r'"(accountId|userKey)": "acc:ghost", ', ""), (r'"username": "ghost", ', "")]
GHOST_LEAVES = [(r'"accountId": "acc:ghost"', '"accountId": null'), GHOST_IDS[0], GHOST_IDS[1]]
NO_LIST = [(r'"user": \{"results": \[\{[^]]*\][^}]*\}', '"_expandable": {"user": ""}')]
NULL_LIST = [(r'"user": \{"results": \[\{[^]]*\]', '"user": {"results": null')]


def restrict_to_ghost(bench: Bench) -> None:
    bench.edit.add_person("ghost")
    bench.edit.restrict("3", users=["ghost"])


@pytest.mark.parametrize("changes", [GHOST_IDS, GHOST_LEAVES, NO_LIST, NULL_LIST])
async def test_readers_that_the_reply_does_not_tell_open_no_page(
    bench: Bench, changes: list[tuple[str, str]]
) -> None:
    restrict_to_ghost(bench)
    bench.server.faults.rewrites = {ANY_REPLY: changes}
    run = await bench.sync(bench.open())
    open_to_staff = AccessRule.of(["group:wiki/staff"])
    assert run.documents["2"].access == open_to_staff
    for page in ("3", "4"):
        clauses = run.documents[page].access.clauses
        named = [clause for clause in clauses if clause not in open_to_staff.clauses]
        assert len(named) == 1
        assert all(one.startswith("account:") for one in named[0])


async def test_readers_that_vanish_from_the_replies_close_the_page(bench: Bench) -> None:
    restrict_to_ghost(bench)
    source = bench.open()
    await bench.sync(source)
    bench.server.faults.rewrites = {ANY_REPLY: NO_LIST}
    await bench.rights(source)
    assert bench.known[bench.documents["3"].document_id].access_id == NOBODY.access_id


@pytest.mark.parametrize("field", ["displayName", "message", "mediaType", "value"])
async def test_null_in_place_of_words_costs_at_most_the_page(bench: Bench, field: str) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.edit("2", "<p>30 days</p>")
    before = dict(bench.known)
    bench.server.faults.rewrites = {ANY_REPLY: [(rf'"{field}": "[^"]*"', f'"{field}": null')]}
    run = await bench.sync(source, afresh=True)
    assert (run.errors(), bench.known.keys()) == ([], before.keys())
    assert ("2" in run.failures) == (field == "value")


async def test_a_text_that_is_left_out_does_not_empty_the_page(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.edit("2", "<p>30 days</p>")
    bench.server.faults.rewrites = {ANY_REPLY: [(r'"body": \{"storage": .*?\}\}', '"body": {}')]}
    run = await bench.sync(source)
    assert "without its text" in run.failures["2"]
    assert "25 days" in bench.text("2")
    bench.server.faults.rewrites = {}
    await bench.sync(source)
    assert "30 days" in bench.text("2")


async def test_a_page_without_version_is_not_taken_for_deleted(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    held = bench.known.keys()
    version = r'("title": "Leave .*?)"version": \{[^{}]*(\{[^{}]*\}[^{}]*)?\}'
    bench.server.faults.rewrites = {ANY_REPLY: [(version, r'\1"version": null')]}
    run = await bench.sync(source, afresh=True)
    assert "without its version" in run.errors()[0]
    assert bench.known.keys() == held


async def test_an_empty_page_of_a_listing_is_not_its_end(bench: Bench) -> None:
    for number in range(130):
        bench.edit.add_page("HR", f"Page {number}", "<p>n</p>", page_id=str(5000 + number))
    if bench.server.flavour == "cloud":
        pytest.skip("Cloud goes on by cursor")
    first = r'(?s)^\{"results": \[.*\], "start": 0, (.*start=)\d+'
    bench.server.faults.rewrites = {
        "spaceKey=HR&type=page&status=current&limit=200": [
            (first, r'{"results": [], "start": 0, \g<1>100')
        ]
    }
    run = await bench.sync(bench.open())
    assert {"5100", "5129"} <= run.documents.keys()
    bench.server.faults.rewrites = {"spaceKey=HR": [(first, r'{"results": [], "start": 0, \g<1>0')]}
    run = await bench.sync(bench.open(), afresh=True)
    assert "goes on, but not where" in run.errors()[0]


async def test_members_of_groups_with_any_name_are_found(bench: Bench) -> None:
    names = ["C#-devs", "R&D / Ops", "50% team", "who?", "研发"]
    for name in names:
        bench.edit.add_member(name, "ann")
    groups = await bench.open().fetch_groups(names)
    assert [one.members for one in groups] == [frozenset({"ann"})] * len(names)


async def test_a_reply_nested_without_end_fails_its_call_alone(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    deep = "[" * 200_000
    bench.server.faults.rewrites = {"HR": [(r"(?s)^.*$", deep)], "91000": [(r"(?s)^.*$", deep)]}
    run = await bench.sync(source, afresh=True)
    assert "broken JSON" in run.errors()[0]
    bench.server.faults.rewrites = {ANY_REPLY: [(r"(?s)^.*$", "<html>Log in</html>")]}
    with pytest.raises(SettingsError, match="login form"):
        await bench.sync(source, afresh=True)
