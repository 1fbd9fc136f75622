import pytest

from core.errors import SettingsError
from knowledge.documents import Status
from tests.unit.connectors.notion.office import STAFF, Office


def build_wiki(office: Office) -> dict[str, str]:
    """Make a root with two pages, one of them below the other, in a toggle."""
    root = office.editor.add_page("Wiki")
    office.editor.add_text(root, "welcome to everybody")
    guide = office.editor.add_page("Guide", root)
    office.editor.add_text(guide, "turn the blue key")
    toggle = office.editor.add_block(guide, "toggle", {"rich_text": []})
    detail = office.editor.add_page("Detail", toggle)
    office.editor.add_text(detail, "旋转三圈 then wait")
    office.grant(root, STAFF)
    office.clock.forward(minutes=10)
    return {"root": root, "guide": guide, "detail": detail}


@pytest.mark.parametrize("version", ["2022-06-28", "2025-09-03"])
async def test_a_workspace_is_read_whole(office: Office, version: str) -> None:
    wiki = build_wiki(office)
    report = await office.sync(api_version=version)
    assert await office.ids() == set(wiki.values())
    assert (report.added, report.failures, report.alarms) == (3, {}, [])
    assert await office.texts("旋转") == ["旋转三圈 then wait"]
    record = await office.bench.parts.ledger.find_document(office.document_id(wiki["detail"]))
    assert record is not None
    assert (record.title, record.breadcrumbs, record.space) == ("Detail", ("Wiki", "Guide"), "Wiki")
    assert (record.scope, record.status) == (wiki["root"], Status.CURRENT)
    assert record.url.startswith("https://www.notion.so/")


async def test_a_run_without_changes_asks_once(office: Office) -> None:
    build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    await office.sync()
    report = await office.sync()
    assert office.calls == {"search": 1}
    assert report.changed == 0


async def test_an_edited_page_costs_few_calls(office: Office) -> None:
    wiki = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    block = office.editor.add_text(wiki["root"], "the red key")
    office.clock.forward(minutes=5)
    assert (await office.sync()).changed == 1
    assert sum(office.calls.values()) <= 5
    assert (await office.texts("red key"))[0].endswith("the red key")
    office.clock.forward(hours=1)
    office.editor.edit_text(block, "the green key")
    await office.sync()
    assert not [text for text in await office.texts("red") if "red" in text]


async def test_a_second_edit_in_the_same_minute_is_not_missed(office: Office) -> None:
    wiki = build_wiki(office)
    block = office.editor.add_text(wiki["guide"], "valve is open")
    await office.sync()
    office.clock.forward(seconds=10)
    office.editor.edit_text(block, "valve is closed")
    office.clock.forward(seconds=10)
    await office.sync()
    assert any("closed" in text for text in await office.texts("valve"))


async def test_a_page_that_search_never_finds_is_read(office: Office) -> None:
    wiki = build_wiki(office)
    office.workspace.unsearchable = {wiki["guide"], wiki["detail"]}
    await office.sync()
    assert await office.ids() == set(wiki.values())
    office.clock.forward(hours=1)
    office.editor.add_text(wiki["guide"], "quite new words")
    await office.sync()
    assert any("quite new" in text for text in await office.texts("quite new words"))


async def test_a_new_page_below_an_edited_one_is_read_before_search_knows_it(
    office: Office,
) -> None:
    wiki = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    fresh = office.editor.add_page("Fresh", wiki["guide"])
    office.editor.add_text(fresh, "unheard of")
    office.workspace.unsearchable = {fresh}
    await office.sync()
    assert fresh in await office.ids()


async def test_what_search_learns_late_comes_with_a_later_run(office: Office) -> None:
    wiki = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    office.workspace.search_lags = True
    office.editor.add_text(wiki["guide"], "late words")
    await office.sync()
    office.clock.forward(minutes=10)
    office.workspace.catch_up_search()
    await office.sync()
    assert any("late words" in text for text in await office.texts("late words"))


async def test_a_moved_page_keeps_its_document_and_so_do_those_below_it(office: Office) -> None:
    wiki = build_wiki(office)
    other = office.editor.add_page("Other")
    office.grant(other, STAFF)
    await office.sync()
    before = await office.bench.parts.ledger.find_document(office.document_id(wiki["detail"]))
    office.clock.forward(hours=1)
    office.editor.move_page(wiki["guide"], other)
    report = await office.sync()
    assert (report.added, report.removed) == (0, 0)
    record = await office.bench.parts.ledger.find_document(office.document_id(wiki["detail"]))
    assert before
    assert record
    assert record.breadcrumbs == ("Other", "Guide")
    assert (before.scope, record.scope) == (wiki["root"], other)


async def test_a_renamed_page_is_named_anew_where_it_is_mentioned(office: Office) -> None:
    wiki = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=1)
    office.editor.rename_page(wiki["guide"], "Manual")
    await office.sync()
    assert any("Manual" in text for text in await office.texts("welcome Manual"))
    assert not any("Guide" in text for text in await office.texts("welcome Guide"))


async def test_only_the_chosen_roots_are_read(office: Office) -> None:
    wiki = build_wiki(office)
    other = office.editor.add_page("Other")
    office.grant(other, STAFF)
    await office.sync(roots=[wiki["guide"].replace("-", "")])
    assert await office.ids() == {wiki["guide"], wiki["detail"]}


async def test_a_root_that_is_not_shared_is_told_with_a_remedy(office: Office) -> None:
    wiki = build_wiki(office)
    office.workspace.hidden = {wiki["guide"]}
    with pytest.raises(SettingsError, match=r"not shared with the integration.*Connections"):
        await office.sync(roots=[wiki["guide"]])


async def test_an_empty_title_is_no_fault(office: Office) -> None:
    root = office.editor.add_page("")
    office.editor.add_text(root, "body of it")
    office.grant(root, STAFF)
    await office.sync()
    record = await office.bench.parts.ledger.find_document(office.document_id(root))
    assert record
    assert record.title == "Untitled"


async def test_everything_is_listed_again_when_it_is_due(office: Office) -> None:
    wiki = build_wiki(office)
    await office.sync()
    office.clock.forward(hours=25)
    report = await office.sync()
    assert report.unchanged == 3
    assert "children" not in office.calls
    office.clock.forward(days=8)
    report = await office.sync()
    assert (report.unchanged, report.changed) == (3, 0)
    assert office.calls["children"] >= len(wiki)


@pytest.mark.parametrize(("keeps", "versions"), [(True, [1, 2]), (False, [2])])
async def test_history_is_kept_only_when_a_setting_says_so(
    office: Office, *, keeps: bool, versions: list[int]
) -> None:
    wiki = build_wiki(office)
    block = office.editor.add_text(wiki["guide"], "limit is nine")
    await office.sync(keep_history=keeps)
    asked_at = office.clock.now()
    office.clock.forward(hours=1)
    office.editor.edit_text(block, "limit is ten")
    await office.sync(keep_history=keeps)
    known = await office.bench.parts.ledger.load_versions(office.document_id(wiki["guide"]))
    assert [one.number for one in known] == versions
    past = await office.bench.texts("limit", as_of=asked_at)
    assert any("nine" in text for text in past) is keeps


async def test_head_tells_in_one_call_whether_a_page_is_as_it_was(office: Office) -> None:
    wiki = build_wiki(office)
    await office.sync()
    known = await office.bench.parts.ledger.known_documents("notion")
    guide = known[office.document_id(wiki["guide"])]
    source = office.open_source()
    office.server.calls.reset()
    assert (await source.head(guide)).token == guide.token
    assert office.server.calls.total == 1
    office.clock.forward(hours=1)
    office.editor.add_text(wiki["guide"], "more")
    assert (await source.head(guide)).token != guide.token
    await source.close()
