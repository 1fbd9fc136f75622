"""How fast files come in: generated Markdown through the files connector, words only."""

import asyncio
import tempfile
import time
from pathlib import Path

from bot.bootstrap import open_product, open_source
from core.clock import SystemClock
from core.errors import PermanentError
from core.settings import EmbeddingSettings, FilesSettings, Settings
from evaluation.bench import IngestFigures
from evaluation.product_index import locate_settings
from evaluation.synthetic import build_pages
from evaluation.timing import read_peak_bytes
from knowledge.access import OPERATOR
from knowledge.ingestion import SyncRun
from knowledge.stores import PassageFilter
from knowledge.sync_report import SyncReport

PAGES_A_FOLDER = 100
SOURCE = "pages"


def measure_ingest(settings: Settings, seed: int, pages: int) -> IngestFigures:
    """Write pages to a temporary folder, sync it twice; for a process of its own."""
    with tempfile.TemporaryDirectory(prefix="zhixing-bench-") as folder:
        root = Path(folder)
        size_bytes = write_pages(root / SOURCE, seed=seed, count=pages)
        words_only = settings.model_copy(update={"embedding": EmbeddingSettings(kind="none")})
        home = locate_settings(words_only, root / "home")
        return asyncio.run(_measure(home, root / SOURCE, pages, size_bytes / pages))


def write_pages(folder: Path, *, seed: int, count: int) -> int:
    """Write pages as Markdown files, PAGES_A_FOLDER to a folder; return their bytes in all."""
    size_bytes = 0
    for page in build_pages(seed, count):
        path = folder / f"{page.number // PAGES_A_FOLDER:04d}" / f"{page.number:06d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        size_bytes += path.write_bytes(page.markdown.encode())
    return size_bytes


async def _measure(
    settings: Settings, folder: Path, pages: int, mean_bytes: float
) -> IngestFigures:
    seconds, report = await _sync(settings, folder)
    if report.added != pages:
        raise PermanentError(
            f"{report.added} of {pages} generated pages were added; "
            f"failures: {list(report.failures.items())[:3]!r}"
        )
    unchanged_seconds, _ = await _sync(settings, folder)
    peak_bytes = read_peak_bytes()
    async with open_product(settings, SystemClock()) as product:
        passages = await product.store.count(PassageFilter(access=OPERATOR))
    return IngestFigures(
        pages=pages,
        passages=passages,
        mean_bytes=mean_bytes,
        seconds=seconds,
        unchanged_seconds=unchanged_seconds,
        peak_bytes=peak_bytes,
    )


async def _sync(settings: Settings, folder: Path) -> tuple[float, SyncReport]:
    started = time.perf_counter()
    clock = SystemClock()
    async with open_product(settings, clock) as product:
        source = open_source(SOURCE, FilesSettings(path=str(folder)), product.state)
        try:
            report = await SyncRun(source, product.ingest_parts, product.state.logs).run()
        finally:
            await source.close()
    return time.perf_counter() - started, report
