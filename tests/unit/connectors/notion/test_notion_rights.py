import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.notion.access_file import (
    AccessFile,
    AccessFileError,
    load_access_file,
    parse_access_file,
)
from connectors.notion.round import implies
from knowledge.access import ALL_MEMBERS, EVERYBODY, NOBODY, AccessRule
from knowledge.people import Group
from knowledge.source import AccessChanged, Upserted
from tests.unit.connectors.notion.blocks_of import an_id
from tests.unit.connectors.notion.office import ANNA, ANNA_ONLY, BEN, STAFF, Office

ENTRIES = {
    "inherit": None,
    "staff": AccessRule.of(["group:company/staff"]),
    "anna": AccessRule.of(["user:anna"]),
    "nobody": NOBODY,
}
RAW = {
    "inherit": {"inherit": True, "users": [], "groups": []},
    "staff": {"inherit": False, "groups": ["group:company/staff"]},
    "anna": {"inherit": False, "users": ["anna"]},
    "nobody": {"inherit": False},
}
chains = st.lists(st.sampled_from(range(1, 9)), min_size=1, max_size=6, unique=True)
files = st.dictionaries(st.sampled_from(range(1, 9)), st.sampled_from(sorted(ENTRIES)))


@given(chain=chains, entries=files)
def test_the_nearest_entry_wins_and_replaces_and_none_admits_nobody(
    chain: list[int], entries: dict[int, str]
) -> None:
    text = json.dumps({"pages": {an_id(key): RAW[name] for key, name in entries.items()}})
    access = parse_access_file(text, None)
    expected = NOBODY
    for one in chain:
        entry = ENTRIES[entries[one]] if one in entries else None
        if entry is not None:
            expected = entry
            break
    assert access.find_rule([an_id(one) for one in chain]) == expected


@given(
    own=st.lists(st.sets(st.sampled_from("abc"), max_size=2), min_size=1, max_size=2),
    other=st.lists(st.sets(st.sampled_from("abc"), max_size=2), min_size=1, max_size=2),
    reader=st.sets(st.sampled_from("abc")),
)
def test_a_rule_implies_another_only_when_all_its_readers_satisfy_that(
    own: list[set[str]], other: list[set[str]], reader: set[str]
) -> None:
    first, second = AccessRule.of(*own), AccessRule.of(*other)
    principals = AccessRule.of(reader).clauses[0]
    if implies(first, second) and first.admits(principals):
        assert second.admits(principals)


def test_what_everybody_may_read_may_be_named_anywhere() -> None:
    assert implies(ALL_MEMBERS, EVERYBODY)
    assert not implies(EVERYBODY, ALL_MEMBERS)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ([], "must be an object"),
        ({"read": ["anna"]}, "unknown key 'read'"),
        ({"users": "anna"}, "users must be a list"),
        ({"users": [1]}, "users must be a list"),
        ({"inherit": "yes"}, "inherit must be true or false"),
        ({"inherit": True, "users": ["anna"]}, "an entry replaces, never adds"),
    ],
)
def test_an_entry_that_is_not_plain_admits_nobody(entry: object, reason: str) -> None:
    text = json.dumps({"pages": {an_id(1): entry, an_id(2): RAW["anna"]}})
    access = parse_access_file(text, None)
    assert access.find_rule([an_id(1), an_id(2)]) == NOBODY
    assert reason in access.failures[an_id(1)]
    assert access.find_rule([an_id(2)]) == ENTRIES["anna"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"pages": []}', '{"pages": {}, "pages": {}}', '{"pages": {"a": 1, "a": 2}}']
)
def test_a_file_that_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(AccessFileError):
        parse_access_file(text, None)


@pytest.mark.parametrize("path", [None, Path("/nowhere/access.json")])
def test_without_a_file_nobody_may_read(path: Path | None) -> None:
    access = load_access_file(path, None)
    assert access.find_rule([an_id(1)]) == NOBODY
    assert access.failures[""]


def test_the_same_page_under_two_spellings_admits_nobody() -> None:
    plain = an_id(1).replace("-", "")
    text = json.dumps({"pages": {an_id(1): RAW["anna"], plain: RAW["staff"]}})
    access = parse_access_file(text, None)
    assert access.find_rule([an_id(1)]) == NOBODY
    assert "twice" in access.failures[an_id(1)]


def test_an_entry_under_no_id_is_told() -> None:
    access = parse_access_file(json.dumps({"pages": {"wiki": RAW["anna"]}}), None)
    assert access == AccessFile(rules={}, failures=access.failures)
    assert "is no id of a Notion page" in access.failures["wiki"]


async def test_people_are_named_by_id_or_address_and_groups_by_id(office: Office) -> None:
    directory = await office.directory.load()
    entry = {"users": ["Anna@example.com", "ben", "stranger"], "groups": ["sales", "no-such"]}
    text = json.dumps({"pages": {an_id(1): entry}})
    rule = parse_access_file(text, directory).find_rule([an_id(1)])
    assert rule == AccessRule.of(["user:anna", "user:ben", "group:company/sales"])


async def test_groups_of_another_system_do_not_take_the_name_of_an_imported_one(
    office: Office,
) -> None:
    others = [
        Group(source=source, group_id=name, name=name, members=frozenset({ANNA}))
        for source, name in [("wiki", "sales"), ("wiki", "admins"), ("slack", "admins")]
    ]
    await office.directory.replace_groups(others, checked_at=office.clock.now())
    entries = {an_id(1): {"groups": ["sales"]}, an_id(2): {"groups": ["admins"]}}
    access = parse_access_file(json.dumps({"pages": entries}), await office.directory.load())
    assert access.find_rule([an_id(1)]) == AccessRule.of(["group:company/sales"])
    assert access.find_rule([an_id(2)]) == NOBODY


async def test_pages_are_read_by_those_the_nearest_entry_names(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.editor.add_text(root, "open words")
    secret = office.editor.add_page("Plan", root)
    office.editor.add_text(secret, "hidden words")
    below = office.editor.add_page("Detail", secret)
    office.editor.add_text(below, "deeper words")
    office.grant(root, STAFF)
    office.grant(secret, ANNA_ONLY)
    await office.sync()
    assert len(await office.read_as(ANNA, "words")) == 3
    assert await office.read_as(BEN, "words") == ["open words"]


async def test_a_title_is_not_told_to_those_who_may_not_read_its_page(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.editor.add_text(root, "see below")
    secret = office.editor.add_page("Takeover", root)
    below = office.editor.add_page("Canteen", secret)
    office.editor.add_text(below, "soup on Monday")
    office.grant(root, STAFF)
    office.grant(secret, ANNA_ONLY)
    office.grant(below, STAFF)
    await office.sync()
    assert not any("Takeover" in text for text in await office.read_as(BEN, "below Takeover"))
    record = await office.bench.parts.ledger.find_document(office.document_id(below))
    assert record
    assert record.breadcrumbs == ("Wiki",)


async def test_a_changed_entry_holds_with_the_next_run_and_reads_nothing(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.editor.add_text(root, "open words")
    office.grant(root, STAFF)
    office.clock.forward(minutes=10)
    await office.sync()
    office.clock.forward(hours=1)
    office.grant(root, ANNA_ONLY)
    report = await office.sync()
    assert await office.read_as(BEN, "words") == []
    assert await office.read_as(ANNA, "words") == ["open words"]
    assert (report.changed, office.calls) == (0, {"search": 1})


async def test_a_rights_run_asks_notion_for_nothing(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    child = office.editor.add_page("Plan", root)
    office.grant(root, STAFF)
    await office.sync()
    office.grant(child, ANNA_ONLY)
    source = office.open_source()
    office.server.calls.reset()
    known = await office.bench.parts.ledger.known_documents("notion")
    changes = [change async for change in source.discover_access(known)]
    rule = await source.fetch_access(known[office.document_id(child)])
    await source.close()
    assert office.server.calls.total == 0
    assert rule == ENTRIES["anna"]
    told = [one for one in changes if isinstance(one, AccessChanged)]
    assert [(one.document_id, one.rule) for one in told] == [(office.document_id(child), rule)]
    # Each shows the title of the other, which not all of its readers may see any more.
    again = {one.document_id for one in changes if isinstance(one, Upserted)}
    assert again == {office.document_id(root), office.document_id(child)}


@pytest.mark.parametrize("is_readable", [True, False])
async def test_a_rule_does_not_wait_for_text_that_is_owed(
    office: Office, *, is_readable: bool
) -> None:
    root = office.editor.add_page("Wiki")
    child = office.editor.add_page("Plan", root)
    office.editor.add_text(child, "secret words")
    office.grant(root, STAFF)
    await office.sync()
    await office.bench.parts.writer.owe_reading([office.document_id(child)])
    office.grant(root, ANNA_ONLY)
    if not is_readable:
        office.server.faults.fail_status = 400
        office.server.faults.fail_times = {"/pages/": -1}
    source = office.open_source()
    known = await office.bench.parts.ledger.known_documents("notion")
    changes = [change async for change in source.discover_access(known)]
    await source.close()
    told = {one.document_id: one.rule for one in changes if isinstance(one, AccessChanged)}
    # Where it lies can't be asked for: nobody may read it until it can.
    assert told[office.document_id(child)] == (ENTRIES["anna"] if is_readable else NOBODY)


async def test_a_broken_access_file_closes_everything_and_is_told(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.editor.add_text(root, "open words")
    office.grant(root, STAFF)
    await office.sync()
    office.access_file.write_text("{", encoding="utf-8")
    report = await office.sync()
    assert await office.read_as(ANNA, "words") == []
    assert "closes all pages to everybody" in report.failures["notion:access_file"]
    office.workspace.write_access(office.access_file)
    report = await office.sync()
    assert await office.read_as(ANNA, "words") == ["open words"]
    assert not report.failures


async def test_synced_text_is_read_by_those_who_may_read_both_pages(office: Office) -> None:
    source = office.editor.add_page("Source")
    original = office.editor.add_block(source, "synced_block", {"synced_from": None})
    shared = office.editor.add_text(original, "shared words")
    target = office.editor.add_page("Target")
    office.editor.add_text(target, "own words")
    copy = {"synced_from": {"type": "block_id", "block_id": original}}
    office.editor.add_block(target, "synced_block", copy)
    office.grant(source, ANNA_ONLY)
    office.grant(target, STAFF)
    office.clock.forward(minutes=10)
    await office.sync()
    assert await office.read_as(BEN, "words") == ["own words"]
    assert sorted(await office.read_as(ANNA, "words")) == [
        "own words",
        "shared words",
        "shared words",
    ]
    office.clock.forward(hours=1)
    office.grant(source, STAFF)
    await office.sync()
    assert "shared words" in await office.read_as(BEN, "words")
    office.clock.forward(hours=1)
    office.grant(source, ANNA_ONLY)
    await office.sync()
    assert await office.read_as(BEN, "words") == ["own words"]
    office.clock.forward(hours=1)
    office.editor.edit_text(shared, "newer words")
    await office.sync()
    assert sorted(await office.read_as(ANNA, "words")) == [
        "newer words",
        "newer words",
        "own words",
    ]


async def test_synced_text_of_a_page_that_is_not_shared_stays_out(office: Office) -> None:
    source = office.editor.add_page("Source")
    original = office.editor.add_block(source, "synced_block", {"synced_from": None})
    office.editor.add_text(original, "foreign words")
    target = office.editor.add_page("Target")
    office.editor.add_text(target, "own words")
    copy = {"synced_from": {"type": "block_id", "block_id": original}}
    office.editor.add_block(target, "synced_block", copy)
    office.workspace.hidden = {source}
    office.grant(target, STAFF)
    await office.sync()
    assert await office.texts("words") == ["own words"]
    record = await office.bench.parts.ledger.find_document(office.document_id(target))
    assert record
    assert record.notes == ("text synced from a page that is not shared with us",)
