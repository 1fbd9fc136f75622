"""Who gets in: by token, by host name, from our own pages alone."""

import json

import pytest

from admin.guard import WRONG_TOKENS
from admin.keys import KeyStore
from admin.serving import open_pages
from core.admin_settings import AdminSettings, ViewerSettings
from core.clock import SystemClock
from core.errors import SettingsError
from core.settings import load_settings
from tests.unit.admin.desk import open_desk, run_admin
from tests.unit.bot.office import FORMER, HR, OPS, Office


async def test_without_a_token_there_is_nothing_but_the_form(office: Office) -> None:
    async with open_desk(office) as desk:
        tab = desk.open_tab()
        for path in ("/", "/overview", "/traces/abc", "/nothing"):
            reply = await tab.get(path)
            assert reply.status == 401
            assert 'type="password"' in reply.text
            assert 'action="/leave"' not in reply.text
        assert (await tab.post("/leave", {})).status == 401
        assert (await tab.get("/static/admin.css")).status == 200


async def test_a_token_opens_a_session_that_ends(office: Office) -> None:
    async with open_desk(office) as desk:
        token = await desk.make_token()
        tab = desk.open_tab()
        reply = await tab.enter(token)
        assert (reply.status, reply.headers["Location"]) == (303, "/")
        cookie = reply.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert token not in cookie
        assert (await tab.get("/")).status == 200
        assert (await tab.submit("/leave", {})).status == 303
        assert (await tab.get("/")).status == 401


async def test_a_wrong_token_is_refused_and_then_nothing_is_looked_at(office: Office) -> None:
    async with open_desk(office) as desk:
        tab = desk.open_tab()
        for number in range(WRONG_TOKENS):
            reply = await tab.enter(f"wrong-{number}")
            assert reply.status == 401
            assert "not known" in reply.text
        reply = await tab.enter(await desk.make_token())
        assert reply.status == 429
        assert int(reply.headers["Retry-After"]) > 0
        bearer = await tab.get("/", Authorization=f"Bearer {await desk.make_token()}")
        assert bearer.status == 429


async def test_a_token_in_the_headers_does_and_in_the_address_does_not(office: Office) -> None:
    async with open_desk(office) as desk:
        token = await desk.make_token()
        tab = desk.open_tab()
        assert (await tab.get("/", Authorization=f"Bearer {token}")).status == 200
        assert (await tab.get(f"/?token={token}")).status == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "["])
async def test_a_foreign_host_name_is_refused(office: Office, host: str) -> None:
    async with open_desk(office) as desk:
        tab = await desk.sit()
        reply = await tab.get("/", Host=host)
        assert reply.status in {400, 421}
        assert "traces" not in reply.text.lower().replace("back to the traces", "")


async def test_a_host_name_of_the_settings_is_served(office: Office) -> None:
    async with open_desk(office, AdminSettings(hosts=("kb.example",))) as desk:
        assert (await (await desk.sit()).get("/", Host="kb.example")).status == 200


async def test_a_form_of_another_site_does_nothing(office: Office) -> None:
    async with open_desk(office) as desk:
        tab = await desk.sit()
        for form in ({}, {"form": "0" * 64}, {"form": "ü"}):
            assert (await tab.post("/leave", form)).status == 403
        other = await desk.sit(OPS)
        found = (await other.get("/")).text.partition('name="form" value="')[2][:64]
        assert (await tab.post("/leave", {"form": found})).status == 403
        for headers in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
            assert (await tab.post("/enter", {"token": "x"}, **headers)).status == 403
            assert (await tab.get("/", **headers)).status == 403
        assert (await tab.get("/")).status == 200


async def test_pages_carry_the_headers_that_confine_them(office: Office) -> None:
    async with open_desk(office) as desk:
        tab = await desk.sit()
        for path, status in (("/", 200), ("/traces/x", 404), ("/static/admin.css", 200)):
            reply = await tab.get(path)
            assert reply.status == status
            policy = reply.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
            assert reply.headers["X-Frame-Options"] == "DENY"
            assert reply.headers["Cache-Control"] == "no-store"
            assert "<script" not in reply.text
            assert "style=" not in reply.text


async def test_where_to_go_on_stays_on_this_site(office: Office) -> None:
    async with open_desk(office) as desk:
        for then in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:1"):
            tab = desk.open_tab()
            reply = await tab.post("/enter", {"token": await desk.make_token(), "then": then})
            assert reply.headers["Location"] == "/"


async def test_tokens_of_people_who_left_and_revoked_ones_hold_no_more(office: Office) -> None:
    async with open_desk(office) as desk:
        assert (await desk.open_tab().enter(await desk.make_token(FORMER))).status == 401
        tab = await desk.sit(OPS)
        token = await desk.make_token(OPS)
        assert (await tab.get("/")).status == 200
        assert await KeyStore(desk.product.state.database, SystemClock()).end_all() == 4
        assert (await tab.get("/")).status == 401
        assert (await desk.open_tab().enter(token)).status == 401


async def test_a_token_of_the_settings_is_its_viewers_until_it_changes(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_TOKEN", "long-enough")
    office.add_settings(f'[admin.viewers.kit]\ntoken_variable = "KIT_TOKEN"\nperson = "{OPS}"')
    settings = load_settings(office.home).admin
    changed = {"kit": ViewerSettings.model_validate({"token_variable": "X", "token": "other"})}
    async with (
        open_desk(office, settings) as desk,
        open_pages(desk.product, AdminSettings(port=0, viewers=changed)) as later,
    ):
        tab = desk.open_tab()
        assert (await tab.enter("long-enough")).status == 303
        assert "柯特" in (await tab.get("/")).text
        tab.address = later.address
        tab.cookie = (
            f"zhixing-admin-{later.address.split(':')[2][:-1]}=" + tab.cookie.split("=", 1)[1]
        )
        assert (await tab.get("/")).status == 401


async def test_pages_open_to_the_network_need_a_name(office: Office) -> None:
    async with office.open() as product:
        with pytest.raises(SettingsError, match=r"admin\.hosts"):
            async with open_pages(product, AdminSettings(host="192.0.2.1", port=0)):
                pass


def test_the_command_prints_an_address_and_a_fresh_token(office: Office) -> None:
    first, second = (json.loads(run_admin(office, "--as", HR, "--json").stdout) for _ in range(2))
    assert first["address"] == "http://127.0.0.1:8765/"
    assert first["token"] != second["token"]
    assert first["token"] not in first["address"]
    assert json.loads(run_admin(office, "--revoke", "--json").stdout) == {"revoked": 2}
    assert isinstance(run_admin(office, "--as", FORMER).exception, SettingsError)
