"""The blocks of a page as a tree, in a form that can be kept small and compared. Pure."""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from connectors.notion.payloads import Block

RawBlock = dict[str, Any]

_CHILDREN = "~children"
_KEPT = frozenset({"id", "type", "has_children", "last_edited_time", _CHILDREN})
_SIGNED = frozenset({"file", "pdf", "image", "video", "audio"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A block with everything below it."""

    block: Block
    children: "tuple[Node, ...]" = ()

    def walk(self) -> "Iterator[Node]":
        """Yield this block and all below it, in reading order."""
        yield self
        for child in self.children:
            yield from child.walk()


def prune_block(raw: Mapping[str, Any]) -> RawBlock:
    """Keep of a block what is read of it: its place in the tree and its content."""
    kept = {key: value for key, value in raw.items() if key in _KEPT or key == raw.get("type")}
    return dict(kept)


def attach_children(raw: RawBlock, children: Sequence[RawBlock]) -> None:
    """Hang blocks below another one."""
    raw[_CHILDREN] = list(children)


def parse_nodes(raws: Sequence[RawBlock]) -> tuple[Node, ...]:
    """Return blocks as nodes."""
    return tuple(
        Node(block=Block.model_validate(raw), children=parse_nodes(raw.get(_CHILDREN, ())))
        for raw in raws
    )


def hash_content(*values: object) -> str:
    """Return a hash of JSON values that stays the same while nothing a reader sees changes.

    The signed addresses of hosted files change with every reply; only their path counts.
    """
    text = json.dumps([_without_signatures(one) for one in values], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(value: object) -> bytes:
    """Squeeze JSON that waits in memory until its page is fetched."""
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode(), 1)


def unpack(data: bytes) -> Any:  # noqa: ANN401 - JSON of whatever was packed
    """Undo `pack`."""
    return json.loads(zlib.decompress(data))


def _without_signatures(value: object) -> object:
    if isinstance(value, Mapping):
        return {
            key: _without_query(one) if _is_signed(key, one) else _without_signatures(one)
            for key, one in value.items()
            if key != "expiry_time"
        }
    if isinstance(value, list | tuple):
        return [_without_signatures(one) for one in value]
    return value


def _is_signed(key: str, value: object) -> bool:
    return key in _SIGNED and isinstance(value, Mapping) and "url" in value


def _without_query(value: object) -> object:
    url = str(value["url"]) if isinstance(value, Mapping) else ""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
