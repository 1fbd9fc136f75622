import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from core.errors import SettingsError
from playground.notion.changes import apply_change
from playground.notion.editor import rich_text
from playground.notion.server import PLAYGROUND_TOKEN, NotionServer, serve_notion
from playground.notion.workspace import Workspace

NEW, OLD = "2025-09-03", "2022-06-28"


@pytest.fixture
async def server() -> AsyncIterator[NotionServer]:
    async with serve_notion(Workspace()) as opened:
        yield opened


async def ask(
    server: NotionServer, method: str, path: str, *, version: str = NEW, **more: Any
) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {PLAYGROUND_TOKEN}", "Notion-Version": version}
    async with (
        aiohttp.ClientSession() as session,
        session.request(
            method, f"{server.base_url}/v1{path}", headers=headers | more.pop("headers", {}), **more
        ) as reply,
    ):
        return reply.status, await reply.json()


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": "Bearer other"}, 401, "unauthorized"),
        ({"Notion-Version": ""}, 400, "missing_version"),
        ({"Notion-Version": "2020-01-01"}, 400, "validation_error"),
    ],
)
async def test_calls_need_a_token_and_a_version(
    server: NotionServer, headers: dict[str, str], status: int, code: str
) -> None:
    found, reply = await ask(server, "GET", "/users/me", headers=headers)
    assert (found, reply["code"]) == (status, code)


async def test_what_is_not_shared_is_not_found(server: NotionServer) -> None:
    page = server.editor.add_page("Plan")
    assert (await ask(server, "GET", f"/pages/{page}"))[0] == 200
    server.workspace.hidden.add(page)
    for path in (f"/pages/{page}", f"/blocks/{page}/children"):
        status, reply = await ask(server, "GET", path)
        assert (status, reply["code"]) == (404, "object_not_found")


async def test_listings_come_in_pages_of_at_most_100(server: NotionServer) -> None:
    page = server.editor.add_page("Long")
    for number in range(130):
        server.editor.add_text(page, str(number))
    path = f"/blocks/{page}/children"
    status, reply = await ask(server, "GET", path, params={"page_size": 101})
    assert (status, reply["code"]) == (400, "validation_error")
    _, first = await ask(server, "GET", path)
    assert (len(first["results"]), first["has_more"]) == (100, True)
    _, rest = await ask(server, "GET", path, params={"start_cursor": first["next_cursor"]})
    assert (len(rest["results"]), rest["has_more"], rest["next_cursor"]) == (30, False, None)


async def test_times_are_rounded_down_to_the_minute(server: NotionServer) -> None:
    page = server.editor.add_page("Plan")
    server.workspace.update_page(page, {}, "2026-03-02T09:00:59.000Z")
    _, reply = await ask(server, "GET", f"/pages/{page}")
    assert reply["last_edited_time"] == "2026-03-02T09:00:00.000Z"


async def test_both_versions_show_a_database_in_their_own_form(server: NotionServer) -> None:
    root = server.editor.add_page("Hub")
    database, source = server.editor.add_database("Projects", root)
    row = server.editor.add_page("Alpha", source)
    _, new = await ask(server, "GET", f"/databases/{database}")
    _, old = await ask(server, "GET", f"/databases/{database}", version=OLD)
    assert [one["id"] for one in new["data_sources"]] == [source]
    assert "properties" not in new
    assert list(old["properties"]) == ["Name"]
    _, page = await ask(server, "GET", f"/pages/{row}", version=OLD)
    assert page["parent"] == {"type": "database_id", "database_id": database}
    status, reply = await ask(server, "POST", f"/data_sources/{source}/query", version=OLD, json={})
    assert (status, reply["code"]) == (400, "invalid_request_url")
    server.editor.add_data_source("More", database)
    status, reply = await ask(server, "GET", f"/databases/{database}", version=OLD)
    assert status == 400
    assert "multiple data sources are not supported" in reply["message"]


async def test_a_query_ends_at_its_limit_and_says_so(server: NotionServer) -> None:
    root = server.editor.add_page("Hub")
    _, source = server.editor.add_database("Projects", root)
    for number in range(5):
        server.editor.add_page(str(number), source)
    server.row_limit = 3
    _, reply = await ask(server, "POST", f"/data_sources/{source}/query", json={})
    assert len(reply["results"]) == 3
    assert reply["request_status"]["incomplete_reason"] == "query_result_limit_reached"


async def test_search_lags_lacks_pages_and_leaves_out_the_trash(server: NotionServer) -> None:
    pages = [server.editor.add_page(str(number)) for number in range(4)]
    server.workspace.unsearchable = {pages[0]}
    server.editor.trash_page(pages[1])
    server.workspace.search_lags = True
    late = server.editor.add_page("late")
    _, reply = await ask(server, "POST", "/search", json={})
    assert {one["id"] for one in reply["results"]} == {pages[2], pages[3]}
    server.workspace.catch_up_search()
    _, reply = await ask(server, "POST", "/search", json={})
    assert late in {one["id"] for one in reply["results"]}


async def test_faults_come_when_they_are_asked_for(server: NotionServer) -> None:
    server.faults.rate_limit_every = 2
    statuses = [(await ask(server, "GET", "/users/me"))[0] for _ in range(4)]
    assert statuses == [200, 429, 200, 429]
    server.faults.rate_limit_every = 0
    server.faults.fail_times = {"/users": 1}
    assert [(await ask(server, "GET", "/users/me"))[0] for _ in range(2)] == [502, 200]
    assert server.calls.by_kind["me"] + server.calls.by_kind["users"] == 6


async def test_changes_of_a_company_are_played(server: NotionServer, tmp_path: Path) -> None:
    workspace = server.workspace
    workspace.write_access(tmp_path / "access.json")
    page = server.editor.add_page("Plan")
    block = server.editor.add_text(page, "old")
    changed = {"id": block, "type": "paragraph", "paragraph": {"rich_text": rich_text("new")}}
    at = "2026-12-03T02:12:00.000Z"
    played = [
        {
            "op": "notion.update_block",
            "payload": {"page_id": page, "block": changed, "last_edited_time": at},
        },
        {"op": "notion.access", "payload": {"page_id": page, "access": {"inherit": True}}},
        {
            "op": "notion.update_page",
            "payload": {"page_id": page, "set": {"in_trash": True}, "last_edited_time": at},
        },
        {"op": "notion.visibility_loss", "payload": {"hidden_page_ids": [page]}},
    ]
    assert all(apply_change(workspace, one) for one in played)
    assert not apply_change(workspace, {"op": "group.add_member", "payload": {}})
    assert workspace.blocks[page] == [changed]
    assert workspace.objects[page]["last_edited_time"] == at
    written = json.loads((tmp_path / "access.json").read_text(encoding="utf-8"))
    assert written == {"pages": {page: {"inherit": True}}}
    assert workspace.find(page) is None
    with pytest.raises(SettingsError, match="'c9'"):
        apply_change(
            workspace,
            {"id": "c9", "op": "notion.update_page", "payload": {"page_id": "no", "set": {}}},
        )
    with pytest.raises(SettingsError, match="no change of Notion"):
        apply_change(workspace, {"op": "notion.odd", "payload": {}})


async def test_a_workspace_is_loaded_from_a_company_folder(tmp_path: Path) -> None:
    content = {
        "pages": [{"object": "page", "id": "p", "parent": {"type": "workspace"}, "properties": {}}]
    }
    (tmp_path / "notion.json").write_text(json.dumps(content), encoding="utf-8")
    workspace = Workspace.load(tmp_path)
    assert [one["id"] for one in workspace.searchable()] == ["p"]
    assert workspace.access == {}


async def test_people_look_at_pages_and_edit_them(server: NotionServer) -> None:
    page = server.editor.add_page("计划 Plan")
    block = server.editor.add_text(page, "<b>old</b>")
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{server.base_url}/page/{page}") as reply:
            html = await reply.text()
        assert "&lt;b&gt;old&lt;/b&gt;" in html
        assert "计划 Plan" in html
        key = html.split('name="key" value="')[1].split('"')[0]
        async with session.post(f"{server.base_url}/block/{block}", data={"text": "x"}) as reply:
            assert reply.status == 403
        for path, text in (
            (f"/block/{block}", "new"),
            (f"/page/{page}/title", "Plan B"),
            (f"/page/{page}/block", "added"),
            (f"/page/{page}/page", "Below"),
            (f"/page/{page}/trash", ""),
            (f"/page/{page}/restore", ""),
        ):
            async with session.post(
                server.base_url + path, data={"text": text, "key": key}
            ) as reply:
                assert reply.status == 200
        async with session.get(server.base_url) as reply:
            assert "Plan B" in await reply.text()
        async with session.get(f"{server.base_url}/page/none") as reply:
            assert reply.status == 404
    texts = [
        one["paragraph"]["rich_text"][0]["plain_text"] for one in server.workspace.blocks[page][:2]
    ]
    assert texts == ["new", "added"]
    assert not server.workspace.objects[page]["in_trash"]
