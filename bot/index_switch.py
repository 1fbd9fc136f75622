"""Keeps the index in use and the settings in step."""

from bot.bootstrap import Product, open_store
from core.errors import SettingsError
from knowledge.index_rebuild import rebuild_index
from knowledge.progress import Progress
from knowledge.stores import IndexShape


async def require_index(product: Product) -> None:
    """Refuse to search an index that the settings were not made for.

    Raises:
        SettingsError: Another embedder or other words are set than the index was built with.
    """
    active = await product.state.active_index.load()
    if active is not None and active != product.shape:
        raise SettingsError(
            f"the index was built with {describe(active)} but the settings ask for "
            f"{describe(product.shape)}; run `zhixing sync` to build that one, or set it back"
        )


async def prepare_index(product: Product, progress: Progress) -> None:
    """Before a sync: build the index that the settings ask for, when another one is in use.

    Raises:
        RunInTheWayError: A run is writing to the one in use.
    """
    async with product.sync_lock.hold_index():
        await _prepare(product, progress)


async def _prepare(product: Product, progress: Progress) -> None:
    active = await product.state.active_index.load()
    if active is None:
        await product.state.active_index.begin(product.shape)
        return
    if active == product.shape:
        return
    old = await open_store(product.state.settings, active)
    try:
        sources = await product.state.ledger.load_source_names()
        statistics = await rebuild_index(product.ingest_parts, old, sources, progress)
    finally:
        await old.close()
    await product.state.active_index.switch(product.shape, statistics)


def describe(shape: IndexShape) -> str:
    """Name an index for a person."""
    return f"embedder {shape.embedder or 'none'!r} and word analysis {shape.analysis!r}"
