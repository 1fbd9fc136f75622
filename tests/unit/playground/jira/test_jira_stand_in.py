"""The stand-in for Jira is as strict as the real one, and its board shows what happens."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from playground.jira.board import Board, Project
from playground.jira.server import TOKEN, USER, JiraServer, serve_jira

ISSUE: dict[str, Any] = {
    "project": {"key": "IT"},
    "issuetype": {"name": "Task"},
    "summary": "打印机卡纸",
    "description": "三楼",
    "labels": ["one"],
}


def sign_in(token: str) -> dict[str, str]:
    return {"Authorization": aiohttp.encode_basic_auth(USER, token)}


@pytest.fixture
async def jira() -> AsyncIterator[JiraServer]:
    async with serve_jira(Board([Project(key="IT", name="IT desk")])) as server:
        yield server


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(headers=sign_in(TOKEN)) as opened:
        yield opened


async def create(
    jira: JiraServer, session: aiohttp.ClientSession, **changes: Any
) -> tuple[int, dict[str, Any]]:
    fields = {name: one for name, one in {**ISSUE, **changes}.items() if one is not None}
    url = f"{jira.base_url}/rest/api/2/issue"
    async with session.post(url, json={"fields": fields}) as reply:
        return reply.status, await reply.json()


async def search(jira: JiraServer, session: aiohttp.ClientSession, jql: str) -> Any:
    url = f"{jira.base_url}/rest/api/2/search/jql"
    async with session.get(url, params={"jql": jql, "fields": "summary"}) as reply:
        return reply.status, await reply.json()


async def test_an_issue_gets_the_next_number(
    jira: JiraServer, session: aiohttp.ClientSession
) -> None:
    for number in (1, 2):
        status, made = await create(jira, session)
        assert (status, made["key"]) == (201, f"IT-{number}")
    assert jira.board.issues["IT-2"].priority == "Medium"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"project": None}, "project"),
        ({"project": {"key": "NOPE"}}, "project"),
        ({"issuetype": None}, "issuetype"),
        ({"issuetype": {"name": "Epic"}}, "issuetype"),
        ({"summary": " "}, "summary"),
        ({"summary": "a\nb"}, "summary"),
        ({"summary": "x" * 256}, "summary"),
        ({"priority": {"name": "Now"}}, "priority"),
        ({"labels": ["two words"]}, "labels"),
        ({"labels": "one"}, "labels"),
        ({"description": {"type": "doc"}}, "description"),
        ({"assignee": {"name": "me"}}, "assignee"),
    ],
)
async def test_mistakes_are_told_by_field(
    jira: JiraServer, session: aiohttp.ClientSession, changes: dict[str, Any], field: str
) -> None:
    status, said = await create(jira, session, **changes)
    assert status == 400
    assert list(said["errors"]) == [field]
    assert said["errorMessages"] == []
    assert not jira.board.issues


async def test_several_mistakes_are_told_at_once(
    jira: JiraServer, session: aiohttp.ClientSession
) -> None:
    _, said = await create(jira, session, project=None, summary=None)
    assert set(said["errors"]) == {"project", "summary"}


async def test_strangers_learn_nothing(jira: JiraServer) -> None:
    async with aiohttp.ClientSession(headers=sign_in("wrong")) as stranger:
        status, said = await create(jira, stranger)
    assert (status, said["errors"]) == (401, {})


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_what_is_not_there_is_404(
    jira: JiraServer, session: aiohttp.ClientSession, method: str
) -> None:
    url = f"{jira.base_url}/rest/api/2/issue/IT-9/comment"
    async with session.request(method, url, json={"body": "x"}) as reply:
        assert reply.status == 404
        assert "does not exist" in (await reply.json())["errorMessages"][0]


async def test_searches_find_by_what_we_ask(
    jira: JiraServer, session: aiohttp.ClientSession
) -> None:
    await create(jira, session)
    for jql in (
        'labels = "one"',
        'project in ("IT") AND text ~ "打印机" ORDER BY updated DESC',
        'project in ("IT") AND key = "IT-1"',
        'status = "To Do"',
    ):
        status, found = await search(jira, session, jql)
        assert (status, [one["key"] for one in found["issues"]]) == (200, ["IT-1"]), jql
        assert found["issues"][0]["fields"] == {"summary": "打印机卡纸"}
    assert (await search(jira, session, 'labels = "a AND b"'))[1]["issues"] == []


@pytest.mark.parametrize(
    "jql", ["", "ORDER BY updated", "labels in (one)", 'project in ("NO")', 'key = "IT-9"', "x"]
)
async def test_other_searches_are_refused(
    jira: JiraServer, session: aiohttp.ClientSession, jql: str
) -> None:
    status, said = await search(jira, session, jql)
    assert (status, len(said["errorMessages"])) == (400, 1)


async def test_each_flavour_has_its_own_search_and_credentials() -> None:
    board = Board([Project(key="IT", name="IT")])
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        serve_jira(board, flavour="data_center") as jira,
        aiohttp.ClientSession(headers=headers) as session,
    ):
        assert (await create(jira, session))[0] == 201
        params = {"jql": 'labels = "one"'}
        base = f"{jira.base_url}/rest/api/2"
        async with session.get(f"{base}/search", params=params) as reply:
            assert (await reply.json())["total"] == 1
        async with session.get(f"{base}/search/jql", params=params) as reply:
            assert reply.status == 404


async def test_the_board_shows_what_happens_and_moves_it(
    jira: JiraServer, session: aiohttp.ClientSession
) -> None:
    await create(jira, session, summary="<b>卡纸</b>")
    async with aiohttp.ClientSession() as browser:
        async with browser.get(jira.page_url) as reply:
            text = await reply.text()
            assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        assert "&lt;b&gt;卡纸&lt;/b&gt;" in text
        assert '<meta http-equiv="refresh"' in text
        url = f"{jira.base_url}/browse/IT-1"
        async with browser.post(url, data={"status": "Done"}) as reply:
            assert "三楼" in await reply.text()
        assert jira.board.issues["IT-1"].status == "Done"
        headers = {"Origin": "http://evil.example"}
        async with browser.post(url, data={"status": "To Do"}, headers=headers) as reply:
            assert reply.status == 403
        async with browser.get(f"{jira.base_url}/rest/api/2/myself", headers=headers) as reply:
            assert reply.status == 403
    assert jira.board.issues["IT-1"].status == "Done"
