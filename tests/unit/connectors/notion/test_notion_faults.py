import asyncio
import random

import pytest

from core.errors import ServiceUnavailableError, SettingsError, TransientError
from tests.unit.connectors.notion.office import STAFF, Office


def build_wiki(office: Office, pages: int = 6) -> tuple[str, list[str]]:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    below = []
    for number in range(pages):
        page = office.editor.add_page(f"Page {number}", root)
        office.editor.add_text(page, f"words of page{number}")
        below.append(page)
    office.clock.forward(minutes=10)
    return root, below


async def test_a_wrong_token_is_told_with_a_remedy(office: Office) -> None:
    build_wiki(office)
    with pytest.raises(SettingsError, match="NOTION_TOKEN"):
        await office.sync(token="wrong")


def test_no_token_is_told_with_a_remedy(office: Office) -> None:
    with pytest.raises(SettingsError, match="has no token; set NOTION_TOKEN"):
        office.open_source(token="")


async def test_nothing_shared_is_a_fault_and_not_an_empty_success(office: Office) -> None:
    with pytest.raises(SettingsError, match="no page is shared with the integration"):
        await office.sync()


async def test_a_root_that_is_no_id_is_told(office: Office) -> None:
    with pytest.raises(SettingsError, match="'Wiki' is no id of a Notion page"):
        office.open_source(roots=["Wiki"])


async def test_being_told_to_wait_loses_nothing(office: Office) -> None:
    build_wiki(office)
    office.server.faults.rate_limit_every = 3
    report = await office.sync()
    assert (report.added, report.failures) == (7, {})


async def test_faults_of_the_service_are_asked_again(office: Office) -> None:
    build_wiki(office, 2)
    office.server.faults.fail_times = {"/blocks/": 1, "/search": 1}
    report = await office.sync()
    assert (report.added, report.failures) == (3, {})


async def test_one_page_that_cannot_be_read_is_recorded_and_the_rest_comes_in(
    office: Office,
) -> None:
    root, pages = build_wiki(office)
    office.server.faults.fail_status = 400
    office.server.faults.fail_times = {f"/blocks/{pages[2]}/": -1}
    report = await office.sync()
    assert list(report.failures) == [f"notion:{pages[2]}"]
    assert await office.ids() == {root, *pages} - {pages[2]}
    assert report.alarms
    office.server.faults.fail_times = {}
    office.clock.forward(hours=25)
    report = await office.sync()
    assert (report.added, report.failures) == (1, {})


async def test_a_listing_that_breaks_off_deletes_nothing(office: Office) -> None:
    root = office.editor.add_page("Hub")
    office.grant(root, STAFF)
    database, source = office.editor.add_database("Projects", root)
    for number in range(120):
        office.editor.add_page(f"Row {number}", source)
    office.clock.forward(minutes=10)
    await office.sync()
    before = await office.ids()
    office.clock.forward(hours=25)
    office.server.faults.fail_status = 400
    office.server.faults.cut_after = {"/data_sources/": 1}
    report = await office.sync()
    assert (report.removed, report.held) == (0, 0)
    assert any("failed" in alarm for alarm in report.alarms)
    assert f"notion:{database}" in report.failures
    assert await office.ids() == before


async def test_a_cursor_that_repeats_ends_the_run(office: Office) -> None:
    build_wiki(office)
    office.server.faults.repeats_cursor = True
    with pytest.raises(ServiceUnavailableError, match="same cursor twice"):
        await office.sync()


async def test_a_service_that_is_down_ends_the_run_and_the_next_one_resumes(
    office: Office,
) -> None:
    root, pages = build_wiki(office, 12)
    office.server.faults.fail_status = 409
    office.server.faults.fail_times = {f"/blocks/{page}/": -1 for page in pages[4:]}
    source = office.open_source()
    with pytest.raises(TransientError):
        await office.bench.sync(source)
    await source.close()
    office.server.faults.fail_times = {}
    report = await office.sync()
    assert await office.ids() == {root, *pages}
    assert report.removed == 0


async def test_a_run_that_is_cut_off_anywhere_is_resumed_without_loss(office: Office) -> None:
    root, pages = build_wiki(office, 8)
    deep = office.editor.add_page("Deep", pages[3])
    database, source_id = office.editor.add_database("Projects", pages[5])
    rows = [office.editor.add_page(f"Row {number}", source_id) for number in range(5)]
    office.clock.forward(minutes=10)
    expected = {root, *pages, deep, database, *rows}
    cuts = random.Random(7)
    for _ in range(6):
        source = office.open_source()
        run = asyncio.create_task(office.bench.sync(source))
        faults = office.server.faults
        faults.hang_after = cuts.randrange(2, 25)
        hung = asyncio.create_task(faults.hung.wait())
        await asyncio.wait({run, hung}, return_when=asyncio.FIRST_COMPLETED)
        run.cancel()
        hung.cancel()
        await asyncio.gather(run, hung, return_exceptions=True)
        await source.close()
        faults.hang_after = -1
        faults.hung.clear()
    report = await office.sync()
    assert await office.ids() == expected
    assert (report.removed, report.held, report.failures) == (0, 0, {})
