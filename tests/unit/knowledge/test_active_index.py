import pytest

from core.database import Database
from knowledge.active_index import ActiveIndex
from knowledge.ledger import Ledger
from knowledge.ledger_records import TermDelta
from knowledge.stores import IndexShape
from knowledge.term_statistics import TermIndex

WORDS = IndexShape(embedder="none", dimension=0, analysis="a1")
VECTORS = IndexShape(embedder="tiny", dimension=32, analysis="a1")


async def test_there_is_none_before_the_first_sync(database: Database) -> None:
    assert await ActiveIndex(database).load() is None


async def test_the_first_index_is_used_and_a_later_beginning_changes_nothing(
    database: Database,
) -> None:
    await ActiveIndex(database).begin(WORDS)
    await ActiveIndex(database).begin(VECTORS)
    assert await ActiveIndex(database).load() == WORDS


async def test_a_switch_brings_the_statistics_of_the_new_index(database: Database) -> None:
    index, terms = ActiveIndex(database), TermIndex(database)
    await index.begin(WORDS)
    await index.switch(WORDS, TermDelta.of(["alpha beta", "alpha"]))
    assert (await terms.load(["alpha"])).document_frequency == {"alpha": 2}
    await index.switch(VECTORS, TermDelta.of(["beta gamma gamma"]))
    assert await index.load() == VECTORS
    statistics = await terms.load(["alpha", "beta", "gamma"])
    assert statistics.rows == 1
    assert statistics.average_length == pytest.approx(3.0)
    assert statistics.document_frequency == {"alpha": 0, "beta": 1, "gamma": 1}


async def test_what_is_remembered_of_the_index_is_out_of_date_after_a_switch(
    database: Database,
) -> None:
    ledger, index = Ledger(database), ActiveIndex(database)
    before = await ledger.load_generation()
    await index.switch(VECTORS, TermDelta())
    assert await ledger.load_generation() > before
