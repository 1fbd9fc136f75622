import asyncio
import shutil
import sqlite3
import sys
from pathlib import Path

from core.database import open_database
from knowledge.documents import PassageId
from knowledge.ledger import Ledger
from knowledge.ledger_writer import LedgerWriter
from knowledge.term_statistics import TermIndex

ROOT = Path(__file__).parents[3]
DOCUMENTS_A_BATCH = 20
_COMMIT_FOR_EVER = """
import asyncio, sys
from datetime import UTC, datetime
from core.database import open_database
from knowledge.ledger_records import DocumentCommit, DocumentRecord, IndexRow, TermDelta
from knowledge.ledger_writer import LedgerWriter
from knowledge.outbox import DeletePassages
from knowledge.stores import Level

AT = datetime(2026, 1, 1, tzinfo=UTC)

def commit(name):
    document = DocumentRecord(
        document_id=name, source="files", scope="", locator="", url="", title="", token="",
        access_no=1, access_id="", version_number=1, updated_at=AT, first_seen_at=AT, checked_at=AT,
    )
    row = IndexRow(
        passage_id=name, document_id=name, key="", level=Level.PASSAGE, section_id="",
        access_no=1, valid_from=AT,
    )
    return DocumentCommit(document=document, opened=(row,))

async def main():
    writer = LedgerWriter(await open_database(sys.argv[1]))
    for number in range(10_000):
        names = [f"{number}/{one}" for one in range(int(sys.argv[2]))]
        await writer.record_intents(names)
        terms = TermDelta.of(["word " + name for name in names])
        operation = DeletePassages(passage_ids=tuple(names))
        commits = [commit(one) for one in names]
        await writer.commit_batch(commits, terms=terms, operations=[operation])
        print(number, flush=True)

asyncio.run(main())
"""


async def test_killed_commit_is_there_whole_or_not_at_all(
    tmp_path: Path, migrated_file: Path
) -> None:
    path = tmp_path / "state.sqlite3"
    shutil.copy(migrated_file, path)
    url = f"sqlite:///{path}"
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", _COMMIT_FOR_EVER, url, str(DOCUMENTS_A_BATCH)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    for _ in range(3):
        last = int(await process.stdout.readline())
    process.kill()
    await process.wait()
    database = await open_database(url)
    batches = await Ledger(database).load_generation()
    assert batches > last
    known = await Ledger(database).known_documents("files")
    assert len(known) == batches * DOCUMENTS_A_BATCH
    assert (
        await Ledger(database).check_rows([PassageId(one) for one in known])
    ).keys() == known.keys()
    terms = await TermIndex(database).load(["word"])
    assert terms.rows == terms.document_frequency["word"] == len(known)
    unfinished = await LedgerWriter(database).load_unfinished()
    assert len(unfinished.operations) == batches
    assert len(unfinished.passage_ids) in {0, DOCUMENTS_A_BATCH}
    await database.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
