import pytest

from playground.notion.editor import rich_text
from tests.unit.connectors.notion.office import ANNA, ANNA_ONLY, BEN, STAFF, Office

COLUMNS = {
    "预算 Budget": {
        "id": "b",
        "name": "预算 Budget",
        "type": "number",
        "number": {"format": "yuan"},
    },
    "Note": {"id": "n", "name": "Note", "type": "rich_text", "rich_text": {}},
}


def add_row(office: Office, source: str, title: str, budget: int, note: str = "") -> str:
    properties = {
        "预算 Budget": {"id": "b", "type": "number", "number": budget},
        "Note": {"id": "n", "type": "rich_text", "rich_text": rich_text(note)},
    }
    return office.editor.add_page(title, source, properties=properties)


def build_table(office: Office) -> dict[str, str]:
    root = office.editor.add_page("Hub")
    database, source = office.editor.add_database("Projects", root, COLUMNS)
    first = add_row(office, source, "Alpha", 1200000, "on track")
    office.editor.add_text(first, "the body of alpha")
    second = add_row(office, source, "Beta", 30, "late")
    office.grant(root, STAFF)
    office.clock.forward(minutes=10)
    return {"root": root, "database": database, "source": source, "first": first, "second": second}


@pytest.mark.parametrize("version", ["2022-06-28", "2025-09-03"])
async def test_rows_and_the_table_are_documents(office: Office, version: str) -> None:
    table = build_table(office)
    report = await office.sync(api_version=version)
    documents = {table[one] for one in ("root", "database", "first", "second")}
    assert await office.ids() == documents
    assert report.failures == {}
    texts = await office.texts("Alpha budget")
    assert any("| Alpha | CNY 1200000 | on track |" in text for text in texts)
    assert any("- 预算 Budget: CNY 1200000\n- Note: on track" in text for text in texts)
    row = await office.bench.parts.ledger.find_document(office.document_id(table["first"]))
    assert row
    assert row.breadcrumbs == ("Hub", "Projects")


@pytest.mark.parametrize("version", ["2022-06-28", "2025-09-03"])
async def test_a_changed_property_reaches_row_and_table(office: Office, version: str) -> None:
    table = build_table(office)
    await office.sync(api_version=version)
    office.clock.forward(hours=1)
    value = {"id": "n", "type": "rich_text", "rich_text": rich_text("postponed")}
    office.workspace.update_page(table["second"], {"properties": {"Note": value}})
    report = await office.sync(api_version=version)
    assert report.changed == 2
    assert sum(office.calls.values()) <= 8
    assert len([text for text in await office.texts("postponed") if "postponed" in text]) == 2


async def test_a_new_row_and_a_trashed_one_reach_the_table(office: Office) -> None:
    table = build_table(office)
    await office.sync()
    office.clock.forward(hours=1)
    gamma = add_row(office, table["source"], "Gamma", 7)
    office.editor.trash_page(table["second"])
    report = await office.sync()
    assert (report.added, report.removed) == (1, 1)
    assert gamma in await office.ids()
    rows = "\n".join(await office.texts("Alpha Gamma Budget"))
    assert "| Gamma |" in rows
    assert "Beta" not in rows


async def test_a_row_with_readers_of_its_own_is_not_shown_to_others(office: Office) -> None:
    table = build_table(office)
    office.grant(table["second"], ANNA_ONLY)
    await office.sync()
    assert not any("Beta" in text for text in await office.read_as(BEN, "Beta late Alpha"))
    assert any("| Beta |" in text for text in await office.read_as(ANNA, "Beta late"))


async def test_a_row_that_is_closed_leaves_the_table_at_once(office: Office) -> None:
    table = build_table(office)
    await office.sync()
    assert any("Beta" in text for text in await office.read_as(BEN, "Beta late"))
    office.clock.forward(hours=1)
    office.grant(table["second"], ANNA_ONLY)
    office.server.faults.fail_times = {"/databases/": -1}
    await office.sync()
    assert not any("Beta" in text for text in await office.read_as(BEN, "Beta late Alpha"))
    office.server.faults.fail_times = {}
    await office.sync()
    texts = await office.read_as(BEN, "Beta late Alpha")
    assert any("| Alpha |" in text for text in texts)
    assert not any("Beta" in text for text in texts)


async def test_several_data_sources_are_several_tables_of_one_page(office: Office) -> None:
    table = build_table(office)
    archive = office.editor.add_data_source("Archive", table["database"], COLUMNS)
    add_row(office, archive, "Omega", 5)
    await office.sync()
    texts = await office.texts("Omega Budget")
    assert any("| Omega |" in text for text in texts)
    record = await office.bench.parts.ledger.find_document(office.document_id(table["database"]))
    assert record
    assert record.title == "Projects"


async def test_several_data_sources_in_the_old_version_are_a_fault_of_that_page_alone(
    office: Office,
) -> None:
    table = build_table(office)
    office.editor.add_data_source("Archive", table["database"], COLUMNS)
    report = await office.sync(api_version="2022-06-28")
    assert "set api_version to 2025-09-03" in report.failures[f"notion:{table['database']}"]
    assert table["root"] in await office.ids()


async def test_rows_beyond_the_limit_of_a_query_are_read(office: Office) -> None:
    table = build_table(office)
    for number in range(10):
        office.clock.forward(minutes=1)
        add_row(office, table["source"], f"Row {number}", number)
    office.server.row_limit = 4
    await office.sync()
    assert len(await office.ids()) == 14


async def test_long_tables_are_cut_with_a_note_and_every_row_has_its_page(office: Office) -> None:
    table = build_table(office)
    await office.sync(max_table_rows=1)
    record = await office.bench.parts.ledger.find_document(office.document_id(table["database"]))
    assert record
    assert record.notes == (
        "the first 1 rows are in the table; each of the others has a page of its own",
    )
    assert table["second"] in await office.ids()


async def test_a_linked_view_of_a_database_is_no_fault(office: Office) -> None:
    table = build_table(office)
    view = office.editor.add_block(table["root"], "child_database", {"title": "View"})
    report = await office.sync()
    assert report.failures == {}
    assert report.alarms == []
    assert view not in await office.ids()


async def test_relations_of_more_than_25_pages_are_whole(office: Office) -> None:
    table = build_table(office)
    others = [add_row(office, table["source"], f"Part {number}", number) for number in range(30)]
    ids = [{"id": one} for one in others]
    value = {"id": "rel", "type": "relation", "relation": ids[:25], "~all": ids, "has_more": True}
    office.workspace.update_page(table["first"], {"properties": {"Parts": value}})
    office.clock.forward(minutes=10)
    await office.sync()
    assert any(
        "Part 29" in text and "Parts:" in text for text in await office.texts("Parts Part 29")
    )
