"""The past of pages, from a real index and ledger."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.rag.answerer import Answerer
from bot.rag.page_history import StoredPageHistory
from bot.rag.question_type import analyse_question, build_search_words
from core.database import Database
from core.messages import Outcome
from knowledge.access import NOTHING, OPERATOR, ReadableClasses
from knowledge.retrieval import Retrieval
from knowledge.stores import PassageFilter
from tests.fakes.evidence import ANALYSER
from tests.fakes.memory_source import MemoryPage, MemorySource
from tests.unit.knowledge.ingesting import Workbench, open_workbench

FIRST = "# Limits\n\nThe upstream timeout of the gateway is 60 seconds.\n"
SECOND = "# Limits\n\nThe upstream timeout of the gateway is 45 seconds.\n"
THIRD = "# Limits\n\nThe upstream timeout of the gateway is 20 seconds.\n"


@pytest.fixture
async def bench(database: Database, tmp_path: Path) -> AsyncIterator[Workbench]:
    async with open_workbench(database, tmp_path) as opened:
        yield opened


@pytest.fixture
async def source(bench: Workbench) -> MemorySource:
    source = MemorySource({"limits": MemoryPage(text=FIRST, title="Limits")})
    await bench.sync(source)
    for text in (SECOND, THIRD):
        source.edit("limits", text)
        await bench.sync(source)
    return source


def open_past(bench: Workbench, access: ReadableClasses = OPERATOR) -> StoredPageHistory:
    return StoredPageHistory(store=bench.parts.store, ledger=bench.parts.ledger, access=access)


async def search(bench: Workbench, question: str) -> Retrieval:
    words = build_search_words(question, analyse_question(question))
    return await bench.retriever.search(words, PassageFilter(access=OPERATOR))


async def test_all_former_texts_of_a_page_are_read(bench: Workbench, source: MemorySource) -> None:
    rows = await open_past(bench).load_rows(source.id_of("limits"))
    assert sorted(row.text.split()[-2] for row in rows) == ["20", "45", "60"]
    assert sum(row.valid_to is None for row in rows) == 1
    versions = await open_past(bench).load_versions(source.id_of("limits"))
    assert [version.number for version in versions] == [1, 2, 3]


async def test_who_may_not_read_a_page_sees_nothing_of_its_past(
    bench: Workbench, source: MemorySource
) -> None:
    past = open_past(bench, NOTHING)
    assert list(await past.load_rows(source.id_of("limits"))) == []
    assert list(await past.load_versions(source.id_of("limits"))) == []
    assert await past.find_owner(source.id_of("limits")) == ""


async def test_former_values_are_answered_from_the_versions(
    bench: Workbench, source: MemorySource
) -> None:
    assert source.pages
    question = "What was the upstream timeout of the gateway before it was changed?"
    found = await search(bench, question)
    reply = await Answerer(ANALYSER).answer(question, found, history=open_past(bench))
    assert reply.answer.outcome is Outcome.ANSWERED
    assert "Now (v3, since 2026-01-03): The upstream timeout" in reply.answer.text
    assert "Before (v2, 2026-01-02 to 2026-01-03): The upstream timeout" in reply.answer.text
    assert "60 seconds" not in reply.answer.text
    every = "List all earlier values of the upstream timeout of the gateway."
    found = await search(bench, every)
    reply = await Answerer(ANALYSER).answer(every, found, history=open_past(bench))
    assert all(f"{value} seconds" in reply.answer.text for value in (60, 45, 20))
