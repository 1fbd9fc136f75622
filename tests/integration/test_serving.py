"""Two processes serve one home: one leads, the other takes over when it is killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.bootstrap import open_state
from core.clock import SystemClock
from core.settings import SETTINGS_FILE, load_settings
from scheduler.service import find_leader

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **{k: v for k, v in os.environ.items() if not k.startswith("ZHIXING_")},
    "ZHIXING_EMBEDDER": "none",
    "PYTHONPATH": str(ROOT),
}


def start(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bot", "--home", str(home), *arguments]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def run_json(home: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bot", "--home", str(home), *arguments, "--json"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def read_leader(home: Path) -> tuple[int, int] | None:
    """Return the leader's process and its fencing number."""
    async with open_state(load_settings(home, {}), SystemClock()) as state:
        lease = await find_leader(state.database)
        return None if lease is None else (int(lease.owner.split("|")[1]), lease.fence)


async def wait_until_led(
    home: Path, is_wanted: Callable[[tuple[int, int]], bool]
) -> tuple[int, int]:
    while True:
        leader = await read_leader(home)
        if leader is not None and is_wanted(leader):
            return leader
        await asyncio.sleep(0.1)


def write_home(folder: Path) -> Path:
    pages = folder / "pages"
    pages.mkdir()
    (pages / "a.md").write_text("# Limits\n\nThe limit is fifty.\n", encoding="utf-8")
    home = folder / "home"
    home.mkdir()
    (home / SETTINGS_FILE).write_text(
        f'[sources.pages]\nkind = "files"\npath = {json.dumps(str(pages))}\n'
        "[scheduler]\nincremental_s = 3600\nrights_s = 0\npruning_s = 0\nreconciliation_s = 0\n"
        "poll_s = 0.1\nbusy_retry_s = 0.2\n",
        encoding="utf-8",
    )
    return home


async def test_the_second_process_takes_over_from_a_killed_one(tmp_path: Path) -> None:
    home = write_home(tmp_path)
    processes = {one.pid: one for one in (start(home, "serve"), start(home, "serve"))}
    try:
        first, fence = await wait_until_led(home, lambda leader: leader[0] in processes)
        done = run_json(home, "jobs", "run", "pages")["run"]
        assert (done["status"], done["counts"]["seen"]) == ("done", 1)
        (tmp_path / "pages" / "b.md").write_text("# More\n\nMore.\n", encoding="utf-8")
        processes[first].send_signal(signal.SIGKILL)
        processes[first].wait()
        second, later = await wait_until_led(home, lambda leader: leader[0] != first)
        assert second in processes
        assert later > fence
        done = run_json(home, "jobs", "run", "pages")["run"]
        assert done["counts"]["added"] == 1
        assert len(run_json(home, "search", "limit")["hits"]) == 1
        processes[second].send_signal(signal.SIGTERM)
        assert processes[second].wait() == 0
        assert await read_leader(home) is None
    finally:
        for process in processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()
