"""The playground in one process: what it serves, whose it is, and how it stops."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from bot.commands.context import CommandContext
from core.clock import SystemClock, parse_moment
from core.errors import SettingsError
from core.settings import Settings, load_settings
from playground.home import LOCK, empty_home, hold_home
from playground.serving import (
    PLAYGROUND_HOME,
    SHARED_ROOM,
    VISITOR,
    Ports,
    choose_clock,
    load_workspace,
    open_playground,
    play,
    prepare_home,
)
from tests.browser.company import ANN, GATE_QUESTION, GUEST, OPEN, write_company

TODAY = "2026-10-15"


@pytest.fixture
def company(tmp_path: Path) -> Path:
    folder = tmp_path / "company"
    folder.mkdir()
    return write_company(folder)


@pytest.fixture
def settings(tmp_path: Path, company: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("ZHIXING_EMBEDDER", "none")
    return prepare_home(tmp_path / "home", company)


async def test_it_serves_everything_and_answers(settings: Settings, company: Path) -> None:
    clock = choose_clock(
        CommandContext(home=settings.home, now=parse_moment(TODAY)), is_sample=False
    )
    stop = asyncio.Event()
    async with (
        open_playground(settings, clock, company, stop) as playground,
        ClientSession() as session,
    ):
        pages = {"slack", "confluence", "notion", "mail", "tickets"}
        assert set(playground.addresses) == {*pages, "smtp", "admin", "admin_token"}
        for name in pages:
            async with session.get(playground.addresses[name]) as reply:
                assert reply.status == 200
                assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        people = playground.slack.people
        people.mention("ann.li", OPEN, GATE_QUESTION)
        async with asyncio.timeout(60):
            await people.wait_until(
                lambda: any("4711" in str(one.blocks) for one in people.from_bot(OPEN))
            )


async def test_other_sites_edit_neither_wiki_nor_notes(settings: Settings, company: Path) -> None:
    stop = asyncio.Event()
    async with (
        open_playground(settings, SystemClock(), company, stop) as playground,
        ClientSession() as session,
    ):
        wiki, notes = playground.company.wiki_url, playground.company.notion_url
        page = f"{wiki}/pages/103"
        values = {"body": "<p>taken over</p>"}
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
            {"Host": "evil.example"},
        ):
            async with session.post(page, data=values, headers=headers) as reply:
                assert reply.status in {403, 421}
            async with session.get(notes, headers={**headers, "Sec-Fetch-Dest": "iframe"}) as reply:
                assert reply.status in {403, 421}
        async with session.get(page) as reply:
            assert "taken over" not in await reply.text()
        own = wiki.removesuffix("/wiki/ui")
        async with session.post(page, data=values, headers={"Origin": own}) as reply:
            assert "taken over" in await reply.text()


def test_guests_and_a_stranger_meet_hosts_in_a_shared_channel(company: Path) -> None:
    workspace = load_workspace(company)
    room = workspace.find_room(SHARED_ROOM)
    assert room.is_ext_shared
    assert {ANN, GUEST, VISITOR} <= set(room.members)
    assert workspace.members[VISITOR].is_stranger


def test_time_goes_on_from_the_day_that_is_asked_for(tmp_path: Path) -> None:
    asked = CommandContext(home=tmp_path, now=parse_moment("2024-02-03"))
    first, second = choose_clock(asked, is_sample=True).now(), choose_clock(asked, is_sample=False)
    assert abs(first - parse_moment("2024-02-03")) < timedelta(hours=1)
    assert second.now() >= first
    today = CommandContext(home=tmp_path, now=None)
    assert choose_clock(today, is_sample=True).now().date().isoformat() == TODAY
    assert isinstance(choose_clock(today, is_sample=False), SystemClock)


def test_its_own_home_begins_empty_but_for_vectors(
    tmp_path: Path, company: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / PLAYGROUND_HOME
    (home / "passages").mkdir(parents=True)
    for name in ("state.sqlite3", "vectors.sqlite3", "zhixing.toml"):
        (home / name).touch()
    (company / "files").mkdir()
    settings = prepare_home(Path(".zhixing"), company)
    assert sorted(path.name for path in home.iterdir()) == ["vectors.sqlite3", "zhixing.toml"]
    assert list(settings.sources) == ["files"]
    assert settings == load_settings(Path(PLAYGROUND_HOME))


def test_a_second_playground_leaves_the_home_of_the_first_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = Path(PLAYGROUND_HOME)
    with hold_home(home):
        (home / "state.sqlite3").touch()
        told = subprocess.run(
            [sys.executable, "-m", "bot", "playground", "--headless"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert told.returncode == 2
        assert "another playground is running" in told.stderr
        assert "--home" in told.stderr
        assert (home / "state.sqlite3").exists()
    with hold_home(home):
        empty_home(home, keep={LOCK})
        with pytest.raises(SettingsError, match="another playground"), hold_home(home):
            pass


def test_a_home_that_cant_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="--home"), hold_home(tmp_path / "file" / "home"):
        pass


def test_a_home_that_is_not_there_is_empty(tmp_path: Path) -> None:
    empty_home(tmp_path / "nowhere")


async def test_a_port_that_is_taken_is_told(settings: Settings, company: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ports = Ports(slack=int(taken.getsockname()[1]))
        with pytest.raises(SettingsError, match="choose others"):
            await play(settings, SystemClock(), company, ports, headless=True)


async def test_a_folder_without_a_company_is_told(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"people\.json"):
        await play(settings, SystemClock(), tmp_path / "nothing", Ports(), headless=True)


async def test_ctrl_c_stops_it_at_any_moment(
    settings: Settings, company: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def play_and_stop(*, early: bool) -> dict[str, Any] | None:
        work = play(settings, SystemClock(), company, Ports(), headless=False)
        playing = asyncio.create_task(work)
        said = ""
        while not (early or said):
            await asyncio.sleep(0.02)
            said += capsys.readouterr().out
        await asyncio.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(60):
            await playing
        found: dict[str, Any] | None = json.loads(said) if said else None
        return found

    assert await play_and_stop(early=True) is None
    addresses = await play_and_stop(early=False)
    assert addresses is not None
    assert addresses["slack"].startswith("http://127.0.0.1:")
