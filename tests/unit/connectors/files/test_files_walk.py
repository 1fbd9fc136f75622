import os
from pathlib import Path

import pytest

from connectors.files.walk import compile_glob, list_files
from knowledge.documents import DocumentId
from knowledge.source import Failed, ScopeListed
from tests.fakes.file_builders import write
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import SourceMaker


def walk(
    root: Path, *, include: tuple[str, ...] = ("**/*",), exclude: tuple[str, ...] = ()
) -> list[str]:
    return list(list_files(root, include, exclude).files)


def test_hidden_temporary_and_cached_entries_are_skipped(root: Path) -> None:
    write(
        root,
        {
            "a.md": "x", ".git/config": "x", ".obsidian/app.json": "x", "~$a.docx": "x",
            ".DS_Store": "x", "Thumbs.db": "x", "b.md~": "x", "c.tmp": "x",
            "node_modules/p/readme.md": "x", "d/.hidden.md": "x", "d/e.md": "x",
        },
    )  # fmt: skip
    assert walk(root) == ["a.md", "d/e.md"]


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.md", "a.md", True),
        ("*.md", "x/a.md", True),
        ("docs/**", "docs/x/a.md", True),
        ("docs/*.md", "docs/x/a.md", False),
        ("docs/*.md", "docs/a.md", True),
        ("**/draft-*", "x/draft-1.md", True),
        ("archive", "old/archive/a.md", True),
        ("[ab].txt", "c.txt", False),
        ("[!ab].txt", "c.txt", True),
        ("a?.txt", "a1.txt", True),
    ],
)
def test_globs(glob: str, path: str, *, matches: bool) -> None:
    assert bool(compile_glob(glob).fullmatch(path)) is matches


def test_include_and_exclude(root: Path) -> None:
    write(root, {"a.md": "x", "b.txt": "x", "old/c.md": "x", "new/d.md": "x"})
    assert walk(root, include=("*.md",), exclude=("old/**",)) == ["a.md", "new/d.md"]
    assert walk(root, exclude=("old", "*.txt")) == ["a.md", "new/d.md"]


async def test_links_that_leave_the_root_are_refused_and_reported(
    root: Path, open_source: SourceMaker
) -> None:
    write(root.parent, {"outside/secret.md": "secret"})
    write(root, {"a.md": "x", "hr/b.md": "y", ".hidden/c.md": "z"})
    (root / "out.md").symlink_to(root.parent / "outside" / "secret.md")
    (root / "folder").symlink_to(root.parent / "outside")
    (root / "in.md").symlink_to(root / "hr" / "b.md")
    (root / "loop").symlink_to(root)
    (root / "broken.md").symlink_to(root / "nothing")
    (root / "hidden.md").symlink_to(root / ".hidden" / "c.md")
    run = await FilesLedger().sync(open_source())
    assert sorted(run.documents) == ["notes:a.md", "notes:hr/b.md"]
    assert sorted(run.ids(Failed)) == [
        "notes:broken.md", "notes:folder", "notes:hidden.md", "notes:out.md",
    ]  # fmt: skip
    assert "leaves the folder" in run.failures[DocumentId("notes:out.md")]
    assert "hidden or excluded" in run.failures[DocumentId("notes:hidden.md")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
async def test_unreadable_folder_makes_the_listing_incomplete(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "x", "closed/b.md": "y"})
    (root / "closed").chmod(0)
    run = await FilesLedger().sync(open_source())
    (root / "closed").chmod(0o755)
    (listed,) = [one for one in run.changes if isinstance(one, ScopeListed)]
    assert "closed" in listed.error


async def test_endlessly_deep_folders_are_an_error_and_no_crash(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"/".join(["d"] * 120) + "/a.md": "x"})
    run = await FilesLedger().sync(open_source())
    (listed,) = [one for one in run.changes if isinstance(one, ScopeListed)]
    assert "folders deep" in listed.error


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
async def test_name_that_is_no_unicode_is_reported(root: Path, open_source: SourceMaker) -> None:
    try:
        (root / os.fsdecode(b"\xb4\xc5\xc5\xcc.md")).write_text("x", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    run = await FilesLedger().sync(open_source())
    (reason,) = run.failures.values()
    assert "not valid Unicode" in reason
