"""A sync that is killed at any point, and run again, ends where an undisturbed one does."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.engine import Connection

from bot.bootstrap import open_product
from core.clock import SystemClock
from core.settings import load_settings
from knowledge.access import OPERATOR
from knowledge.documents import Status
from knowledge.ledger_tables import documents, index_rows, intents, outbox, term_statistics
from knowledge.stores import PassageFilter

ROOT = Path(__file__).parents[2]
PAGES = 150
KILLS = 5
EVERY_ROW = PassageFilter(access=OPERATOR, any_time=True, statuses=frozenset(Status))

State = dict[str, object]


def write_pages(folder: Path, *, edition: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(PAGES):
        edited = f"changed {edition}" if edition and number % 7 == 0 else "as ever"
        text = (
            f"# Page {number}\n\n## Topic\n\nword{number} {edited}\n\n## Other\n\nstays {number}\n"
        )
        path = folder / f"page{number}.md"
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_760_000_000 + edition, 1_760_000_000 + edition))
    if edition:
        (folder / "page3.md").unlink()


def start_sync(home: Path, folder: Path) -> subprocess.Popen[bytes]:
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("ZHIXING_")},
        "ZHIXING_EMBEDDER": "none",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "bot", "--home", str(home), "sync", str(folder)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def sync(home: Path, folder: Path) -> None:
    assert start_sync(home, folder).wait() == 0


def sync_killed(home: Path, folder: Path, delay_s: float) -> bool:
    """Return whether the kill came before the end."""
    process = start_sync(home, folder)
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def read_ledger(connection: Connection) -> State:
    held = connection.execute(
        select(documents.c.document_id, documents.c.version_number, documents.c.token)
    )
    rows = connection.execute(
        select(
            index_rows.c.passage_id,
            index_rows.c.valid_from,
            index_rows.c.valid_to,
            index_rows.c.access_no,
        )
    )
    terms = connection.execute(select(term_statistics))
    return {
        "documents": sorted(map(tuple, held)),
        "rows": sorted(map(repr, rows)),
        "terms": sorted((row[0], row[1]) for row in terms if row[1]),
        "intents": len(connection.execute(select(intents)).all()),
        "outbox": len(connection.execute(select(outbox)).all()),
    }


async def read_state(home: Path) -> State:
    """Return everything a sync leaves behind, without moments of the sync itself."""
    settings = load_settings(home, {"ZHIXING_EMBEDDER": "none"})
    async with open_product(settings, SystemClock()) as product:
        state = await product.state.database.read(read_ledger)
        stored = await product.store.list_hits(EVERY_ROW, limit=100_000)
        state["stored"] = sorted((hit.passage_id, repr(hit.valid_to)) for hit in stored)
    return state


async def test_a_killed_sync_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    calm, disturbed = tmp_path / "calm", tmp_path / "disturbed"
    write_pages(folder, edition=0)
    started = time.monotonic()
    sync(calm, folder)
    usual_s = time.monotonic() - started
    # Seeded, so that a failure can be looked at again.
    chance = random.Random(20260101)
    kills = sum(
        sync_killed(disturbed, folder, chance.uniform(0.3, 1.0) * usual_s) for _ in range(KILLS)
    )
    sync(disturbed, folder)
    assert await read_state(disturbed) == await read_state(calm)
    write_pages(folder, edition=1)
    sync(calm, folder)
    kills += sum(
        sync_killed(disturbed, folder, chance.uniform(0.5, 1.0) * usual_s) for _ in range(KILLS)
    )
    sync(disturbed, folder)
    final = await read_state(disturbed)
    assert final == await read_state(calm)
    assert (final["intents"], final["outbox"]) == (0, 0)
    assert kills > 0
