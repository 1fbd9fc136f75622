from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.files.source import FilesSource
from core.errors import (
    AccessDeniedError,
    ResourceGoneError,
    ServiceUnavailableError,
    SettingsError,
)
from knowledge.access import ALL_MEMBERS
from knowledge.documents import DocumentId, Status
from knowledge.source import Cursor, KnownDocument, ScopeListed, Unchanged, Upserted
from tests.fakes.file_builders import move, touch, write
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import SourceMaker

PAGE = """---
title: 磁盘清理 Disk clean-up
tags: [ops, 磁盘]
author: Li Wei
updated: 2026-10-02
version: 3
status: archived
---
# 磁盘清理 Disk clean-up

See [the other page](b.md#x).
"""


def find(changes: list[object], kind: type) -> list[object]:
    return [one for one in changes if isinstance(one, kind)]


async def test_page_becomes_document_with_all_it_says_of_itself(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"ops/disk.md": PAGE, "ops/b.md": "# B\n\ntext"})
    run = await FilesLedger().sync(open_source())
    document = run.documents[DocumentId("notes:ops/disk.md")]
    assert document.content.title == "磁盘清理 Disk clean-up"
    assert document.content.parts[0].markdown == "See [the other page](b.md#x)."
    assert document.labels == ("ops", "磁盘")
    assert document.content.version.number == 3
    assert document.content.version.label == "3"
    assert document.content.version.at == datetime(2026, 10, 2, tzinfo=UTC)
    assert document.author == document.content.version.author == "Li Wei"
    assert document.status is Status.ARCHIVED
    assert document.space == "ops"
    assert document.breadcrumbs == ("ops",)
    assert document.url == "ops/disk.md"
    assert document.access == ALL_MEMBERS
    assert [link.target for link in document.links] == ["notes:ops/b.md"]


async def test_second_run_reads_nothing(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "# A\n\nx", "b/c.txt": "text", "empty.md": ""})
    ledger = FilesLedger()
    first = await ledger.sync(open_source())
    assert sorted(first.documents) == ["notes:a.md", "notes:b/c.txt"]
    assert "empty" in first.failures[DocumentId("notes:empty.md")]
    second = await ledger.sync(open_source())
    assert second.ids(Unchanged) == ["notes:a.md", "notes:b/c.txt"]
    assert second.ids(Upserted) == ["notes:empty.md"]


async def test_touched_file_is_unchanged_and_is_not_read_again(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "# A\n\nx"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    touch(root / "a.md", 60)
    run = await ledger.sync(open_source())
    (moved,) = [one for one in run.changes if isinstance(one, Unchanged)]
    assert moved.token
    run = await ledger.sync(open_source())
    (same,) = [one for one in run.changes if isinstance(one, Unchanged)]
    assert not same.token


async def test_edit_of_equal_length_is_seen(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "# A\n\nold"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    write(root, {"a.md": "# A\n\nnew"})
    touch(root / "a.md", 1)
    run = await ledger.sync(open_source())
    assert "new" in run.documents[DocumentId("notes:a.md")].content.parts[0].markdown


async def test_changed_space_setting_reads_every_file_again(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "text"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    run = await ledger.sync(open_source(space="Operations"))
    assert run.documents[DocumentId("notes:a.md")].space == "Operations"


async def test_missing_root_is_a_setting_to_mend(root: Path, open_source: SourceMaker) -> None:
    source = open_source(root / "nowhere")
    with pytest.raises(SettingsError, match=r"does not exist.*sources\.notes\.path"):
        await FilesLedger().sync(source)


async def test_root_emptied_is_a_complete_listing(open_source: SourceMaker) -> None:
    run = await FilesLedger().sync(open_source())
    assert [one for one in run.changes if isinstance(one, ScopeListed)] == [
        ScopeListed(scope="notes")
    ]


async def test_single_file_is_a_source(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "text", "b.md": "text"})
    run = await FilesLedger().sync(open_source(root / "a.md"))
    assert list(run.documents) == ["notes:a.md"]


async def test_date_in_the_future_is_not_believed(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "---\nupdated: 2090-01-01\n---\ntext"})
    now = datetime(2080, 1, 1, tzinfo=UTC)
    run = await FilesLedger().sync(open_source(now=now))
    document = run.documents[DocumentId("notes:a.md")]
    assert document.content.version.at < now
    assert "future" in document.notes[0]


async def test_file_over_the_limit_says_which_setting_to_raise(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"big.txt": "x" * 20_000, "small.txt": "text"})
    run = await FilesLedger().sync(open_source(max_file_mb=0.01))
    assert "max_file_mb" in run.failures[DocumentId("notes:big.txt")]
    assert list(run.documents) == ["notes:small.txt"]


async def sync_one(source: FilesSource) -> KnownDocument:
    ledger = FilesLedger()
    await ledger.sync(source)
    (known,) = ledger.known.values()
    return known


async def test_head_tells_unchanged_changed_archived_and_gone(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "text"})
    known = await sync_one(open_source())
    source = open_source()
    assert (await source.head(known)).token == known.token
    touch(root / "a.md", 5)
    assert (await source.head(known)).token == known.token
    write(root, {"a.md": "---\nstatus: archived\n---\nother"})
    head = await source.head(known)
    assert head.token != known.token
    assert head.status is Status.ARCHIVED
    (root / "a.md").unlink()
    with pytest.raises(ResourceGoneError):
        await source.head(known)


async def test_vanished_share_is_not_a_deletion(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "text"})
    known = await sync_one(open_source())
    move(root, root.with_name("unmounted"))
    with pytest.raises(ServiceUnavailableError):
        await open_source().head(known)


async def test_fetch_does_not_need_a_listing_first(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "text"})
    change = Upserted(document_id=DocumentId("notes:a.md"), scope="notes", locator="a.md")
    assert (await open_source().fetch(change)).content.title == "a"


async def test_fetch_refuses_a_path_out_of_the_root(root: Path, open_source: SourceMaker) -> None:
    write(root.parent, {"secret.txt": "secret"})
    for locator in ("../secret.txt", "/etc/hostname"):
        change = Upserted(document_id=DocumentId("notes:x"), scope="notes", locator=locator)
        with pytest.raises(AccessDeniedError, match="refused"):
            await open_source().fetch(change)


async def test_listing_order_is_stable(root: Path, open_source: SourceMaker) -> None:
    write(root, {f"{name}/{n}.md": "text" for name in "cab" for n in range(3)})
    runs = [await FilesLedger().sync(open_source()) for _ in range(2)]
    assert runs[0].ids(Upserted) == runs[1].ids(Upserted)
    assert [one async for one in open_source().discover(Cursor(""), {})]
