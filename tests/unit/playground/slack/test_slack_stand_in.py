"""The Slack stand-in: refuses like Slack, delivers like Slack, through Slack's own client."""

from collections.abc import AsyncIterator
from importlib.resources import as_file, files
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import APP_TOKEN, BOT_TOKEN, SlackServer, serve_slack
from playground.slack.workspace import BOT_USER_ID, Member, Room, UserGroup, Workspace

MARKDOWN = {"type": "markdown", "text": "hello"}
TEXT = {"type": "plain_text", "text": "ok"}


def build_workspace() -> Workspace:
    workspace = Workspace()
    workspace.add_member(Member(user_id="U1", name="ann", real_name="Ann", email="ann@a.example"))
    workspace.add_member(Member(user_id="U2", name="bo", real_name="Bo"))
    workspace.add_room(
        Room(channel_id="C1", name="all", kind="channel", members=["U1", BOT_USER_ID])
    )
    workspace.add_room(Room(channel_id="G1", name="closed", kind="group", members=["U1"]))
    workspace.groups["S1"] = UserGroup(group_id="S1", handle="oncall", users=["U1"])
    return workspace


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with serve_slack(build_workspace()) as server:
        yield server


@pytest.fixture
def client(slack: SlackServer) -> AsyncWebClient:
    return AsyncWebClient(BOT_TOKEN, base_url=slack.api_url)


async def refusal(client: AsyncWebClient, method: str, **arguments: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        await client.api_call(method, json=arguments)
    return str(caught.value.response["error"])


async def test_the_sample_companys_channels_and_people_are_there() -> None:
    with as_file(files("playground") / "sample_company") as folder:
        async with serve_slack(folder) as server:
            client = AsyncWebClient(BOT_TOKEN, base_url=server.api_url)
            channels = await client.conversations_list(types="public_channel,private_channel")
            assert {one["name"] for one in channels["channels"]} >= {"square", "ops"}
            users = await client.users_list(limit=200)
            assert any(one["is_restricted"] for one in users["members"])


@pytest.mark.parametrize(
    ("method", "arguments", "code"),
    [
        ("chat.postMessage", {"channel": "C1"}, "no_text"),
        ("chat.postMessage", {"text": "a"}, "invalid_arguments"),
        ("chat.postMessage", {"channel": "G1", "text": "a"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "C1", "text": "a", "thread_ts": "1"}, "thread_not_found"),
        ("chat.postMessage", {"channel": "C1", "text": "a", "metadata": {}}, ""),
        (
            "chat.postMessage",
            {"channel": "C1", "text": "a", "metadata": {"event_type": "x"}},
            "invalid_metadata_format",
        ),
        ("chat.postMessage", {"channel": "C1", "blocks": [MARKDOWN] * 51}, "invalid_blocks"),
        (
            "chat.postMessage",
            {"channel": "C1", "blocks": [{"type": "markdown", "text": "a" * 12001}]},
            "invalid_blocks",
        ),
        (
            "chat.postMessage",
            {"channel": "C1", "blocks": [{"type": "header", "text": {**TEXT, "text": "a" * 151}}]},
            "invalid_blocks",
        ),
        ("chat.postMessage", {"channel": "C1", "blocks": [{**MARKDOWN, "x": 1}]}, "invalid_blocks"),
        ("chat.postMessage", {"channel": "C1", "markdown_text": "a", "text": "a"},
         "markdown_text_conflict"),
        ("chat.update", {"channel": "C1", "ts": "1.1", "text": "a"}, "message_not_found"),
        ("chat.postEphemeral", {"channel": "C1", "user": "U2", "text": "a"}, "user_not_in_channel"),
        ("chat.dance", {}, "unknown_method"),
        ("conversations.info", {"channel": "C9"}, "channel_not_found"),
        ("conversations.open", {"users": "U9"}, "user_not_found"),
        ("users.info", {"user": "U9"}, "user_not_found"),
        ("users.lookupByEmail", {"email": "x@a.example"}, "users_not_found"),
        ("usergroups.users.list", {"usergroup": "S9"}, "no_such_subteam"),
        ("views.open", {"trigger_id": "1", "view": {"type": "modal", "title": TEXT, "blocks": []}},
         "invalid_trigger_id"),
        ("apps.connections.open", {}, "not_allowed_token_type"),
        ("conversations.list", {"types": "rooms"}, "invalid_types"),
    ],
)  # fmt: skip
async def test_what_slack_refuses_is_refused_with_its_code(
    client: AsyncWebClient, method: str, arguments: dict[str, Any], code: str
) -> None:
    if code:
        assert await refusal(client, method, **arguments) == code
    else:
        assert (await client.api_call(method, json=arguments))["ok"]


async def test_tokens_and_scopes_are_checked(slack: SlackServer, client: AsyncWebClient) -> None:
    assert await refusal(AsyncWebClient(base_url=slack.api_url), "auth.test") == "not_authed"
    wrong = AsyncWebClient("xoxb-wrong", base_url=slack.api_url)
    assert await refusal(wrong, "auth.test") == "invalid_auth"
    slack.scopes.discard("users:read")
    assert await refusal(client, "users.info", user="U1") == "missing_scope"


async def test_a_message_is_posted_changed_found_by_metadata_and_deleted(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    metadata = {"event_type": "zhixing", "event_payload": {"id": "q1"}}
    root = slack.people.say("ann", "all", "hello")
    posted = await client.chat_postMessage(
        channel="C1", thread_ts=root.ts, blocks=[MARKDOWN], text="hello", metadata=metadata
    )
    ts = posted["ts"]
    await client.chat_update(channel="C1", ts=ts, text="later")
    replies = await client.conversations_replies(
        channel="C1", ts=root.ts, include_all_metadata=True
    )
    assert replies["messages"][1]["metadata"] == metadata
    assert "blocks" not in replies["messages"][1]
    assert (
        await refusal(client, "chat.update", channel="C1", ts=ts, text="长" * 1400)
        == "msg_too_long"
    )
    assert (
        await refusal(client, "chat.update", channel="C1", ts=root.ts, text="a")
        == "cant_update_message"
    )
    history = await client.conversations_history(channel="C1")
    assert [one["ts"] for one in history["messages"]] == [root.ts]
    await client.chat_delete(channel="C1", ts=ts)
    assert slack.people.from_bot("all") == []


async def test_lists_come_in_pages(slack: SlackServer, client: AsyncWebClient) -> None:
    slack.reading.page_size = 1
    found: list[str] = []
    cursor = ""
    while True:
        page = await client.users_list(cursor=cursor, limit=50)
        found += [one["id"] for one in page["members"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert found == [BOT_USER_ID, "U1", "U2"]


async def test_a_rate_limit_is_told_and_waited_for(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    slack.faults.limit["auth.test"] = 1
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert caught.value.response.status_code == 429
    assert caught.value.response.headers["Retry-After"] == "0"
    slack.faults.limit["auth.test"] = 1
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    assert (await client.auth_test())["ok"]


async def test_streams_go_from_start_to_stop(slack: SlackServer, client: AsyncWebClient) -> None:
    root = slack.people.say("ann", "all", "hello")
    started = await client.chat_startStream(
        channel="C1", thread_ts=root.ts, recipient_team_id="T0PLAYGROUND", recipient_user_id="U1"
    )
    await client.chat_appendStream(channel="C1", ts=started["ts"], markdown_text="one ")
    await client.chat_stopStream(channel="C1", ts=started["ts"], markdown_text="two")
    assert slack.people.from_bot("all")[0].text == "one two"
    late = {"channel": "C1", "ts": started["ts"], "markdown_text": "late"}
    assert await refusal(client, "chat.appendStream", **late) == "message_not_in_streaming_state"


class Listener:
    """A Socket Mode client that notes what it gets and acknowledges when it is told to."""

    def __init__(self, slack: SlackServer, *, acknowledges: bool = True) -> None:
        web = AsyncWebClient(base_url=slack.api_url)
        self.client = SocketModeClient(APP_TOKEN, web_client=web, ping_interval=0.1)
        self.client.socket_mode_request_listeners.append(self.take)
        self.acknowledges = acknowledges
        self.got: list[SocketModeRequest] = []

    async def take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.got.append(request)
        if self.acknowledges:
            await client.send_socket_mode_response({"envelope_id": request.envelope_id})

    async def __aenter__(self) -> "Listener":
        await self.client.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()


async def test_a_mention_gives_two_events_and_each_is_acknowledged_once(slack: SlackServer) -> None:
    async with Listener(slack) as listener:
        slack.people.mention("ann", "all", "hello")
        slack.people.say("ann", "closed", "nobody of the app is here")
        await slack.delivery.settle()
    kinds = [one.payload["event"]["type"] for one in listener.got]
    assert sorted(kinds) == ["app_mention", "message"]
    assert not slack.delivery.record.lost


async def test_what_is_not_acknowledged_comes_again_and_is_lost_in_the_end(
    slack: SlackServer,
) -> None:
    slack.delivery.ack_timeout_s = 0.02
    slack.delivery.retry_delays_s = (0.0, 0.0, 0.0)
    async with Listener(slack, acknowledges=False) as listener:
        slack.people.say("ann", "all", "hello")
        await slack.delivery.settle()
    assert [one.retry_attempt for one in listener.got] == [0, 1, 2, 3]
    assert len({one.payload["event_id"] for one in listener.got}) == 1
    assert len(slack.delivery.record.lost) == 1


async def test_a_dropped_or_refreshed_connection_loses_nothing(slack: SlackServer) -> None:
    async with Listener(slack, acknowledges=False) as listener:
        slack.people.say("ann", "all", "one")
        await slack.people.wait_until(lambda: len(listener.got) == 1)
        listener.acknowledges = True
        slack.delivery.sockets.drop()
        await slack.delivery.settle()
        await slack.delivery.sockets.disconnect("refresh_requested")
        slack.people.say("ann", "all", "two")
        await slack.delivery.settle()
    assert [one.payload["event"]["text"] for one in listener.got] == ["one", "one", "two"]
    assert slack.delivery.sockets.opened == 3


async def test_commands_and_clicks_bring_addresses_to_answer_at(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    button = {"type": "button", "text": TEXT, "action_id": "go", "value": "1"}
    blocks = [{"type": "actions", "elements": [button]}]
    async with Listener(slack) as listener:
        assert await slack.people.slash("ann", "all", "/kb words") is not None
        await client.chat_postMessage(channel="C1", text="press", blocks=blocks)
        [message] = slack.people.from_bot("all")
        assert await slack.people.press("ann", message, "go")
        await slack.delivery.settle()
    command = next(one.payload for one in listener.got if one.type == "slash_commands")
    click = next(one.payload for one in listener.got if one.type == "interactive")
    assert (command["text"], click["actions"][0]["value"]) == ("words", "1")
    statuses = [await post(command["response_url"], {"text": f"{n}"}) for n in range(6)]
    assert statuses == [200] * 5 + [404]
    assert len(slack.people.messages("all", viewer="ann")) == 6


async def post(url: str, body: dict[str, Any]) -> int:
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        return response.status


async def test_a_form_is_opened_once_for_a_click_and_brings_what_was_typed(
    slack: SlackServer, client: AsyncWebClient
) -> None:
    field = {
        "type": "input",
        "block_id": "b1",
        "label": TEXT,
        "element": {"type": "plain_text_input", "action_id": "words"},
    }
    view = {"type": "modal", "title": TEXT, "submit": TEXT, "blocks": [field]}
    trigger_id = slack.views.triggers.give("U1")
    await client.views_open(trigger_id=trigger_id, view=view)
    assert (
        await refusal(client, "views.open", trigger_id=trigger_id, view=view)
        == "exchanged_trigger_id"
    )
    async with Listener(slack) as listener:
        await slack.people.submit("ann", {"words": "better"})
    values = listener.got[0].payload["view"]["state"]["values"]
    assert values["b1"]["words"]["value"] == "better"
