import pytest

from connectors.rest import Payload, RestClient
from core.errors import PermanentError
from tests.fakes.http_server import data, open_service, status


class Thing(Payload):
    name: str


async def test_replies_are_checked_and_unknown_keys_ignored() -> None:
    async with open_service(data({"name": "a", "more": 1}), data({"title": "a"})) as service:
        client = RestClient(http=service.open_client())
        assert (await client.get("things/1", Thing)).name == "a"
        with pytest.raises(PermanentError, match=r"unexpected reply for 'things/2': name"):
            await client.get("things/2", Thing)
        await client.close()


async def test_posting_sends_json() -> None:
    async with open_service(data({"name": "b"})) as service:
        client = RestClient(http=service.open_client())
        found = await client.post("query", Thing, json={"q": "磁盘"}, is_repeatable=True)
        await client.close()
        assert found.name == "b"
        assert "query" in service.requests[0].path


async def test_files_come_as_they_are() -> None:
    async with open_service(status(200, "a,b")) as service:
        client = RestClient(http=service.open_client())
        assert (await client.download(f"{service.base_url}/f.csv", max_bytes=10)).body == b"a,b"
        await client.close()
