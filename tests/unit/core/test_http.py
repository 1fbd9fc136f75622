import asyncio
from datetime import UTC, datetime

import pytest
from aiohttp import web

from core.clock import FixedClock
from core.errors import (
    AccessDeniedError,
    PermanentError,
    RateLimitedError,
    RefusedError,
    ResourceGoneError,
    ServiceUnavailableError,
    SettingsError,
    UnsupportedContentError,
    ZhixingError,
)
from core.http import HttpClient, HttpLimits
from core.http_reply import HttpReply
from tests.fakes.http_server import data, open_service, page, status


async def test_faults_of_the_service_are_retried_with_growing_delays() -> None:
    async with open_service(status(503), status(500), data({"ok": 1})) as service:
        client = service.open_client()
        assert await client.request_json("GET", "x", params={"limit": 5}) == {"ok": 1}
        await client.close()
        first, second = service.time.slept
        assert 0.25 <= first <= 0.5 <= second <= 1.0
        assert client.calls["GET"] == 3
        assert service.requests[0].query["limit"] == "5"


async def test_a_fault_that_stays_is_raised_after_the_last_attempt() -> None:
    async with open_service(status(502)) as service:
        client = service.open_client(limits=HttpLimits(attempts=2))
        with pytest.raises(ServiceUnavailableError, match="Wiki 'test' answered 502"):
            await client.request("GET", "x")
        await client.close()
        assert len(service.requests) == 2


@pytest.mark.parametrize("code", [429, 403])
async def test_a_pause_that_is_asked_for_holds_every_caller_back(code: int) -> None:
    async with open_service(status(code, Retry_After="7"), data(1)) as service:
        client = service.open_client(limits=HttpLimits(max_concurrent=1))
        await asyncio.gather(*(client.request_json("GET", str(n)) for n in range(5)))
        await client.close()
        assert sum(service.time.slept) == pytest.approx(7, abs=0.1)
        assert len(service.requests) == 6


async def test_a_success_reply_may_ask_for_a_pause_before_the_next_call() -> None:
    async with open_service(data(1, Retry_After="3"), data(2, Retry_After="0")) as service:
        client = service.open_client()
        assert await client.request_json("GET", "a") == 1
        assert not service.time.slept
        assert await client.request_json("GET", "b") == 2
        assert await client.request_json("GET", "c") == 2
        await client.close()
        assert sum(service.time.slept) == pytest.approx(3, abs=0.1)


async def test_a_pause_may_be_given_as_a_date() -> None:
    answers = (status(429, Retry_After="Mon, 30 Nov 2026 09:00:09 GMT"), data(1))
    async with open_service(*answers) as service:
        client = service.open_client()
        client.clock = FixedClock(datetime(2026, 11, 30, 9, 0, tzinfo=UTC))
        assert await client.request_json("GET", "a") == 1
        await client.close()
        assert sum(service.time.slept) == pytest.approx(9, abs=0.1)


async def test_a_pause_of_hours_is_left_to_the_next_run() -> None:
    async with open_service(status(429, Retry_After="7200")) as service:
        client = service.open_client()
        with pytest.raises(RateLimitedError, match="7200 s"):
            await client.request("GET", "a")
        await client.close()
        assert not service.time.slept


async def test_a_call_with_one_attempt_waits_when_it_is_told_to() -> None:
    async with open_service(status(429, Retry_After="2"), data(1)) as service:
        client = service.open_client()
        assert await client.request_json("GET", "a", attempts=1) == 1
        await client.close()


async def test_a_call_that_writes_is_sent_once_unless_it_may_be_repeated() -> None:
    async with open_service(status(503), status(503), data({})) as service:
        client = service.open_client()
        with pytest.raises(ServiceUnavailableError):
            await client.request("POST", "x", json={"a": 1})
        assert await client.request_json("POST", "x", json={"a": 1}, is_repeatable=True) == {}
        await client.close()
        assert len(service.requests) == 3
        assert service.bodies == [b'{"a": 1}'] * 3


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (401, SettingsError, "check sources.test.token"),
        (403, AccessDeniedError, "no licence; check sources.test.token"),
        (404, ResourceGoneError, "/deep/x"),
        (410, ResourceGoneError, "410"),
        (400, PermanentError, "no licence"),
    ],
)
async def test_refusals_say_what_to_do(code: int, error: type[ZhixingError], words: str) -> None:
    async with open_service(status(code, "no\n licence")) as service:
        client = service.open_client(path="/deep/")
        with pytest.raises(error, match=words):
            await client.request("GET", "x")
        await client.close()
        assert len(service.requests) == 1


async def test_a_vendor_may_mean_something_else_by_a_status() -> None:
    def read_error(reply: HttpReply) -> ZhixingError | None:
        return ServiceUnavailableError("busy") if b"busy" in reply.body else None

    async with open_service(status(400, "busy"), data(1)) as service:
        client = service.open_client()
        client.read_error = read_error
        assert await client.request_json("GET", "x") == 1
        await client.close()


async def test_a_login_page_is_an_error_of_the_settings() -> None:
    async with open_service(page()) as service:
        client = service.open_client()
        with pytest.raises(SettingsError, match="login form.*check sources.test.token"):
            await client.request_json("GET", "x")
        await client.close()


async def test_a_redirect_to_a_login_page_is_seen_too() -> None:
    async with open_service(status(302, Location="/login?next=x"), page()) as service:
        client = service.open_client()
        with pytest.raises(SettingsError, match="login form"):
            await client.request_json("GET", "x")
        await client.close()
        assert service.requests[1].path == "/login"


async def test_a_circle_of_redirects_ends() -> None:
    async with open_service(status(302, Location="/x")) as service:
        client = service.open_client()
        with pytest.raises(PermanentError, match="circle"):
            await client.request("GET", "x")
        await client.close()


async def test_broken_json_is_asked_for_again_by_the_next_run() -> None:
    async with open_service(status(200, '{"a":')) as service:
        client = service.open_client()
        with pytest.raises(ServiceUnavailableError, match="broken JSON"):
            await client.request_json("GET", "x")
        await client.close()


async def test_a_time_out_is_a_fault_of_the_service() -> None:
    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    async with open_service(hang, data(1)) as service:
        client = service.open_client(limits=HttpLimits(timeout_s=0.2))
        assert await client.request_json("GET", "x") == 1
        await client.close()


async def test_nothing_listening_is_a_fault_of_the_service() -> None:
    async with open_service(data(1)) as service:
        client = service.open_client(limits=HttpLimits(attempts=2))
    with pytest.raises(ServiceUnavailableError, match="can't be reached"):
        await client.request("GET", "x")
    await client.close()


async def test_too_large_a_reply_is_not_read_to_its_end() -> None:
    async with open_service(status(200, "x" * 300_000)) as service:
        client = service.open_client()
        with pytest.raises(UnsupportedContentError, match="larger than 0.1 MB"):
            await client.request("GET", "file", max_bytes=100_000)
        await client.close()


async def test_credentials_stay_with_the_service() -> None:
    async with open_service(data(1)) as service:
        client = service.open_client()
        await client.request("GET", f"{service.base_url}/own?sig=a%2Fb%20c")
        assert service.requests[0].headers["Authorization"] == "Bearer key-of-the-bot"
        assert service.requests[0].raw_path == "/own?sig=a%2Fb%20c"
        other = service.base_url.replace("127.0.0.1", "localhost")
        with pytest.raises(RefusedError, match="port"):
            await client.request("GET", f"{other}/foreign")
        await client.close()
        assert len(service.requests) == 1


async def test_a_redirect_into_our_own_network_is_not_followed() -> None:
    for target in ("http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "file:///etc"):
        async with open_service(status(302, Location=target)) as service:
            client = service.open_client()
            with pytest.raises(RefusedError):
                await client.request("GET", "x")
            await client.close()


async def test_a_name_that_leads_into_our_own_network_is_not_fetched() -> None:
    async with open_service(status(302, Location="http://localhost/secret")) as service:
        client = service.open_client()
        with pytest.raises(RefusedError, match="not a public address"):
            await client.request("GET", "x")
        await client.close()


async def test_calls_are_spread_to_the_rate() -> None:
    async with open_service(data(1)) as service:
        client = service.open_client(limits=HttpLimits(max_calls_per_s=2, max_concurrent=1))
        for _ in range(3):
            await client.request("GET", "x", kind="page")
        await client.close()
        assert service.time.slept == [0.5, 0.5]
        assert client.calls == {"page": 3}


async def test_no_more_calls_at_once_than_allowed() -> None:
    running, most = 0, 0

    async def count(_: web.Request) -> web.StreamResponse:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return web.json_response(1)

    async with open_service(count) as service:
        client = service.open_client(limits=HttpLimits(max_concurrent=2))
        await asyncio.gather(*(client.request("GET", "x") for _ in range(6)))
        await client.close()
    assert most == 2


def test_an_address_must_be_http() -> None:
    with pytest.raises(SettingsError, match="http://"):
        HttpClient(base_url="wiki.example.com", place="Wiki")
