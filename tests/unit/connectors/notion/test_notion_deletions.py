from tests.unit.connectors.notion.office import STAFF, Office


def build_wiki(office: Office, pages: int = 8) -> tuple[str, list[str]]:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    below = []
    for number in range(pages):
        page = office.editor.add_page(f"Page {number}", root)
        office.editor.add_text(page, f"words of page{number}")
        below.append(page)
    office.clock.forward(minutes=10)
    return root, below


async def test_a_trashed_page_leaves_with_the_next_run_and_comes_back_restored(
    office: Office,
) -> None:
    _, pages = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    office.editor.trash_page(pages[3])
    report = await office.sync()
    assert (report.removed, report.held) == (1, 0)
    assert not any("page3" in text for text in await office.texts("page3"))
    office.clock.forward(hours=1)
    office.editor.restore_page(pages[3])
    assert (await office.sync()).added == 1


async def test_a_page_that_is_not_found_any_more_leaves(office: Office) -> None:
    _, pages = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    office.editor.remove_page(pages[0])
    report = await office.sync()
    assert (report.removed, report.held) == (1, 0)


async def test_pages_below_a_trashed_one_leave_with_it(office: Office) -> None:
    _, pages = build_wiki(office)
    office.editor.add_text(office.editor.add_page("Deep", pages[0]), "far below")
    await office.sync()
    office.clock.forward(hours=1)
    office.editor.trash_page(pages[0])
    assert (await office.sync()).removed == 2


async def test_a_page_that_search_forgets_stays(office: Office) -> None:
    _, pages = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    office.workspace.unsearchable = set(pages)
    report = await office.sync()
    assert (report.removed, report.held, report.alarms) == (0, 0, [])
    assert len(await office.ids()) == 9


async def test_a_mass_disappearance_is_held_and_the_pages_go_on_answering(office: Office) -> None:
    root, pages = build_wiki(office)
    await office.sync()
    for _ in range(2):
        office.clock.forward(hours=1)
        office.workspace.hidden = {root, *pages}
        report = await office.sync()
        assert (report.removed, report.held) == (0, 9)
        assert any("accept-deletions" in alarm for alarm in report.alarms)
        assert await office.texts("page3")
    office.clock.forward(hours=25)
    assert (await office.sync()).held == 9
    office.workspace.hidden = set()
    report = await office.sync()
    assert (report.held, len(await office.ids())) == (0, 9)


async def test_a_mass_disappearance_is_believed_once_a_person_agrees(office: Office) -> None:
    _, pages = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    for page in pages:
        office.editor.trash_page(page)
    assert (await office.sync()).held == 8
    report = await office.sync(accept_deletions=True)
    assert (report.removed, len(await office.ids())) == (8, 1)


async def test_the_only_page_of_a_root_leaves_when_it_is_trashed(office: Office) -> None:
    build_wiki(office)
    alone = office.editor.add_page("Alone")
    office.grant(alone, STAFF)
    await office.sync()
    office.clock.forward(hours=1)
    office.editor.trash_page(alone)
    assert (await office.sync()).removed == 1
    assert alone not in await office.ids()


async def test_the_only_page_of_a_root_is_held_when_it_is_not_found(office: Office) -> None:
    build_wiki(office)
    alone = office.editor.add_page("Alone")
    office.grant(alone, STAFF)
    await office.sync()
    office.clock.forward(hours=1)
    office.workspace.hidden = {alone}
    report = await office.sync()
    assert (report.removed, report.held) == (0, 1)


async def test_a_full_listing_finds_what_is_gone(office: Office) -> None:
    _, pages = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=25)
    office.editor.trash_page(pages[2])
    report = await office.sync()
    assert (report.removed, report.held) == (1, 0)


async def test_mass_loss_of_rows_leaves_the_table_as_it_was(office: Office) -> None:
    root = office.editor.add_page("Hub")
    office.grant(root, STAFF)
    _, source = office.editor.add_database("Projects", root)
    rows = [office.editor.add_page(f"Row {number}", source) for number in range(6)]
    office.clock.forward(minutes=10)
    await office.sync()
    office.clock.forward(hours=25)
    office.workspace.hidden = set(rows)
    report = await office.sync()
    assert report.held == 6
    assert any("Row 3" in text for text in await office.texts("Row 3"))
