"""Vectors kept between runs, so unchanged text is never embedded twice."""

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import structlog

from knowledge.embedding import Embedder, Vectors

DEFAULT_MAX_BYTES = 2 * 1024**3
Kind = Literal["passage", "query"]
_BUSY_TIMEOUT_S = 10.0
_LOOKUP_KEYS = 500  # below SQLite's limit of bound values in old builds
# Room made when the file is full, so that trimming is rare.
_TRIM_SHARE = 0.1
_log = structlog.get_logger(__name__)


class VectorCache:
    """A SQLite file of vectors by (embedder name, kind, hash of the text).

    Holds no text. Several processes may share the file. It is a cache: a damaged file is set
    aside and begun anew, and a failing read or write counts as a miss. The oldest vectors leave
    when the file passes `max_bytes`.
    """

    def __init__(self, path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection = _open(path)

    def load(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Return the vectors that are known. Blocks on disk."""
        found: dict[bytes, Vectors] = {}
        with self._lock:
            for start in range(0, len(keys), _LOOKUP_KEYS):
                part = keys[start : start + _LOOKUP_KEYS]
                marks = ",".join("?" * len(part))
                query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
                try:
                    rows = self._connection.execute(query, part).fetchall()
                except sqlite3.Error as error:
                    _log.warning("vector_cache_read_failed", reason=str(error))
                    return found
                found.update((key, np.frombuffer(vector, np.float32)) for key, vector in rows)
        return found

    def save(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Add vectors; known keys keep theirs. Blocks on disk."""
        rows = [(key, np.asarray(vector, np.float32).tobytes()) for key, vector in vectors.items()]
        with self._lock:
            try:
                with self._connection:
                    self._connection.executemany(
                        "INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows
                    )
                self._trim()
            except sqlite3.Error as error:
                _log.warning("vector_cache_write_failed", reason=str(error))

    def forget(self, keys: Sequence[bytes]) -> None:
        """Remove vectors, from the file and its log as well.

        Raises:
            sqlite3.Error: They may still be there.
        """
        with self._lock:
            with self._connection:
                self._connection.executemany(
                    "DELETE FROM vectors WHERE key = ?", [(key,) for key in keys]
                )
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        with self._lock:
            self._connection.close()

    def _trim(self) -> None:
        size, pages, free = (
            self._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_size", "page_count", "freelist_count")
        )
        used = size * (pages - free)
        if used <= self._max_bytes:
            return
        with self._connection:
            (count,) = self._connection.execute("SELECT count(*) FROM vectors").fetchone()
            kept = int(count * self._max_bytes * (1 - _TRIM_SHARE) / used)
            leaving = count - kept
            self._connection.execute(
                "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY id LIMIT ?)",
                (leaving,),
            )
        _log.info("vector_cache_trimmed", removed=leaving)


class CachedEmbedder:
    """An embedder that asks the cache first."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache

    @property
    def name(self) -> str:
        """The wrapped embedder's."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's."""
        return self._embedder.dimension

    @property
    def max_tokens(self) -> int:
        """The wrapped embedder's."""
        return self._embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count as the wrapped embedder does."""
        return self._embedder.count_tokens(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension); only texts not seen before are embedded, each once."""
        if not texts or not self.dimension:
            return await self._embedder.embed_passages(texts)
        keys = [cache_key(self.name, "passage", text) for text in texts]
        known = await asyncio.to_thread(self._cache.load, list(dict.fromkeys(keys)))
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if not self._fits(known, key)
        }
        if missing:
            fresh = await self._embedder.embed_passages(list(missing.values()))
            added = dict(zip(missing, fresh, strict=True))
            known.update(added)
            await asyncio.to_thread(self._cache.save, added)
        return np.stack([known[key] for key in keys])

    async def embed_query(self, text: str) -> Vectors:
        """Return (dimension,), from the cache when the question was asked before."""
        key = cache_key(self.name, "query", text)
        known = await asyncio.to_thread(self._cache.load, [key])
        if self._fits(known, key):
            return known[key]
        vector = await self._embedder.embed_query(text)
        await asyncio.to_thread(self._cache.save, {key: vector})
        return vector

    async def forget_passages(self, texts: Sequence[str]) -> None:
        """Remove the vectors of texts, so nothing derived from them stays."""
        keys = [cache_key(self.name, "passage", text) for text in texts]
        await asyncio.to_thread(self._cache.forget, keys)

    async def close(self) -> None:
        """Close the cache and the wrapped embedder."""
        await self._embedder.close()
        await asyncio.to_thread(self._cache.close)

    def _fits(self, known: Mapping[bytes, Vectors], key: bytes) -> bool:
        return key in known and len(known[key]) == self.dimension


def cache_key(name: str, kind: Kind, text: str) -> bytes:
    """Return the key of a vector: 32 bytes from which the text cannot be read."""
    return hashlib.sha256(f"{name}\0{kind}\0{text}".encode()).digest()


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        aside = path.with_suffix(path.suffix + ".damaged")
        path.replace(aside)
        _log.warning("vector_cache_damaged", moved_to=str(aside), reason=str(error))
        return _connect(path)


def _connect(path: Path) -> sqlite3.Connection:
    # The lock of VectorCache keeps threads apart.
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        # What is deleted is overwritten.
        connection.execute("PRAGMA secure_delete = ON").fetchone()
        with connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors "
                "(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"
            )
    except sqlite3.Error:
        connection.close()
        raise
    return connection
