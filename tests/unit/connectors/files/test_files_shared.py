"""Runs over real files of other people, kept beside the repository where they are present."""

from pathlib import Path

import pytest

from connectors.files.converted import FileKind
from connectors.files.sniff import find_kind_by_name
from knowledge.source import ScopeListed
from tests.fakes.files_ledger import FilesLedger
from tests.unit.connectors.files.conftest import SourceMaker

SHARED = Path(__file__).parents[5] / "shared" / "data" / "files"
present = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data/files is not present")


@present
async def test_every_real_file_is_read_or_fails_with_a_reason(open_source: SourceMaker) -> None:
    names = [
        path.name
        for path in sorted(SHARED.iterdir())
        if find_kind_by_name(path.name) is not FileKind.IMAGE
    ]
    run = await FilesLedger().sync(open_source(SHARED, include=tuple(names), ocr=False))
    assert len(run.documents) + len(run.failures) == len(names)
    assert all(document.content.parts[0].markdown for document in run.documents.values())
    assert all("ocr = false" in reason for reason in run.failures.values())
    assert [one.error for one in run.changes if isinstance(one, ScopeListed)] == [""]
