"""The Confluence stand-in: searches, pages for people, and changes that are played in."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import Any
from zoneinfo import ZoneInfo

import aiohttp
import pytest

from core.clock import FixedClock
from core.errors import SettingsError
from playground.confluence.changes import OPERATIONS, apply_change
from playground.confluence.editor import WikiEditor
from playground.confluence.query import Item, QueryError, parse_query
from playground.confluence.server import ConfluenceServer, serve_confluence
from playground.confluence.wiki import Wiki, load_wiki

NOON = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


def item(**values: Any) -> Item:
    known = {"content_id": "1", "kind": "page", "space": "HR", "title": "A", "modified": NOON}
    return Item(**{**known, **values})


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ('space = "HR" and type = page', True),
        ("space in (FIN, OPS)", False),
        ('type in (page, blogpost) and (title = "A" or title = "B")', True),
        ('title = "say \\"A\\""', False),
        ("id in (1, 2)", True),
        ('lastmodified >= "2026-03-01 20:00"', True),
        ('lastmodified >= "2026-03-01 20:01" order by lastmodified desc', False),
    ],
)
def test_searches_find_what_they_say(query: str, is_found: bool) -> None:  # noqa: FBT001
    condition, _ = parse_query(query, SHANGHAI)
    assert condition(item()) is is_found


@pytest.mark.parametrize(
    "query",
    [
        "", "space =", "colour = red", "space = HR order by title", 'lastmodified >= "yesterday"',
        "space in (HR", "space = HR type = page", "lastmodified < 1", "title ~ a", "%",
    ],
)  # fmt: skip
def test_searches_that_are_none_are_refused(query: str) -> None:
    with pytest.raises(QueryError):
        parse_query(query, SHANGHAI)


def test_times_that_the_clock_leaves_out_are_refused() -> None:
    with pytest.raises(QueryError, match="does not exist"):
        parse_query('lastmodified >= "2026-03-29 02:30"', ZoneInfo("Europe/Berlin"))


@pytest.fixture
def wiki() -> Wiki:
    with as_file(files("playground") / "sample_company") as company:
        return load_wiki(company, FixedClock(NOON))


def test_a_folder_without_a_company_is_refused(tmp_path: Any) -> None:
    with pytest.raises(SettingsError, match="holds no company"):
        load_wiki(tmp_path)


def test_all_changes_of_the_sample_company_can_be_played(wiki: Wiki) -> None:
    with as_file(files("playground") / "sample_company") as company:
        played = json.loads((company / "changes_dev.json").read_text(encoding="utf-8"))["changes"]
    applied = [change["op"] for change in played if apply_change(wiki, change)]
    assert set(applied) <= OPERATIONS
    assert len(applied) >= 5


def test_changes_do_what_they_say(wiki: Wiki) -> None:
    page = next(one for one in wiki.pages.values() if one.status == "current" and one.parent_id)
    person = next(iter(wiki.people))
    values = {"status": "trashed", "restrictions": {"read": {"users": [person], "groups": []}}}
    payload = {"page_id": page.page_id, "set": {**values, "labels": ["new"], "title": "Other"}}
    assert apply_change(wiki, {"op": "confluence.update", "payload": payload})
    assert (page.status, page.readers) == ("trashed", {"users": [person], "groups": []})
    assert (page.labels, page.title) == (["new"], "Other")
    hide = {"space": page.space, "hidden_page_ids": [page.page_id], "visible_page_ids": []}
    assert apply_change(wiki, {"op": "confluence.visibility_loss", "payload": hide})
    assert page.page_id in wiki.hidden
    joining = {"group": "a new group", "user": person}
    assert apply_change(wiki, {"op": "group.add_member", "payload": joining})
    assert wiki.groups["a new group"] == [person]
    assert apply_change(wiki, {"op": "group.remove_member", "payload": joining})
    assert wiki.groups["a new group"] == []
    view = {"view": {"groups": [], "users": [person]}}
    opened = {"space": page.space, "permissions": view}
    assert apply_change(wiki, {"op": "space.permissions", "payload": opened})
    assert wiki.spaces[page.space].view == {"groups": [], "users": [person]}
    assert apply_change(wiki, {"op": "user.deactivate", "payload": {"user": person}})
    assert not wiki.people[person].is_active
    assert not apply_change(wiki, {"op": "notion.access", "payload": {}})
    with pytest.raises(SettingsError, match="'nope', which is not there"):
        apply_change(wiki, {"op": "confluence.update", "payload": {"page_id": "nope"}})


def test_a_removed_version_counts_down_those_after_it() -> None:
    edit = WikiEditor(Wiki(clock=FixedClock(NOON)))
    edit.add_person("ann")
    edit.add_space("HR", "People")
    page = edit.add_page("HR", "Home", "one", page_id="1", by="ann")
    edit.edit("1", "two")
    edit.edit("1", "three")
    remove = {"op": "confluence.remove_version", "payload": {"page_id": "1", "number": 2}}
    assert apply_change(edit.wiki, remove)
    assert [(one.number, one.body) for one in page.versions] == [(1, "one"), (2, "three")]
    with pytest.raises(SettingsError, match="2, which is not there"):
        apply_change(edit.wiki, remove)


@pytest.fixture
async def server() -> AsyncIterator[ConfluenceServer]:
    edit = WikiEditor(Wiki(clock=FixedClock(NOON)))
    edit.add_person("ann")
    edit.add_person("bo")
    edit.add_member("staff", "ann")
    edit.add_space("HR", "人事 People", groups=["staff"])
    edit.add_page("HR", "Home", "<p>Welcome</p>", page_id="1", by="ann")
    edit.add_page("HR", "Leave", "<p>25 <b>days</b></p>", page_id="2", parent="1")
    async with serve_confluence(edit.wiki) as served:
        yield served


async def test_pages_are_shown_as_a_person_sees_them(server: ConfluenceServer) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{server.base_url}/ui?as=ann") as reply:
            text = await reply.text()
        assert "Leave" in text
        assert "人事 People" in text
        async with session.get(f"{server.base_url}/ui?as=bo") as reply:
            assert "Leave" not in await reply.text()
        async with session.get(f"{server.base_url}/ui/pages/2?as=ann") as reply:
            assert "25 **days**" in await reply.text()
        async with session.get(f"{server.base_url}/ui/pages/2?as=bo") as reply:
            assert reply.status == 404
        async with session.get(f"{server.base_url}/ui/pages/9") as reply:
            assert reply.status == 404


async def test_pages_are_edited_moved_and_restricted_by_their_form(
    server: ConfluenceServer,
) -> None:
    form = {
        "title": "Holidays",
        "body": "<p>30 days</p>",
        "parent": "",
        "labels": "hr policy",
        "users": "bo",
        "groups": "",
        "status": "archived",
    }
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{server.base_url}/ui/pages/2", data=form) as reply:
            assert reply.status == 200
        async with session.post(f"{server.base_url}/ui/pages/2", data={"parent": "9"}) as reply:
            assert reply.status == 400
    page = server.wiki.pages["2"]
    assert (page.title, page.current.number, page.current.body) == ("Holidays", 2, "<p>30 days</p>")
    assert (page.parent_id, page.labels, page.status) == ("", ["hr", "policy"], "archived")
    assert page.readers == {"users": ["bo"], "groups": []}


async def test_calls_are_counted_and_refused_without_credentials(
    server: ConfluenceServer,
) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{server.base_url}/api/v2/pages/1") as reply:
            assert reply.status == 401
        async with session.get(f"{server.base_url}/nowhere") as reply:
            assert (reply.status, reply.content_type) in {
                (401, "application/json"),
                (404, "text/html"),
            }
    assert server.calls.by_kind["GET api/v2/pages"] == 1
    server.calls.reset()
    assert server.calls.total == 0
