"""The cheap change detector of a file, kept by the ledger and understood only here. Pure."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from connectors.files.walk import FoundFile

# Counted up when conversion changes so that files have to be read again.
CONVERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedState:
    """A page that another one embeds, as it was when the embedding page was read.

    Attributes:
        target: What the author wrote.
        folder: Folder of the page that says so; names are looked up from there.
        state: `describe_state` of the page found; empty when none was.
    """

    target: str
    folder: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToken:
    """What must be the same for a file to count as unchanged.

    Attributes:
        setup: `describe_setup` when the file was read.
        lacks_ocr: Some of it could not be read because OCR was missing.
        embeds: Every page embedded in it, pages embedded in those included.
    """

    size: int
    mtime_ns: int
    setup: str
    lacks_ocr: bool = False
    embeds: tuple[EmbedState, ...] = ()

    def encode(self) -> str:
        """Return the form the ledger keeps."""
        values: dict[str, object] = {"s": self.size, "m": self.mtime_ns, "c": self.setup}
        if self.lacks_ocr:
            values["o"] = 1
        if self.embeds:
            values["e"] = [[one.target, one.folder, one.state] for one in self.embeds]
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    def is_of(self, found: FoundFile) -> bool:
        """Tell whether the file still has this size and time."""
        return self.size == found.size and self.mtime_ns == found.mtime_ns


def parse_token(text: str) -> FileToken | None:
    """Return a token of ours; None for anything else, which then counts as changed."""
    try:
        values = json.loads(text)
        return FileToken(
            size=int(values["s"]),
            mtime_ns=int(values["m"]),
            setup=str(values["c"]),
            lacks_ocr=bool(values.get("o")),
            embeds=tuple(
                EmbedState(target=str(target), folder=str(folder), state=str(state))
                for target, folder, state in values.get("e", ())
            ),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def describe_setup(*settings: object) -> str:
    """Return a short form of everything beside the file that its document depends on."""
    return hashlib.sha256(repr((CONVERSION, *settings)).encode()).hexdigest()[:8]


def describe_state(found: FoundFile, access_id: str) -> str:
    """Return what of an embedded page shows in the embedding one: its text and its readers."""
    return f"{found.path}|{found.size}|{found.mtime_ns}|{access_id[:12]}"


def needs_reading(
    token: FileToken,
    *,
    setup: str,
    has_ocr: bool,
    find_state: Callable[[str, str], str],
) -> bool:
    """Tell whether something beside the file's own bytes calls for reading it again.

    Args:
        token: What the ledger has.
        setup: Today's `describe_setup`.
        has_ocr: Whether scanned pages could be read now.
        find_state: Today's state of the page a target names, seen from a folder.
    """
    if token.setup != setup or (token.lacks_ocr and has_ocr):
        return True
    return any(find_state(one.target, one.folder) != one.state for one in token.embeds)
