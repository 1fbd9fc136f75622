"""A corpus as a source, so that the product's own ingestion builds the index that is measured."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime

from core.errors import ResourceGoneError
from evaluation.datasets import CorpusId, CorpusItem, Dataset
from knowledge.access import EVERYBODY, AccessRule
from knowledge.documents import BodyPart, Content, Document, DocumentId, Status, Version
from knowledge.source import (
    Change,
    Checkpoint,
    Cursor,
    Head,
    KnownDocument,
    ScopeListed,
    Unchanged,
    Upserted,
)

SOURCE_NAME = "eval"
SCOPE = "corpus"
# A corpus has no history; its text has been in force for as long as a question may ask about.
WRITTEN_AT = datetime(2000, 1, 1, tzinfo=UTC)


def build_document_id(corpus_id: CorpusId) -> DocumentId:
    """Return the id under which a corpus item is indexed."""
    return DocumentId(f"{SOURCE_NAME}:{corpus_id}")


def parse_corpus_id(document_id: DocumentId) -> CorpusId:
    """Return the corpus item that a document was made from."""
    return CorpusId(document_id.removeprefix(f"{SOURCE_NAME}:"))


def build_document(item: CorpusItem, token: str) -> Document:
    """Turn a corpus item into a document that everybody may read."""
    return Document(
        document_id=build_document_id(item.corpus_id),
        source=SOURCE_NAME,
        scope=SCOPE,
        locator=item.corpus_id,
        url=f"{SOURCE_NAME}://{item.corpus_id}",
        content=Content(
            title=item.title,
            parts=(BodyPart(markdown=item.text),),
            version=Version(number=1, at=WRITTEN_AT),
        ),
        access=EVERYBODY,
        token=token,
        content_hash=token,
        labels=build_labels(item.meta),
    )


def build_labels(meta: Mapping[str, object]) -> tuple[str, ...]:
    """Return the labels of an item: its `labels` as they are, other short facts as `key=value`.

    Facts carry their key so that a language code or a part's name is never taken for a label that
    a person chose.
    """
    chosen = meta.get("labels")
    labels = [str(label) for label in chosen] if isinstance(chosen, list) else []
    facts = [
        f"{key}={value}"
        for key, value in sorted(meta.items())
        if key != "labels" and isinstance(value, str | int | float)
    ]
    return (*labels, *facts)


class DatasetSource:
    """The corpus of a data set, listed whole at every run."""

    def __init__(self, dataset: Dataset) -> None:
        self._items = {build_document_id(item.corpus_id): item for item in dataset.corpus}
        self._token = dataset.content_hash

    @property
    def name(self) -> str:
        """The source's name, first part of its document ids."""
        return SOURCE_NAME

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        """Yield every item in the corpus' order, then the end of the only scope."""
        for document_id, item in self._items.items():
            held = known.get(document_id)
            if held is not None and held.token == self._token:
                yield Unchanged(document_id=document_id, scope=SCOPE)
            else:
                yield Upserted(document_id=document_id, scope=SCOPE, locator=item.corpus_id)
        yield ScopeListed(scope=SCOPE)
        yield Checkpoint(cursor=cursor)

    async def fetch(self, change: Upserted) -> Document:
        """Return the item as a document."""
        return build_document(self._get_item(change.document_id), self._token)

    async def head(self, known: KnownDocument) -> Head:
        """Return the item's token; a corpus holds nothing archived."""
        self._get_item(known.document_id)
        return Head(document_id=known.document_id, token=self._token, status=Status.CURRENT)

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return the rule of the item: everybody."""
        self._get_item(known.document_id)
        return EVERYBODY

    async def close(self) -> None:
        """Nothing is held."""

    def _get_item(self, document_id: DocumentId) -> CorpusItem:
        try:
            return self._items[document_id]
        except KeyError as error:
            raise ResourceGoneError(
                f"the corpus holds no item for document {document_id!r}; build its index anew"
            ) from error
