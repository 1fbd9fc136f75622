"""The page's own interface: everybody gets what they see, and other sites get nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiosmtplib
import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSServerHandshakeError

from playground.mail import Mailbox, serve_mail
from playground.slack.server import BOT_TOKEN, SlackServer, serve_slack
from playground.slack.workspace import BOT_USER_ID, Member, Room, RoomKind, Workspace

Json = dict[str, Any]
ANN, BEN, GUEST, STRANGER, GONE = "U1", "U2", "U3", "U4", "U5"
SECRET = "the secret plan"


def build_workspace() -> Workspace:
    workspace = Workspace()
    for user_id, more in (
        (ANN, {"email": "ann@one.example"}),
        (BEN, {"email": "ben@one.example"}),
        (GUEST, {"is_restricted": True}),
        (STRANGER, {"is_stranger": True}),
        (GONE, {"deleted": True}),
    ):
        workspace.add_member(
            Member(user_id=user_id, name=user_id.lower(), real_name=user_id, **more)
        )
    rooms: list[tuple[str, RoomKind, list[str]]] = [
        ("C1", "channel", [ANN, BEN]),
        ("C2", "group", [ANN]),
        ("C3", "channel", [ANN, GUEST, STRANGER]),
    ]
    for channel, kind, members in rooms:
        workspace.add_room(
            Room(
                channel_id=channel, name=channel.lower(), kind=kind, members=[*members, BOT_USER_ID]
            )
        )
    return workspace


@dataclass
class Screen:
    """What one tab has received."""

    socket: ClientWebSocketResponse
    entries: dict[str, Json] = field(default_factory=dict)
    raw: str = ""

    async def read(self) -> None:
        """Take one message of the server's."""
        text = await self.socket.receive_str()
        self.raw += text
        difference = json.loads(text)
        self.entries.update(difference["set"])
        for key in difference["gone"]:
            del self.entries[key]

    async def wait_for(self, key: str) -> Json:
        while key not in self.entries:
            await self.read()
        return self.entries[key]


@dataclass
class Place:
    slack: SlackServer
    session: ClientSession

    @asynccontextmanager
    async def screen(self, user: str, **query: str) -> AsyncIterator[Screen]:
        url = f"{self.slack.base_url}/page/live"
        origin = self.slack.base_url
        async with self.session.ws_connect(
            url, params={"as": user, **query}, origin=origin
        ) as socket:
            screen = Screen(socket)
            await screen.read()
            yield screen

    async def act(self, name: str, user: str, **values: Any) -> Json:
        headers = {"Origin": self.slack.base_url}
        url = f"{self.slack.base_url}/page/{name}"
        async with self.session.post(url, json={"as": user, **values}, headers=headers) as reply:
            found: Json = await reply.json()
            return found

    async def call(self, method: str, **values: Any) -> Json:
        headers = {"Authorization": f"Bearer {BOT_TOKEN}"}
        url = self.slack.api_url + method
        async with self.session.post(url, json=values, headers=headers) as reply:
            found: Json = await reply.json()
            return found


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with (
        serve_slack(build_workspace(), mailbox=Mailbox()) as slack,
        ClientSession() as session,
    ):
        yield Place(slack, session)


async def show_everything(place: Place) -> None:
    """Put a secret wherever only Ann may see it."""
    place.slack.people.say("u1", "C2", SECRET)
    place.slack.people.say("u1", "dm", SECRET)
    await place.call("chat.postEphemeral", channel="C1", user=ANN, text=SECRET)
    await place.call(
        "views.publish",
        user_id=ANN,
        view={
            "type": "home",
            "blocks": [{"type": "section", "text": {"type": "plain_text", "text": SECRET}}],
        },
    )
    await place.call(
        "views.open",
        trigger_id=place.slack.views.triggers.give(ANN),
        view={
            "type": "modal",
            "title": {"type": "plain_text", "text": "Form"},
            "blocks": [{"type": "section", "text": {"type": "plain_text", "text": SECRET}}],
        },
    )
    dm = place.slack.workspace.open_im(ANN)
    prompts = [{"title": SECRET, "message": SECRET}]
    await place.call(
        "assistant.threads.setSuggestedPrompts", channel_id=dm.channel_id, prompts=prompts
    )
    await place.call(
        "assistant.threads.setStatus",
        channel_id=dm.channel_id,
        thread_ts=dm.messages[0].ts,
        status=SECRET,
    )


async def test_nobody_receives_what_only_somebody_else_sees(place: Place) -> None:
    async with (
        place.screen(ANN) as ann,
        place.screen(BEN) as ben,
        place.screen(GUEST) as guest,
        place.screen(STRANGER) as stranger,
    ):
        await show_everything(place)
        last = place.slack.people.say("u1", "C1", "for all of one")
        end = place.slack.people.say("u1", "C3", "for all of three")
        place.slack.front.changes.announce()
        await ann.wait_for(f"message/C3/{end.ts}")
        await ben.wait_for(f"message/C1/{last.ts}")
        await guest.wait_for(f"message/C3/{end.ts}")
        await stranger.wait_for(f"message/C3/{end.ts}")
        assert ann.raw.count(SECRET) >= 7
        for other in (ben, guest, stranger):
            assert SECRET not in other.raw
        assert "room/C2" not in ben.entries
        assert "room/C1" not in guest.entries


async def test_a_new_tab_starts_with_what_is_seen_and_nothing_else(place: Place) -> None:
    await show_everything(place)
    async with place.screen(BEN) as ben:
        assert SECRET not in ben.raw
        assert ben.entries["room/C3"]["is_member"] is False
        assert ben.entries["room/C3"]["members"] == []


async def test_guests_know_only_whom_they_meet(place: Place) -> None:
    async with place.screen(GUEST) as guest, place.screen(BEN) as ben:
        people = {key.removeprefix("person/") for key in guest.entries if key.startswith("person/")}
        assert people == {ANN, GUEST, STRANGER, BOT_USER_ID}
        assert f"person/{GONE}" in ben.entries


async def test_what_an_app_keeps_for_itself_stays_there(place: Place) -> None:
    view = {"type": "home", "blocks": [{"type": "divider"}], "private_metadata": SECRET}
    await place.call("views.publish", user_id=ANN, view=view)
    metadata = {"event_type": "x", "event_payload": {"secret": SECRET}}
    await place.call("chat.postMessage", channel="C1", text="hello", metadata=metadata)
    async with place.screen(ANN) as ann:
        assert "home" in ann.entries
        assert SECRET not in ann.raw


@pytest.mark.parametrize(
    ("name", "values", "error"),
    [
        ("say", {"channel": "C2", "text": "hi"}, "channel_not_found"),
        ("say", {"channel": "C1", "text": "hi", "thread": "1.0"}, "message_not_found"),
        ("say", {"channel": "C1", "text": "  "}, "no_text"),
        ("slash", {"channel": "C2", "line": "/kb x"}, "channel_not_found"),
        ("slash", {"channel": "C1", "line": "/rm x"}, "unknown_command"),
        ("leave", {"channel": "C2"}, "channel_not_found"),
        ("join", {"channel": "C2"}, "channel_not_found"),
        ("shortcut", {"callback_id": "x", "channel": "C2", "ts": "1.0"}, "channel_not_found"),
        ("press", {"channel": "C1", "ts": "1.0", "choice": {"a": 1}}, "message_not_found"),
        ("submit", {"view": "V00000001"}, "view_not_found"),
        ("close", {"view": "V00000001"}, "view_not_found"),
        ("fly", {}, "unknown_action"),
    ],
)
async def test_nobody_acts_where_they_see_nothing(
    place: Place, name: str, values: Json, error: str
) -> None:
    await show_everything(place)
    assert await place.act(name, BEN, **values) == {"error": error}


async def test_nobody_presses_what_only_somebody_else_was_shown(place: Place) -> None:
    button = {
        "type": "button",
        "action_id": "a",
        "text": {"type": "plain_text", "text": "Press"},
        "value": "v",
    }
    sent = await place.call(
        "chat.postEphemeral",
        channel="C1",
        user=ANN,
        text="x",
        blocks=[{"type": "actions", "elements": [button]}],
    )
    where = {"channel": "C1", "ts": sent["message_ts"], "path": "0/0", "action_id": "a"}
    assert await place.act("press", BEN, **where) == {"error": "message_not_found"}


@pytest.mark.parametrize("user", [GONE, BOT_USER_ID, "U99", ""])
async def test_the_page_is_for_people_who_are_there(place: Place, user: str) -> None:
    assert await place.act("say", user, channel="C1", text="hi") == {"error": "user_not_found"}
    with pytest.raises(WSServerHandshakeError) as refused:
        async with place.screen(user):
            pass
    assert refused.value.status == 404


async def test_guests_and_strangers_join_nothing_by_themselves(place: Place) -> None:
    for user in (GUEST, STRANGER):
        assert await place.act("join", user, channel="C1") == {"error": "channel_not_found"}
    assert await place.act("join", BEN, channel="C3") == {}
    async with place.screen(BEN) as ben:
        assert ben.entries["room/C3"]["is_member"] is True


async def test_changes_and_deletions_arrive(place: Place) -> None:
    async with place.screen(BEN) as ben:
        sent = await place.act("say", ANN, channel="C1", text="first")
        key = f"message/C1/{sent['ts']}"
        assert (await ben.wait_for(key))["text"] == "first"
        await place.act("edit", ANN, channel="C1", ts=sent["ts"], text="second")
        while ben.entries[key]["text"] == "first":
            await ben.read()
        assert (await place.act("edit", BEN, channel="C1", ts=sent["ts"], text="x"))["error"]
        await place.act("delete", ANN, channel="C1", ts=sent["ts"])
        while key in ben.entries:
            await ben.read()


async def test_mail_goes_to_whom_it_is_for() -> None:
    mailbox = Mailbox()
    async with (
        serve_mail(mailbox),
        serve_slack(build_workspace(), mailbox=mailbox) as slack,
        ClientSession() as session,
    ):
        place = Place(slack, session)
        async with place.screen(ANN) as ann, place.screen(BEN) as ben:
            await aiosmtplib.send(
                "From: a@x.example\nTo: ann@one.example\nSubject: =?utf-8?b?5L2g5aW9?=\n"
                "Content-Type: text/plain; charset=utf-8\n\n" + SECRET,
                sender="a@x.example",
                recipients=["ANN@one.example"],
                hostname="127.0.0.1",
                port=mailbox.port,
            )
            mail = await ann.wait_for("mail/1")
            assert (mail["subject"], mail["text"].strip()) == ("你好", SECRET)
            said = await place.act("say", ANN, channel="C1", text="done")
            await ben.wait_for(f"message/C1/{said['ts']}")
            assert SECRET not in ben.raw
        async with place.screen("", all="mail") as everything:
            assert list(everything.entries) == ["mail/1"]


OTHER = "http://evil.example"


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {}, 200),
        ("GET", "/web/main.js", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("GET", "/", {"Host": "evil.example"}, 421),
        ("GET", "/", {"Host": "127.0.0.1.evil.example"}, 421),
        ("GET", "/page/setting", {"Origin": OTHER}, 403),
        ("GET", "/page/setting", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}, 403),
        ("POST", "/page/say", {"Origin": OTHER}, 403),
        ("POST", "/page/say", {"Origin": "null"}, 403),
        ("POST", "/page/say", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"}, 403),
        ("GET", "/page/live?as=U1", {"Origin": "http://127.0.0.1:1"}, 403),
        ("GET", f"/api/auth.test?token={BOT_TOKEN}", {}, 200),
        ("GET", f"/api/auth.test?token={BOT_TOKEN}", {"Sec-Fetch-Site": "cross-site"}, 403),
        ("GET", f"/api/auth.test?token={BOT_TOKEN}", {"Sec-Fetch-Site": "none"}, 403),
        ("POST", "/respond/0", {"Origin": OTHER}, 403),
    ],
)
async def test_other_sites_in_the_same_browser_get_nothing(
    place: Place, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    url = place.slack.base_url + path
    async with place.session.request(method, url, headers=headers) as reply:
        assert reply.status == status


async def test_a_link_from_elsewhere_may_be_followed(place: Place) -> None:
    headers = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    async with place.session.get(f"{place.slack.base_url}/", headers=headers) as reply:
        assert reply.status == 200
        policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    framed = {**headers, "Sec-Fetch-Dest": "iframe"}
    async with place.session.get(f"{place.slack.base_url}/", headers=framed) as reply:
        assert reply.status == 403


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("[]", "application/json"),
        ("{", "application/json"),
        ("[" * 100_000, "application/json"),
        ("as=U1", "text/plain"),
    ],
)
async def test_malformed_requests_are_refused(place: Place, body: str, kind: str) -> None:
    headers = {"Origin": place.slack.base_url, "Content-Type": kind}
    url = f"{place.slack.base_url}/page/say"
    async with place.session.post(url, data=body, headers=headers) as reply:
        assert (reply.status // 100, await reply.json()) == (4, {"error": "invalid_json"})


async def test_many_changes_go_out_together(place: Place) -> None:
    async with place.screen(ANN) as ann:
        for number in range(20):
            place.slack.people.say("u1", "C1", str(number))
        last = place.slack.people.say("u1", "C1", "last")
        place.slack.front.changes.announce()
        await asyncio.wait_for(ann.read(), 30)
        assert f"message/C1/{last.ts}" in ann.entries
