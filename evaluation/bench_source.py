"""Generated pages as a source, and an embedder whose vectors cost nothing."""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from core.errors import ResourceGoneError
from evaluation.synthetic import SyntheticPage, build_page
from knowledge.access import EVERYBODY, AccessRule
from knowledge.documents import BodyPart, Content, Document, DocumentId, Status, Version
from knowledge.embedding import Embedder, Vectors
from knowledge.embedding.vectors import normalise_rows
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

SOURCE_NAME = "bench"
SCOPE = "pages"
TOPICS = 200
"""Seeded vectors gather around this many centres, as those of real text do around subjects."""
TOPIC_SHARE = 0.8
WRITTEN_AT = datetime(2026, 1, 1, tzinfo=UTC)


class SyntheticSource:
    """The first `count` generated pages."""

    def __init__(self, seed: int, count: int) -> None:
        self._seed = seed
        self._count = count

    @property
    def name(self) -> str:
        """The source's name."""
        return SOURCE_NAME

    async def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        """Yield pages by number."""
        for number in range(self._count):
            document_id = build_page_id(number)
            if document_id in known:
                yield Unchanged(document_id=document_id, scope=SCOPE)
            else:
                yield Upserted(document_id=document_id, scope=SCOPE, locator=str(number))
        yield ScopeListed(scope=SCOPE)
        yield Checkpoint(cursor=cursor)

    async def fetch(self, change: Upserted) -> Document:
        """Write the page."""
        return build_page_document(build_page(self._seed, int(change.locator)))

    async def head(self, known: KnownDocument) -> Head:
        """Return the page's head; generated pages never change."""
        self._check(known)
        return Head(document_id=known.document_id, token=known.token, status=Status.CURRENT)

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return the rule of every page: everybody."""
        self._check(known)
        return EVERYBODY

    async def close(self) -> None:
        """Nothing is held."""

    def _check(self, known: KnownDocument) -> None:
        if int(known.locator) >= self._count:
            raise ResourceGoneError(
                f"page {known.document_id!r} is not among the {self._count} generated ones"
            )


def build_page_id(number: int) -> DocumentId:
    """Return the document id of a generated page."""
    return DocumentId(f"{SOURCE_NAME}:{number}")


def build_page_document(page: SyntheticPage) -> Document:
    """Turn a generated page into a document."""
    return Document(
        document_id=build_page_id(page.number),
        source=SOURCE_NAME,
        scope=SCOPE,
        locator=str(page.number),
        url=f"{SOURCE_NAME}://{page.number}",
        content=Content(
            title=page.title,
            parts=(BodyPart(markdown=page.markdown),),
            version=Version(number=1, at=WRITTEN_AT),
        ),
        access=EVERYBODY,
        token="1",  # noqa: S106  # a version, not a secret
        content_hash=hashlib.sha256(page.markdown.encode()).hexdigest(),
    )


class SeededEmbedder:
    """Passages get seeded vectors, questions are read by a real embedder, so its time counts.

    A question's vector is that of a random topic with the real vector mixed in: it lies among
    the passages, as a real question's does.
    """

    def __init__(self, embedder: Embedder, *, seed: int) -> None:
        self._embedder = embedder
        self._seed = seed
        random = np.random.default_rng(seed)
        self._topics = normalise_rows(
            random.standard_normal((TOPICS, embedder.dimension), dtype=np.float32)
        )

    @property
    def name(self) -> str:
        """Seed and length of the vectors."""
        return f"seeded-{self._seed}-{self.dimension}"

    @property
    def dimension(self) -> int:
        """The real embedder's."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """The real embedder's."""
        return self._embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count as the real embedder does."""
        return self._embedder.count_tokens(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors that depend on the text and the seed alone."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._mix(texts, np.stack([self._draw(text) for text in texts]))

    async def embed_query(self, text: str) -> Vectors:
        """Read the question for real, then move it to a topic."""
        real = await self._embedder.embed_query(text)
        vector: Vectors = self._mix([text], real[None, :])[0]
        return vector

    async def close(self) -> None:
        """Close the real embedder."""
        await self._embedder.close()

    def _mix(self, texts: Sequence[str], directions: Vectors) -> Vectors:
        topics = self._topics[[_hash(text, self._seed) % TOPICS for text in texts]]
        return normalise_rows(TOPIC_SHARE * topics + (1 - TOPIC_SHARE) * normalise_rows(directions))

    def _draw(self, text: str) -> Vectors:
        random = np.random.default_rng(_hash(text, self._seed))
        return random.standard_normal(self.dimension, dtype=np.float32)


def _hash(text: str, seed: int) -> int:
    digest = hashlib.blake2b(text.encode(), digest_size=8, salt=seed.to_bytes(8, "big")).digest()
    return int.from_bytes(digest, "big")
