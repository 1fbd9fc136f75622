from pathlib import Path

import pytest

from connectors.files.file_token import FileToken, needs_reading, parse_token
from knowledge.documents import DocumentId
from knowledge.source import Unchanged, Upserted
from tests.fakes.file_builders import move, touch, write
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import SourceMaker

ID = DocumentId("notes:a.md")


async def test_renamed_file_keeps_its_document(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "# Same\n\nbytes", "other.md": "x"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    move(root / "a.md", root / "sub" / "b.md")
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == [ID]
    assert run.documents[ID].locator == "sub/b.md"
    assert run.documents[ID].breadcrumbs == ("sub",)
    again = await ledger.sync(open_source())
    assert sorted(again.ids(Unchanged)) == [ID, "notes:other.md"]


async def test_copy_is_a_new_document(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "text"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    write(root, {"b.md": "text"})
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == ["notes:b.md"]
    assert run.ids(Unchanged) == [ID]


async def test_new_file_at_the_old_path_of_a_renamed_one_gets_its_own_id(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "first"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    move(root / "a.md", root / "b.md")
    await ledger.sync(open_source())
    write(root, {"a.md": "second"})
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == ["notes:a.md~2"]
    assert ledger.known[ID].locator == "b.md"


async def test_edit_while_moving_is_followed_where_the_name_leaves_no_doubt(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "before"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    write(root, {"archive/a.md": "after the move"})
    (root / "a.md").unlink()
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == [ID]


async def test_edit_while_moving_to_other_readers_starts_a_new_document(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"hr/a.md": "secret", "hr/.access.yaml": "read: ['user:1']"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    write(root, {"open/a.md": "redacted"})
    (root / "hr" / "a.md").unlink()
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == ["notes:open/a.md"]


async def test_same_name_twice_is_too_doubtful_to_follow(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a/readme.md": "one", "b/readme.md": "two"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    (root / "a" / "readme.md").unlink()
    write(root, {"c/readme.md": "three"})
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == ["notes:c/readme.md"]


async def test_equal_files_that_both_move_keep_their_names(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"x/a.md": "same", "x/b.md": "same"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    move(root / "x", root / "y")
    await ledger.sync(open_source())
    assert ledger.known[DocumentId("notes:x/a.md")].locator == "y/a.md"
    assert ledger.known[DocumentId("notes:x/b.md")].locator == "y/b.md"


async def test_rename_with_another_time_keeps_the_document(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "text"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    move(root / "a.md", root / "b.md")
    touch(root / "b.md", 10)
    run = await ledger.sync(open_source())
    assert run.ids(Upserted) == [ID]


def test_token_calls_for_reading_when_ocr_has_come_or_settings_differ() -> None:
    token = FileToken(size=1, mtime_ns=2, setup="a", lacks_ocr=True)
    parsed = parse_token(token.encode())
    assert parsed == token

    def ask(*, setup: str, has_ocr: bool) -> bool:
        return needs_reading(token, setup=setup, has_ocr=has_ocr, find_state=lambda *_: "")

    assert not ask(setup="a", has_ocr=False)
    assert ask(setup="a", has_ocr=True)
    assert ask(setup="b", has_ocr=False)


@pytest.mark.parametrize("text", ["", "{}", "[1]", "null", '{"s":"x","m":1,"c":""}', "old token"])
def test_foreign_token_counts_as_changed(text: str) -> None:
    assert parse_token(text) is None
