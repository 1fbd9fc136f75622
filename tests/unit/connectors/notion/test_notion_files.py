import json

from connectors.notion.reading import MAX_DEPTH
from knowledge.source import Cursor, Upserted
from tests.unit.connectors.notion.blocks_of import an_id, mention, span
from tests.unit.connectors.notion.office import STAFF, Office


def hosted(file_id: str) -> dict[str, object]:
    return {"type": "file", "file": {"id": file_id}, "caption": []}


async def test_the_text_of_a_hosted_file_is_read_and_its_address_is_not_kept(
    office: Office,
) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    file_id = office.editor.add_file("limits.csv", "站点,上限\n上海,42\n".encode())
    office.editor.add_block(root, "file", hosted(file_id))
    office.clock.forward(minutes=10)
    report = await office.sync()
    assert report.failures == {}
    assert any("| 上海 | 42 |" in text for text in await office.texts("上海"))
    known = await office.bench.parts.ledger.known_documents("notion")
    record = await office.bench.parts.ledger.find_document(office.document_id(root))
    stored = json.dumps([repr(known), repr(record), await office.texts("上海 limits")])
    assert "X-Amz" not in stored
    office.clock.forward(hours=25)
    assert (await office.sync()).changed == 0
    office.clock.forward(days=8)
    assert (await office.sync()).changed == 0


async def test_a_file_that_cannot_be_read_is_a_note_and_the_page_comes_in(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    office.editor.add_text(root, "words beside")
    office.editor.add_block(
        root, "file", hosted(office.editor.add_file("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
    )
    office.editor.add_block(
        root, "file", hosted(office.editor.add_file("big.txt", b"x" * 2_000_000))
    )
    report = await office.sync(max_file_mb=1)
    assert report.failures == {}
    record = await office.bench.parts.ledger.find_document(office.document_id(root))
    assert record
    assert len(record.notes) == 2
    assert any("words beside" in text for text in await office.texts("beside"))


async def test_files_elsewhere_are_named_and_never_fetched(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    outside = f"{office.server.base_url}/files/{an_id(1)}/plan.csv?X-Amz-Signature=1"
    body = {"type": "external", "external": {"url": outside}, "caption": [span("the plan")]}
    office.editor.add_block(root, "file", body)
    await office.sync()
    assert "file" not in office.calls
    assert await office.texts("plan") == ["[plan.csv: the plan]"]


async def test_files_are_left_alone_when_a_setting_says_so(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    file_id = office.editor.add_file("limits.csv", b"a,b\n1,2\n")
    office.editor.add_block(root, "file", hosted(file_id))
    await office.sync(files=False)
    assert "file" not in office.calls


async def test_comments_are_read_when_a_setting_says_so(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    office.editor.add_text(root, "body")
    office.workspace.users = [{"object": "user", "id": an_id(4), "name": "程麓", "type": "person"}]
    comment = {
        "object": "comment",
        "id": an_id(9),
        "created_time": "2026-03-02T09:00:00.000Z",
        "created_by": {"object": "user", "id": an_id(4)},
        "rich_text": [span("too hot")],
    }
    office.workspace.comments = {root: [comment]}
    await office.sync(comments=True)
    assert await office.texts("hot") == ["- 程麓, 2026-03-02: too hot"]


async def test_links_between_pages_are_kept_for_the_graph(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    other = office.editor.add_page("Other")
    office.grant(root, STAFF)
    office.grant(other, STAFF)
    spans = [
        span("see "),
        mention("Other", "page", {"id": other}),
        span("away", href=f"/{an_id(77).replace('-', '')}"),
    ]
    office.editor.add_block(root, "paragraph", {"rich_text": spans})
    known = {office.document_id(other): "Other"}
    source = office.open_source()
    changes = [change async for change in source.discover(Cursor(""), {})]
    documents = [await source.fetch(one) for one in changes if isinstance(one, Upserted)]
    await source.close()
    links = {one.target: one.text for document in documents for one in document.links}
    assert links == known


async def test_blocks_nested_very_deep_end_with_a_note(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    owner = root
    for number in range(MAX_DEPTH + 3):
        owner = office.editor.add_text(owner, f"level {number}", "bulleted_list_item")
    report = await office.sync()
    assert report.failures == {}
    record = await office.bench.parts.ledger.find_document(office.document_id(root))
    assert record
    assert record.notes == (f"blocks nested deeper than {MAX_DEPTH} levels are left out",)
