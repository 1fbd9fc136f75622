"""Embedders by sentence-transformers model name or path; needs the extra `models`."""

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import SettingsError
from knowledge.embedding import Vectors
from knowledge.embedding.vectors import normalise_rows

_BATCH_TEXTS = 16
# Texts handed over at once: a question asked during a sync waits for one such slice only.
_SLICE_TEXTS = 32
_UNLIMITED_TOKENS = 8192


class LoadedModel(Protocol):
    """What is used of a `SentenceTransformer`."""

    max_seq_length: int | None
    tokenizer: Any

    def encode(
        self, sentences: list[str], *, batch_size: int, show_progress_bar: bool
    ) -> NDArray[np.float32]:
        """Return one row a text."""
        ...

    def __getitem__(self, index: int) -> object:
        """Return one of the model's modules."""
        ...


class SentenceTransformersEmbedder:
    """A model in this process, run in a worker thread, one call at a time."""

    def __init__(
        self, *, model: str, loaded: LoadedModel, query_prefix: str = "", passage_prefix: str = ""
    ) -> None:
        """Wrap a loaded `SentenceTransformer`; use `load_sentence_transformer` to get one."""
        self._loaded = loaded
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._name = _model_name(model, loaded, query_prefix, passage_prefix)
        self._dimension = len(loaded.encode(["x"], batch_size=1, show_progress_bar=False)[0])
        self._running = threading.Lock()

    @property
    def name(self) -> str:
        """Model, its revision or the fingerprint of its folder, and the prefixes' hash."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Tokens the model reads, room for the passage prefix set aside."""
        limit = self._loaded.max_seq_length or _UNLIMITED_TOKENS
        return int(limit) - self.count_tokens(self._passage_prefix) - 2

    def count_tokens(self, text: str) -> int:
        """Count by the model's own tokeniser, without special tokens."""
        return len(
            self._loaded.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        )

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension), rows in the order of the texts."""
        vectors = np.empty((len(texts), self._dimension), np.float32)
        for start in range(0, len(texts), _SLICE_TEXTS):
            part = [self._passage_prefix + text for text in texts[start : start + _SLICE_TEXTS]]
            vectors[start : start + len(part)] = await asyncio.to_thread(self._encode, part)
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        """Return (dimension,)."""
        vectors = await asyncio.to_thread(self._encode, [self._query_prefix + text])
        return vectors.reshape(self._dimension)

    async def close(self) -> None:
        """The model goes with its last reference."""

    def _encode(self, texts: list[str]) -> Vectors:
        with self._running:
            vectors = self._loaded.encode(texts, batch_size=_BATCH_TEXTS, show_progress_bar=False)
        return normalise_rows(np.asarray(vectors, np.float32))


async def load_sentence_transformer(
    model: str, *, query_prefix: str = "", passage_prefix: str = ""
) -> SentenceTransformersEmbedder:
    """Load a model by name or path.

    Raises:
        SettingsError: The extra is missing, or there is no such model.
    """
    loaded = await asyncio.to_thread(_load, model)
    return SentenceTransformersEmbedder(
        model=model, loaded=loaded, query_prefix=query_prefix, passage_prefix=passage_prefix
    )


def _load(model: str) -> LoadedModel:
    try:
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise SettingsError(
            f"embedding model {model!r} needs sentence-transformers; install zhixing[models] or "
            "set embedding.kind to 'bundled'"
        ) from error
    try:
        loaded: LoadedModel = library.SentenceTransformer(model)
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"embedding model {model!r} cannot be loaded ({error}); give a folder that holds a "
            "model, or a name that this machine can download"
        ) from error
    return loaded


def _model_name(model: str, loaded: LoadedModel, query_prefix: str, passage_prefix: str) -> str:
    path = Path(model)
    if path.is_dir():
        revision = _folder_fingerprint(path)
    else:
        config = getattr(getattr(loaded[0], "auto_model", None), "config", None)
        revision = getattr(config, "_commit_hash", None) or "unknown"
    prefixes = hashlib.sha256(f"{query_prefix}\0{passage_prefix}".encode()).hexdigest()[:8]
    return f"{path.name if path.is_dir() else model}@{revision}+{prefixes}"


def _folder_fingerprint(folder: Path) -> str:
    """Hash names, sizes and times of the model's files: weights are too large to read for this."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        status = file.stat()
        entry = f"{file.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\0"
        digest.update(entry.encode())
    return digest.hexdigest()[:16]
