import socket
from collections.abc import Sequence

import pytest
from yarl import URL

from bot.agent.skills.http_call import HostList, SafeCaller
from core.errors import RefusedError, SettingsError
from core.http_guard import Lookup
from core.http_reply import HttpReply
from tests.fakes.http_server import data, open_service


def answer_with(*addresses: str, asked: list[str] | None = None) -> Lookup:
    """Return a resolver that gives one address after the other, as in DNS rebinding."""
    left = list(addresses)

    async def look_up(
        host: str, port: int, family: socket.AddressFamily
    ) -> Sequence[tuple[int, int, str]]:
        del port, family
        if asked is not None:
            asked.append(host)
        address = left.pop(0) if len(left) > 1 else left[0]
        kind = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(kind, socket.IPPROTO_TCP, address)]

    return look_up


def list_hosts(*allowed: str, private: Sequence[str] = ()) -> HostList:
    return HostList(allowed=frozenset(allowed), private=frozenset(private))


async def call(caller: SafeCaller, url: str) -> HttpReply:
    try:
        return await caller.call(
            "GET", URL(url), headers={}, body=None, timeout_s=5, most_bytes=1000
        )
    finally:
        await caller.close()


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "169.254.169.254", "10.0.0.8", "::1", "::ffff:127.0.0.1", "fd00::1",
     "::ffff:169.254.169.254", "64:ff9b::7f00:1", "100.64.0.1"],
)  # fmt: skip
async def test_a_listed_name_that_leads_into_our_network_is_not_asked(address: str) -> None:
    async with open_service(data({})) as service:
        port = URL(service.base_url).port
        caller = SafeCaller(
            hosts=list_hosts(f"api.nimbus.example:{port}"), lookup=answer_with(address)
        )
        with pytest.raises(RefusedError, match="is not a public address"):
            await call(caller, f"http://api.nimbus.example:{port}/x")
    assert not service.requests


async def test_a_name_is_resolved_once_and_what_was_checked_is_connected_to() -> None:
    asked: list[str] = []
    lookup = answer_with("93.184.215.14", "127.0.0.1", asked=asked)
    async with open_service(data({})) as service:
        port = URL(service.base_url).port
        caller = SafeCaller(hosts=list_hosts(f"rebinding.example:{port}"), lookup=lookup)
        # The public address is tried, and does not answer here; the second one never is.
        with pytest.raises(Exception, match=r"can't be reached|did not answer"):
            await caller.call(
                "GET", URL(f"http://rebinding.example:{port}/x"), headers={}, body=None,
                timeout_s=1, most_bytes=1000,
            )  # fmt: skip
        await caller.close()
    assert asked == ["rebinding.example"]
    assert not service.requests


async def test_a_name_listed_as_private_may_lead_here() -> None:
    async with open_service(data({"a": 1})) as service:
        port = URL(service.base_url).port
        hosts = list_hosts(private=[f"erp.internal:{port}"])
        caller = SafeCaller(hosts=hosts, lookup=answer_with("127.0.0.1"))
        reply = await call(caller, f"http://erp.internal:{port}/x")
    assert reply.status == 200
    assert service.requests[0].host == f"erp.internal:{port}"


@pytest.mark.parametrize(
    "url",
    [
        "http://other.example/",
        "http://api.nimbus.example:8080/",
        "http://api.nimbus.example.evil.example/",
        "http://user@api.nimbus.example/",
        "http://user:pw@api.nimbus.example/",
        "http://api.nimbus.example@evil.example/",
        "http://evil.example/?api.nimbus.example",
        "http://169.254.169.254/latest/meta-data",
        "http://2852039166/latest/meta-data",
        "http://[::ffff:169.254.169.254]/",
        "http://127.0.0.1/",
        "http://localhost/",
        "file:///etc/passwd",
        "//api.nimbus.example/",
    ],
)
async def test_only_listed_hosts_are_asked(url: str) -> None:
    caller = SafeCaller(hosts=list_hosts("api.nimbus.example"), lookup=answer_with("127.0.0.1"))
    with pytest.raises(SettingsError):
        await call(caller, url)


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"])
def test_a_listed_address_of_our_network_must_be_listed_as_private(host: str) -> None:
    with pytest.raises(SettingsError, match="private"):
        list_hosts(host).check(URL(f"http://{host}/"))
    list_hosts(private=[host]).check(URL(f"http://{host}/"))


def test_a_host_is_the_same_in_any_case() -> None:
    list_hosts("API.nimbus.example").check(URL("https://api.NIMBUS.example/x"))


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_service(data({})) as proxy, open_service(data({})) as service:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        monkeypatch.setenv("http_proxy", proxy.base_url)
        host = service.base_url.removeprefix("http://")
        await call(SafeCaller(hosts=list_hosts(private=[host])), f"{service.base_url}/x")
    assert (len(proxy.requests), len(service.requests)) == (0, 1)
