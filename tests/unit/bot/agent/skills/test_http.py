import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from bot.agent.actions import ActionState
from core.errors import PermanentError, RefusedError, ToolFailedError, ToolRetryError
from tests.fakes.http_server import Answer, FakeService, data, open_service, page, status
from tests.unit.bot.agent.skills.bench import ANN, BEN, GUEST, SkillBench, call_as, open_bench

LOOKUP = """
    name: stock_of
    kind: http
    description: Says how much of a part is in stock.
    title: {{zh: 库存, en: Stock}}
    url: {base}/parts/{{part}}/stock
    headers: {{Authorization: "Bearer ${{ERP_TOKEN}}"}}
    query: {{site: "{{site}}", limit: "20"}}
    select: data.items
    fields: {{part: name, left: stock.count}}
    timeout_s: 1
    max_reply_kb: 10
    parameters:
      part: {{description: The part's number, required: true}}
      site: {{description: Which site}}
"""
ORDER = """
    name: order_part
    kind: http
    method: POST
    description: Orders a part for a site.
    title: {{zh: 订购, en: Order}}
    url: {base}/sites/{{site}}/orders
    headers: {{X-Key: "${{ERP_TOKEN}}"}}
    body: {{part: "{{part}}", count: "{{count}}", note: "for {{site}}", tags: [auto]}}
    fields: {{number: order.number}}
    timeout_s: 0.5
    parameters:
      site: {{description: Which site, required: true}}
      part: {{description: The part, required: true}}
      count: {{type: integer, description: How many, default: 1}}
"""
ITEMS = {"data": {"items": [{"name": "P|1", "stock": {"count": 3}}, {"name": "P2"}]}}
SECRET = "very-secret-token"


@asynccontextmanager
async def open_shop(
    home: Path, *answers: Answer, private: bool = True
) -> AsyncIterator[tuple[SkillBench, FakeService]]:
    """Serve a shop on loopback, and list its host."""
    async with open_service(*answers) as service:
        host = service.base_url.removeprefix("http://")
        settings = f"""
            [skills]
            {"private_hosts" if private else "hosts"} = ["{host}"]
            secret_variables = ["ERP_TOKEN"]
        """
        async with open_bench(home, settings, {"ERP_TOKEN": SECRET}) as bench:
            yield bench, service


async def test_a_get_is_asked_as_the_file_says_and_read_by_its_paths(tmp_path: Path) -> None:
    async with open_shop(tmp_path, data(ITEMS)) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        found = await tool.run({"part": "零件 1/2", "site": "杭州 & 上海"}, call_as(ANN))
    [request] = service.requests
    assert request.raw_path.startswith("/parts/%E9%9B%B6%E4%BB%B6%201%2F2/stock?")
    assert dict(request.query) == {"site": "杭州 & 上海", "limit": "20"}
    assert request.headers["Authorization"] == f"Bearer {SECRET}"
    assert found.rows == ({"part": "P|1", "left": 3}, {"part": "P2", "left": None})
    assert "| P\\|1 | 3 |" in found.text


async def test_what_was_not_given_is_not_asked_for(tmp_path: Path) -> None:
    async with open_shop(tmp_path, data(ITEMS)) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        await tool.run({"part": "P1"}, call_as(ANN))
    assert dict(service.requests[0].query) == {"limit": "20"}


@pytest.mark.parametrize(
    "part",
    ["..", ".", "../../admin", "a/../b", "..\\..", "%2e%2e", "%2e%2e%2fadmin", "%252e%252e", " ",
     "x/", "/etc"],
)  # fmt: skip
async def test_a_value_can_not_lead_to_another_place(tmp_path: Path, part: str) -> None:
    async with open_shop(tmp_path, data(ITEMS)) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        with pytest.raises(ToolRetryError):
            await tool.run({"part": part}, call_as(ANN))
    assert not service.requests


@pytest.mark.parametrize("part", ["a?b=c", "a#b", "a&limit=1", "@evil.example", "a;b", "\u202e"])
async def test_signs_of_addresses_stay_part_of_the_value(tmp_path: Path, part: str) -> None:
    async with open_shop(tmp_path, data(ITEMS)) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        await tool.run({"part": part}, call_as(ANN))
    [request] = service.requests
    assert request.path == f"/parts/{part}/stock"
    assert dict(request.query) == {"limit": "20"}


async def slow(_: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


async def drip(request: web.Request) -> web.StreamResponse:
    """Send a little now and then, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


async def cut(request: web.Request) -> web.StreamResponse:
    """Take the request and hang up."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (status(302, Location="http://169.254.169.254/latest/"), "leads elsewhere"),
        (status(307, Location="/elsewhere"), "leads elsewhere"),
        (data({"data": "x" * 20_000}), "more than 10 kB"),
        (page(), "is not JSON"),
        (status(200, '{"broken": '), "is not JSON"),
        (status(200, "[" * 100_000), "more than 10 kB"),
        (status(200, "[" * 9_000), "is not JSON"),
        (status(500, f"trace with {SECRET}"), "answered 500"),
        (status(403), "answered 403"),
        (slow, "within 1 s"),
        (drip, "within 1 s"),
        (cut, "broke"),
    ],
)
async def test_what_the_service_does_wrong_is_told(
    tmp_path: Path, answer: Answer, said: str
) -> None:
    async with open_shop(tmp_path, answer) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        with pytest.raises(ToolFailedError, match=said) as caught:
            await tool.run({"part": "P1"}, call_as(ANN))
    assert len(service.requests) == 1
    assert SECRET not in str(caught.value)


async def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    async with open_shop(tmp_path, status(404)) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        assert not (await tool.run({"part": "P1"}, call_as(ANN))).has_found


async def test_a_secret_the_service_repeats_is_hidden(tmp_path: Path) -> None:
    echo = data({"data": {"items": [{"name": f"Bearer {SECRET}"}]}})
    async with open_shop(tmp_path, echo) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        found = await tool.run({"part": "P1"}, call_as(ANN))
    assert "[…]" in found.text
    assert SECRET not in found.text + json.dumps(found.rows)


async def test_who_asks_is_bound_by_code_and_the_result_is_theirs(tmp_path: Path) -> None:
    text = """
        name: my_leave
        kind: http
        description: Says how much leave the asker has left.
        title: {{en: Leave}}
        url: {base}/people/{{asker}}/leave
        query: {{day: "{{today}}"}}
    """
    async with open_shop(tmp_path, data({"days": 4})) as (bench, service):
        tool = await bench.load_tool(text.format(base=service.base_url))
        found = await tool.run({}, call_as(ANN, BEN))
        with pytest.raises(ToolRetryError):
            await tool.run({"asker": BEN}, call_as(ANN))
        with pytest.raises(RefusedError):
            await tool.run({}, call_as(None, is_operator=True))
    assert [one.path_qs for one in service.requests] == [f"/people/{ANN}/leave?day=2026-10-15"]
    assert found.is_for_asker_alone
    assert found.text == "- days: 4"


async def test_a_skill_is_not_for_everybody(tmp_path: Path) -> None:
    async with open_shop(tmp_path, data(ITEMS)) as (bench, service):
        tool = await bench.load_tool(LOOKUP.format(base=service.base_url))
        with pytest.raises(RefusedError):
            await tool.run({"part": "P1"}, call_as(GUEST))
    assert not service.requests


async def test_a_post_sends_json_once_confirmed_with_its_key(tmp_path: Path) -> None:
    async with open_shop(tmp_path, data({"order": {"number": "O-7"}})) as (bench, service):
        action = await bench.load_action(ORDER.format(base=service.base_url))
        values = action.normalise({"site": "杭州", "part": "P1"})
        assert not service.requests
        result = await action.run(values, idempotency_key="key-1")
    assert values == {"site": "杭州", "part": "P1", "count": 1}
    assert (result.state, result.text) == (ActionState.DONE, "- number: O-7")
    [request], [body] = service.requests, service.bodies
    assert request.method == "POST"
    assert (request.headers["Idempotency-Key"], request.headers["X-Key"]) == ("key-1", SECRET)
    assert json.loads(body) == {"part": "P1", "count": 1, "note": "for 杭州", "tags": ["auto"]}


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (status(201), ActionState.DONE),
        (status(400, f"bad {SECRET}"), ActionState.FAILED),
        (status(401), ActionState.FAILED),
        (status(429), ActionState.FAILED),
        (status(409), ActionState.UNKNOWN),
        (status(500), ActionState.UNKNOWN),
        (status(302, Location="/x"), ActionState.UNKNOWN),
        (slow, ActionState.UNKNOWN),
        (cut, ActionState.UNKNOWN),
    ],
)
async def test_what_became_of_a_write_is_told_truly(
    tmp_path: Path, answer: Answer, state: ActionState
) -> None:
    async with open_shop(tmp_path, answer) as (bench, service):
        action = await bench.load_action(ORDER.format(base=service.base_url))
        values = action.normalise({"site": "A", "part": "P1"})
        result = await action.run(values, idempotency_key="key-1")
    assert result.state is state
    assert SECRET not in result.text
    assert len(service.requests) == 1


async def test_a_service_that_is_not_there_was_asked_nothing(tmp_path: Path) -> None:
    settings = '[skills]\nprivate_hosts = ["127.0.0.1:1"]\nsecret_variables = ["ERP_TOKEN"]\n'
    async with open_bench(tmp_path, settings, {"ERP_TOKEN": SECRET}) as bench:
        action = await bench.load_action(ORDER.format(base="http://127.0.0.1:1"))
        values = action.normalise({"site": "A", "part": "P1"})
        result = await action.run(values, idempotency_key="key-1")
    assert result.state is ActionState.FAILED
    assert "can't be reached" in result.text


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_no_method_is_sent_twice_by_itself(tmp_path: Path, method: str) -> None:
    text = ORDER.replace("POST", method)
    async with open_shop(tmp_path, status(200), cut) as (bench, service):
        action = await bench.load_action(text.format(base=service.base_url))
        values = action.normalise({"site": "A", "part": "P1"})
        first = await action.run(values, idempotency_key="key-1")
        # The connection that was kept breaks now.
        second = await action.run(values, idempotency_key="key-2")
    assert (first.state, second.state) == (ActionState.DONE, ActionState.UNKNOWN)
    assert len(service.requests) == 2


async def test_only_what_is_idempotent_is_tried_again(tmp_path: Path) -> None:
    text = ORDER.rstrip() + "\n    idempotent: true\n"
    async with open_shop(tmp_path, cut, data({"order": {"number": "O-8"}})) as (bench, service):
        action = await bench.load_action(text.format(base=service.base_url))
        values = action.normalise({"site": "A", "part": "P1"})
        result = await action.run(values, idempotency_key="key-1")
    assert result.state is ActionState.DONE
    assert [one.headers["Idempotency-Key"] for one in service.requests] == ["key-1", "key-1"]


async def test_a_value_that_leads_away_is_refused_before_there_is_a_draft(tmp_path: Path) -> None:
    async with open_shop(tmp_path, data({})) as (bench, service):
        action = await bench.load_action(ORDER.format(base=service.base_url))
        with pytest.raises(PermanentError, match="can't stand in an address"):
            action.normalise({"site": "..", "part": "P1"})
        with pytest.raises(PermanentError):
            action.normalise({"site": "A", "part": "P1", "more": "x"})


async def test_our_own_network_is_closed_unless_it_is_listed_as_such(tmp_path: Path) -> None:
    async with open_shop(tmp_path, data(ITEMS), private=False) as (bench, service):
        told = await bench.load_problem(LOOKUP.format(base=service.base_url))
    assert "lies in a private network; list it under skills.private_hosts" in told
    assert not service.requests
