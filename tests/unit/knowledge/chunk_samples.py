"""Documents and a counter for the tests of chunking."""

import re
from datetime import UTC, datetime

from core.settings import ChunkSettings
from knowledge.chunking import Chunks, build_chunks
from knowledge.documents import BodyPart, Content, DocumentId, Version

_TOKEN = re.compile(r"[a-zA-Z0-9]{1,4}|[\u3400-\u9fff]|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """Count pieces of words and single Chinese characters, about as a real tokeniser does."""
    return len(_TOKEN.findall(text))


def cut(
    *parts: str | BodyPart,
    title: str = "",
    max_tokens: int = 500,
    breadcrumbs: tuple[str, ...] = (),
    passage_tokens: int = 220,
    section_tokens: int = 1200,
    overlap_share: float = 0.15,
) -> Chunks:
    """Cut a document of these parts."""
    bodies = tuple(BodyPart(markdown=part) if isinstance(part, str) else part for part in parts)
    content = Content(
        title=title,
        parts=bodies,
        version=Version(number=1, at=datetime(2026, 1, 1, tzinfo=UTC)),
    )
    return build_chunks(
        DocumentId("notes:page"),
        content,
        settings=ChunkSettings(
            passage_tokens=passage_tokens,
            section_tokens=section_tokens,
            overlap_share=overlap_share,
        ),
        count_tokens=count_tokens,
        max_tokens=max_tokens,
        breadcrumbs=breadcrumbs,
    )


def texts(chunks: Chunks) -> list[str]:
    """Return the passages' texts."""
    return [passage.text for passage in chunks.passages]


def prose(words: int, *, start: int = 0) -> str:
    """Return sentences of ten different words each."""
    numbers = range(start, start + words)
    return " ".join(
        f"{'Word' if number % 10 == 0 else 'word'}{number}{'.' if number % 10 == 9 else ''}"
        for number in numbers
    )
