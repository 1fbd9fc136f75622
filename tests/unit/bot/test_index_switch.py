from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.bootstrap import Product, open_product
from bot.index_switch import describe, prepare_index, require_index
from core.clock import FixedClock
from core.errors import SettingsError
from core.settings import EmbeddingSettings, Settings
from knowledge.access import OPERATOR
from knowledge.embedding import Embedder
from knowledge.ingestion import SyncRun
from knowledge.progress import NoProgress
from knowledge.retrieval import Retrieval
from knowledge.stores import IndexShape, PassageFilter
from tests.fakes.memory_source import START, MemoryPage, MemorySource
from tests.fakes.tiny_embedder import TinyEmbedder

CLOCK = FixedClock(datetime(2026, 6, 1, tzinfo=UTC))
WORDS = EmbeddingSettings(kind="none")


def build_settings(home: Path) -> Settings:
    return Settings(home=home, embedding=WORDS)


async def sync(product: Product, source: MemorySource) -> None:
    await prepare_index(product, NoProgress())
    await SyncRun(source, product.ingest_parts, product.state.logs).run()


async def search(product: Product, question: str, as_of: datetime | None = None) -> Retrieval:
    await require_index(product)
    return await product.retriever.search(question, PassageFilter(access=OPERATOR, as_of=as_of))


def ids(found: Retrieval) -> set[str]:
    return {str(hit.passage_id) for hit in found.hits}


async def test_before_the_first_sync_any_index_may_be_searched(tmp_path: Path) -> None:
    async with open_product(build_settings(tmp_path), CLOCK) as product:
        assert not (await search(product, "limit")).hits


async def test_another_embedder_is_refused_until_a_sync_has_built_its_index(
    tmp_path: Path,
) -> None:
    source = MemorySource({"p": MemoryPage(text="the limit is fifty 限额五十")})
    async with open_product(build_settings(tmp_path), CLOCK) as product:
        await sync(product, source)
        source.edit("p", "the limit is eighty 限额八十")
        await sync(product, source)
        now = await search(product, "limit")
        then = await search(product, "limit", as_of=START)
    async with open_product(build_settings(tmp_path), CLOCK, embedder=TinyEmbedder()) as product:
        with pytest.raises(SettingsError, match=r"'none'.*'tiny-r1-7'.*zhixing sync"):
            await search(product, "limit")
        await prepare_index(product, NoProgress())
        assert ids(await search(product, "限额")) == ids(now)
        assert ids(await search(product, "limit", as_of=START)) == ids(then)
        assert "vector" in (await search(product, "limit")).hits[0].scores
        active = await product.state.active_index.load()
        assert active == product.shape


async def test_going_back_to_a_former_index_finds_what_changed_meanwhile(tmp_path: Path) -> None:
    source = MemorySource(
        {
            "gone": MemoryPage(text="the former limit CANARY"),
            "p": MemoryPage(text="the limit is fifty"),
        }
    )
    embedders: Sequence[Embedder | None] = (None, TinyEmbedder(), None)
    for embedder in embedders:
        async with open_product(build_settings(tmp_path), CLOCK, embedder=embedder) as product:
            await sync(product, source)
            source.pages.pop("gone", None)
            source.edit("p", source.pages["p"].text + " more")
            await sync(product, source)
            found = await search(product, "limit")
            assert [hit.text for hit in found.hits] == [source.pages["p"].text]
            statistics = await product.retriever._term_index.load(["limit", "canary"])
            assert (statistics.rows, statistics.document_frequency) == (
                1,
                {"limit": 1, "canary": 0},
            )
            always = PassageFilter(access=OPERATOR, any_time=True)
            stored = await product.store.list_hits(always, limit=100)
            assert not [hit for hit in stored if "CANARY" in hit.text]


async def test_preparing_an_index_that_is_in_use_does_nothing(tmp_path: Path) -> None:
    async with open_product(build_settings(tmp_path), CLOCK) as product:
        await prepare_index(product, NoProgress())
        generation = await product.state.ledger.load_generation()
        await prepare_index(product, NoProgress())
        assert await product.state.ledger.load_generation() == generation
        assert await product.state.active_index.load() == product.shape


def test_an_index_is_named_for_a_person() -> None:
    shape = IndexShape(embedder="tiny", dimension=32, analysis="1-abc")
    assert describe(shape) == "embedder 'tiny' and word analysis '1-abc'"
