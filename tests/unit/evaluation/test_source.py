"""A corpus as a source for ingestion."""

import pytest

from core.errors import ResourceGoneError
from evaluation.datasets import CorpusId, CorpusItem
from evaluation.source import (
    SCOPE,
    WRITTEN_AT,
    DatasetSource,
    build_document,
    build_labels,
    parse_corpus_id,
)
from knowledge.access import EVERYBODY
from knowledge.documents import DocumentId, Status
from knowledge.source import (
    Checkpoint,
    Cursor,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)
from tests.unit.evaluation.sets import ENGINES

START = Cursor("")


def build_known(name: str, token: str) -> KnownDocument:
    return KnownDocument(
        document_id=DocumentId(name), scope=SCOPE, locator="", token=token, content_hash=""
    )


async def test_every_item_is_listed_then_fetched_whole() -> None:
    source = DatasetSource(ENGINES)
    changes = [change async for change in source.discover(START, {})]
    upserts = [change for change in changes if isinstance(change, Upserted)]
    assert [change.document_id for change in upserts] == ["eval:e1", "eval:e2", "eval:e3"]
    assert changes[-2:] == [ScopeListed(scope=SCOPE), Checkpoint(cursor=START)]
    document = await source.fetch(upserts[0])
    assert document.content.parts[0].markdown == "the diesel engine needs oil every month"
    assert document.content.version.at == WRITTEN_AT
    assert document.access == EVERYBODY
    assert parse_corpus_id(document.document_id) == "e1"
    await source.close()


async def test_an_item_that_is_known_is_not_fetched_again() -> None:
    source = DatasetSource(ENGINES)
    known = {
        DocumentId("eval:e1"): build_known("eval:e1", ENGINES.content_hash),
        DocumentId("eval:e2"): build_known("eval:e2", "of another corpus"),
    }
    changes = [change async for change in source.discover(START, known)]
    assert isinstance(changes[0], Unchanged)
    assert isinstance(changes[1], Upserted)


async def test_head_and_rule_are_those_of_the_corpus() -> None:
    source = DatasetSource(ENGINES)
    head = await source.head(build_known("eval:e1", ""))
    assert (head.token, head.status) == (ENGINES.content_hash, Status.CURRENT)
    assert await source.fetch_access(build_known("eval:e1", "")) == EVERYBODY
    assert source.name == "eval"
    with pytest.raises(ResourceGoneError, match="eval:z9"):
        await source.head(build_known("eval:z9", ""))


def test_labels_keep_their_key_unless_a_person_chose_them() -> None:
    meta = {"lang": "zh", "n": 3, "labels": ["disk", "ops"], "steps": [1, 2]}
    assert build_labels(meta) == ("disk", "ops", "lang=zh", "n=3")
    item = CorpusItem(corpus_id=CorpusId("x"), title="T", text="t", meta=meta)
    assert build_document(item, "token").labels == build_labels(meta)
