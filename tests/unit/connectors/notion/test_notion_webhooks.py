import hashlib
import hmac
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web

from connectors.notion.webhooks import SIGNATURE_HEADER, NotionWebhooks, find_ids
from tests.unit.connectors.notion.blocks_of import an_id
from tests.unit.connectors.notion.office import STAFF, Office

TOKEN = "secret_of_the_subscription"


class Receiver:
    """A handler on loopback, and what it was told."""

    def __init__(self, token: str) -> None:
        self.marked: list[str] = []
        self.offered: list[str] = []
        self.url = ""
        self.webhooks = NotionWebhooks(
            token, mark=self.marked.append, on_verification=self.offered.append
        )

    async def post(self, body: object, *, token: str = "", signature: str = "") -> int:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        signed = hmac.new(token.encode(), data, hashlib.sha256).hexdigest()
        headers = {SIGNATURE_HEADER: signature or f"sha256={signed}"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=data, headers=headers) as reply,
        ):
            return reply.status


@pytest.fixture
async def receiver(request: pytest.FixtureRequest) -> AsyncIterator[Receiver]:
    opened = Receiver(getattr(request, "param", TOKEN))
    app = web.Application()
    app.router.add_post("/notion", opened.webhooks.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    opened.url = f"http://127.0.0.1:{runner.addresses[0][1]}/notion"
    yield opened
    await runner.cleanup()


def event(object_id: str, kind: str = "page.content_updated") -> dict[str, object]:
    return {"type": kind, "entity": {"id": object_id, "type": "page"}, "attempt_number": 1}


async def test_a_signed_event_marks_its_page(receiver: Receiver) -> None:
    assert await receiver.post(event(an_id(1)), token=TOKEN) == 200
    assert receiver.marked == [an_id(1)]


@pytest.mark.parametrize("signature", ["sha256=00", "nonsense", "sha256=é"])
async def test_an_event_without_a_valid_signature_is_refused(
    receiver: Receiver, signature: str
) -> None:
    assert await receiver.post(event(an_id(1)), token="other") == 401
    assert (
        await receiver.post(event(an_id(1)), signature=signature.encode().decode("latin-1")) == 401
    )
    assert receiver.marked == []


@pytest.mark.parametrize("receiver", [""], indirect=True)
async def test_the_first_token_is_handed_to_the_operator(receiver: Receiver) -> None:
    assert await receiver.post({"verification_token": "secret_new"}) == 200
    assert receiver.offered == ["secret_new"]
    assert await receiver.post(event(an_id(1)), token="") == 401


async def test_a_token_that_is_set_cannot_be_replaced_from_afar(receiver: Receiver) -> None:
    assert await receiver.post({"verification_token": "of somebody else"}) == 401
    assert await receiver.post({"verification_token": TOKEN}) == 200
    assert receiver.offered == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]"])
async def test_what_is_no_event_is_refused(receiver: Receiver, body: bytes) -> None:
    assert await receiver.post(body, token=TOKEN) == 400


def test_comments_and_rows_name_the_pages_they_concern() -> None:
    comment = {
        "entity": {"id": an_id(5), "type": "comment"},
        "data": {"page_id": an_id(1), "parent": {"id": an_id(2), "type": "page"}},
    }
    assert find_ids(comment) == [an_id(2), an_id(1)]
    assert find_ids({"entity": {"id": an_id(3), "type": "data_source"}}) == [an_id(3)]
    assert find_ids({"entity": "odd", "data": []}) == []


async def test_a_marked_page_is_read_though_search_does_not_know_it(office: Office) -> None:
    root = office.editor.add_page("Wiki")
    office.grant(root, STAFF)
    office.editor.add_text(root, "first words")
    office.clock.forward(minutes=10)
    await office.sync()
    office.clock.forward(hours=1)
    office.workspace.unsearchable = {root}
    office.workspace.search_lags = True
    office.editor.add_text(root, "second words")
    source = office.open_source()
    source.mark(root.replace("-", ""))
    source.mark("no id")
    await office.bench.sync(source)
    await source.close()
    assert any("second" in text for text in await office.texts("second words"))
