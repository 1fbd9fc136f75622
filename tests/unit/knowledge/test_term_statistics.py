import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from core.database import Database
from knowledge.documents import DocumentId
from knowledge.ledger_records import TermDelta
from knowledge.ledger_writer import LedgerWriter
from knowledge.term_statistics import TermIndex

TEXTS = st.lists(st.text("abc 磁盘", max_size=8), max_size=6)


@given(TEXTS, TEXTS)
def test_delta_is_the_difference_of_what_was_counted(added: list[str], removed: list[str]) -> None:
    delta = TermDelta.of(added, removed)
    expected: Counter[str] = Counter()
    for sign, texts in ((1, added), (-1, removed)):
        for text in texts:
            expected.update(dict.fromkeys(set(text.split()), sign))
    assert delta.document_frequency == {term: n for term, n in expected.items() if n}
    assert delta.rows == len(added) - len(removed)
    assert delta.length == sum(len(t.split()) for t in added) - sum(len(t.split()) for t in removed)


async def test_statistics_follow_what_comes_and_goes(database: Database) -> None:
    writer, index = LedgerWriter(database), TermIndex(database)
    empty = await index.load(["磁盘"])
    assert (empty.rows, empty.average_length, empty.document_frequency) == (0, 0.0, {"磁盘": 0})
    await writer.commit_batch([], terms=TermDelta.of(["磁盘 磁盘 清理", "disk 磁盘"]))
    found = await index.load(["磁盘", "disk", "nowhere"])
    assert (found.rows, found.average_length) == (2, 2.5)
    assert found.document_frequency == {"磁盘": 2, "disk": 1, "nowhere": 0}
    await writer.delete_documents([DocumentId("x")], terms=TermDelta.of([], ["disk 磁盘"]))
    found = await index.load(["磁盘", "disk", "清理"])
    assert (found.rows, found.average_length) == (1, 3.0)
    assert found.document_frequency == {"磁盘": 1, "disk": 0, "清理": 1}


async def test_remembered_words_are_read_anew_when_another_process_commits(
    database: Database,
) -> None:
    index, other = TermIndex(database), LedgerWriter(database)
    await other.commit_batch([], terms=TermDelta.of(["disk"]))
    assert (await index.load(["disk"])).document_frequency == {"disk": 1}
    await other.commit_batch([], terms=TermDelta.of(["disk full"]))
    assert (await index.load(["disk", "full"])).document_frequency == {"disk": 2, "full": 1}


async def test_questions_during_a_sync_never_mix_two_states(database: Database) -> None:
    index, writer = TermIndex(database), LedgerWriter(database)

    async def ask() -> None:
        for _ in range(15):
            found = await index.load(["a", "b"])
            assert found.document_frequency == {"a": found.rows, "b": found.rows}

    async def sync() -> None:
        for _ in range(15):
            await writer.commit_batch([], terms=TermDelta.of(["a b"]))

    await asyncio.gather(ask(), sync(), ask())


async def test_many_words_are_looked_up_at_once(database: Database) -> None:
    words = [f"w{number}" for number in range(1_200)]
    await LedgerWriter(database).commit_batch([], terms=TermDelta.of([" ".join(words)]))
    found = await TermIndex(database).load([*words, *words])
    assert set(found.document_frequency.values()) == {1}
    assert len(found.document_frequency) == 1_200
