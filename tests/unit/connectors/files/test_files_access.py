from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.files.access_file import AccessFileError, FolderRules, parse_access_file
from knowledge.access import ALL_MEMBERS, NOBODY, AccessRule
from knowledge.documents import DocumentId
from knowledge.source import AccessChanged, Failed, Unchanged, Upserted
from tests.fakes.file_builders import write
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import SourceMaker

HR = "read: ['group:wiki/hr']\n"


def test_folders_are_joined_from_the_root_down(root: Path) -> None:
    write(root, {".access.yaml": "read: [members]", "hr/.access.yaml": HR, "hr/pay/x.md": "x"})
    write(root, {"hr/pay/.access.yaml": "read: ['user:1', 'user:2']"})
    rules = FolderRules(root)
    assert rules.get_rule("") == ALL_MEMBERS
    assert rules.get_rule("hr") == AccessRule.of(["members"], ["group:wiki/hr"])
    assert rules.get_rule("hr/pay") == AccessRule.of(
        ["members"], ["group:wiki/hr"], ["user:1", "user:2"]
    )


def test_no_file_anywhere_means_members(root: Path) -> None:
    assert FolderRules(root).get_rule("any/where") == ALL_MEMBERS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("read: [", "YAML"),
        ("", "must hold"),
        ("- members", "must hold"),
        ("read: members", "must be a list"),
        ("read: [everyone]", "no principal"),
        ("read: [group:hr]", "no principal"),
        ("read: [7]", "no principal"),
        ("read: [members]\nwrite: [members]", "unknown key 'write'"),
        ("read: ['user:1']\nread: [public]", "twice"),
    ],
)
def test_anything_unclear_is_refused(text: str, reason: str) -> None:
    with pytest.raises(AccessFileError, match=reason):
        parse_access_file(text)


@given(st.text(max_size=60))
def test_no_text_opens_a_folder_by_accident(text: str) -> None:
    try:
        readers = parse_access_file(text)
    except AccessFileError:
        return
    assert all(one.startswith(("public", "members", "group:", "user:")) for one in readers)


async def test_broken_file_closes_its_folder_and_is_reported(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"hr/.access.yaml": "read: everybody", "hr/deep/a.md": "x", "b.md": "y"})
    run = await FilesLedger().sync(open_source())
    assert run.documents[DocumentId("notes:hr/deep/a.md")].access == NOBODY
    assert run.documents[DocumentId("notes:b.md")].access == ALL_MEMBERS
    assert run.ids(Failed) == ["notes:hr/.access.yaml"]
    assert "must be a list" in run.failures[DocumentId("notes:hr/.access.yaml")]


async def test_changed_rule_is_told_without_reading_the_file(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"hr/a.md": "x", "b.md": "y"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    write(root, {"hr/.access.yaml": HR})
    run = await ledger.sync(open_source())
    (changed,) = [one for one in run.changes if isinstance(one, AccessChanged)]
    assert changed.document_id == "notes:hr/a.md"
    assert changed.rule == AccessRule.of(["group:wiki/hr"])
    assert run.ids(Upserted) == []
    assert sorted(run.ids(Unchanged)) == ["notes:b.md", "notes:hr/a.md"]
    assert (await ledger.sync(open_source())).ids(AccessChanged) == []


async def test_new_rule_holds_even_when_the_changed_file_can_not_be_read(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"hr/a.md": "x"})
    ledger = FilesLedger()
    await ledger.sync(open_source())
    write(root, {"hr/.access.yaml": HR, "hr/a.md": b"\xff\xfe\x00\xd8broken"})
    run = await ledger.sync(open_source())
    kinds = [type(one) for one in run.changes if getattr(one, "document_id", "") == "notes:hr/a.md"]
    assert kinds == [AccessChanged, Upserted]


async def test_access_asked_for_one_document_is_that_of_now(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"hr/a.md": "x"})
    ledger = FilesLedger()
    source = open_source()
    await ledger.sync(source)
    known = ledger.known[DocumentId("notes:hr/a.md")]
    write(root, {"hr/.access.yaml": HR})
    assert await source.fetch_access(known) == AccessRule.of(["group:wiki/hr"])
    (root / "hr" / "a.md").unlink()
    assert await source.fetch_access(known) == NOBODY


def test_linked_access_file_closes_the_folder(root: Path) -> None:
    write(root.parent, {"wide.yaml": "read: [public]"})
    (root / ".access.yaml").symlink_to(root.parent / "wide.yaml")
    assert FolderRules(root).get_rule("") == NOBODY


def test_front_matter_grants_nothing(root: Path) -> None:
    write(root, {"a.md": "---\naccess: [public]\nread: [public]\n---\nx"})
    assert FolderRules(root).get_rule("") == ALL_MEMBERS


def test_rules_above_the_root_hold_for_a_part_that_is_synced_alone(tmp_path: Path) -> None:
    part = tmp_path / "top" / "middle" / "part"
    part.mkdir(parents=True)
    (tmp_path / "top" / ".access.yaml").write_text("read: [members, 'user:anna']\n")
    (tmp_path / "top" / "middle" / ".access.yaml").write_text("read: ['user:anna']\n")
    (part / ".access.yaml").write_text("read: [members]\n")
    rule = FolderRules(part).get_rule("")
    assert rule == (
        AccessRule.of(["members", "user:anna"])
        & AccessRule.of(["user:anna"])
        & AccessRule.of(["members"])
    )


def test_a_misnamed_access_file_closes_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".access.yml").write_text("read: [members]\n")
    rules = FolderRules(tmp_path)
    assert rules.get_rule("sub") == NOBODY
    assert rules.get_rule("") == ALL_MEMBERS
    assert "must be called '.access.yaml'" in rules.failures["sub/.access.yml"]


def test_a_few_lines_do_not_grow_into_millions_of_readers() -> None:
    lines = ["read:", "- &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(AccessFileError, match="aliases"):
        parse_access_file("\n".join(lines))
    with pytest.raises(AccessFileError) as refused:
        parse_access_file("read: [[" + ", ".join(["members"] * 10_000) + "]]")
    assert len(str(refused.value)) < 300
