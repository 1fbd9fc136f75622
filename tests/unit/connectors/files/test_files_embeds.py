from pathlib import Path

import pytest

from connectors.files.vault import VaultIndex, extract_section
from knowledge.access import AccessRule
from knowledge.documents import DocumentId
from knowledge.source import Unchanged, Upserted
from tests.fakes.file_builders import write
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import SourceMaker

A = DocumentId("notes:a.md")
HR = AccessRule.of(["group:wiki/hr"])


@pytest.fixture
def vault(root: Path) -> Path:
    write(
        root,
        {
            "a.md": "before\n\n![[Pay#Levels]]\n\nafter",
            "hr/Pay.md": "---\ntitle: Pay\n---\n# Pay\n\n## Levels\n\n10 to 20\n\n## Else\n\nx",
            "hr/.access.yaml": "read: ['group:wiki/hr']",
        },
    )
    return root


@pytest.mark.usefixtures("vault")
async def test_embedded_text_is_a_part_under_the_rights_of_its_page(
    open_source: SourceMaker,
) -> None:
    run = await FilesLedger().sync(open_source())
    before, levels, after = run.documents[A].content.parts
    assert (before.markdown, before.included_from, before.included_rule) == ("before", None, None)
    assert levels.markdown == "## Levels\n\n10 to 20"
    assert (levels.included_from, levels.included_rule) == ("notes:hr/Pay.md", HR)
    assert (after.markdown, after.included_rule) == ("after", None)


@pytest.mark.parametrize(
    "change",
    [
        {"hr/Pay.md": "# Pay\n\n## Levels\n\n30 to 40"},
        {"hr/.access.yaml": "read: ['user:1']"},
        {"hr/.access.yaml": "broken: ["},
    ],
)
async def test_change_of_the_embedded_page_reads_the_embedding_one_again(
    vault: Path, open_source: SourceMaker, change: dict[str, str | bytes]
) -> None:
    ledger = FilesLedger()
    await ledger.sync(open_source())
    assert A in (await ledger.sync(open_source())).ids(Unchanged)
    write(vault, change)
    run = await ledger.sync(open_source())
    assert A in run.ids(Upserted)


async def test_page_that_appears_later_is_embedded_then(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "x\n\n![[Later]]"})
    ledger = FilesLedger()
    first = await ledger.sync(open_source())
    assert first.documents[A].content.parts[0].markdown == "x\n\nLater"
    assert "'Later' was not found" in first.documents[A].notes[0]
    write(root, {"sub/Later.md": "here"})
    second = await ledger.sync(open_source())
    assert second.documents[A].content.parts[1].markdown == "here"


async def test_embeds_of_embeds_need_the_rights_of_every_page_on_the_way(
    root: Path, open_source: SourceMaker
) -> None:
    write(
        root,
        {
            "a.md": "![[b]]",
            "b/b.md": "b says ![[c]]",
            "b/.access.yaml": "read: ['user:1', 'user:2']",
            "c/c.md": "c says",
            "c/.access.yaml": "read: ['user:2', 'user:3']",
        },
    )
    ledger = FilesLedger()
    run = await ledger.sync(open_source())
    b, c = run.documents[A].content.parts
    assert b.included_rule == AccessRule.of(["user:1", "user:2"])
    assert c.included_rule == AccessRule.of(["user:1", "user:2"], ["user:2", "user:3"])
    assert c.included_from == "notes:c/c.md"
    write(root, {"c/c.md": "c says more"})
    assert A in (await ledger.sync(open_source())).ids(Upserted)


async def test_pages_that_embed_each_other_end(root: Path, open_source: SourceMaker) -> None:
    write(root, {"a.md": "a ![[b]]", "b.md": "b ![[a]]", "c.md": "c ![[c]]"})
    run = await FilesLedger().sync(open_source())
    assert [part.markdown for part in run.documents[A].content.parts] == ["a", "b a"]
    assert "embeds itself" in run.documents[DocumentId("notes:c.md")].notes[0]


async def test_pages_that_multiply_are_cut_off(root: Path, open_source: SourceMaker) -> None:
    pages: dict[str, str | bytes] = {f"p{n}.md": f"![[p{n + 1}]] " * 20 for n in range(5)}
    write(root, {**pages, "p5.md": "end"})
    run = await FilesLedger().sync(open_source())
    document = run.documents[DocumentId("notes:p0.md")]
    assert len(document.content.parts) < 1000
    assert any("too many" in note for note in document.notes)


async def test_pictures_and_code_are_not_embedded_as_pages(
    root: Path, open_source: SourceMaker
) -> None:
    write(root, {"a.md": "![[plan.png]] `![[b]]`\n\n```\n![[b]]\n```", "b.md": "no"})
    run = await FilesLedger().sync(open_source())
    (part,) = run.documents[A].content.parts
    assert part.markdown == "![plan.png](plan.png) `![[b]]`\n\n```\n![[b]]\n```"


async def test_version_moves_on_with_the_embedded_page(
    vault: Path, open_source: SourceMaker
) -> None:
    ledger = FilesLedger()
    first = await ledger.sync(open_source())
    write(vault, {"hr/Pay.md": "# Pay\n\n## Levels\n\n30"})
    second = await ledger.sync(open_source())
    versions = [run.documents[A].content.version.at for run in (first, second)]
    assert versions[1] > versions[0]


def test_names_are_found_as_a_reader_means_them() -> None:
    index = VaultIndex(["a/Disk.md", "b/deep/Disk.md", "b/Other.md", "Café.md", "b/x.png"])
    assert index.find("Disk", "b/deep") == "b/deep/Disk.md"
    assert index.find("Disk", "") == "a/Disk.md"
    assert index.find("deep/disk", "a") == "b/deep/Disk.md"
    assert index.find("../Other.md", "b/deep") == "b/Other.md"
    assert index.find("Cafe\u0301", "a") == "Café.md"
    assert index.find("x.png", "") == "b/x.png"
    assert index.find("My%20Page", "") is None
    assert index.find("../../etc/passwd", "a") is None


def test_sections_and_blocks_are_cut_out() -> None:
    page = (
        "# T\n\n## One\n\na\n\n### Sub\n\nb\n\n## Two: more!\n\n- item ^id1\n- other\n\npara ^id2"
    )
    assert extract_section(page, "One") == "## One\n\na\n\n### Sub\n\nb"
    assert extract_section(page, "One#Sub") == "### Sub\n\nb"
    assert extract_section(page, "two more") == "## Two: more!\n\n- item ^id1\n- other\n\npara ^id2"
    assert extract_section(page, "^id1") == "- item"
    assert extract_section(page, "^id2") == "para"
    assert extract_section(page, "nothing") is None
