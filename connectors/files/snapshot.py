"""A root at one moment: its files, whose documents they are, and who may read them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from connectors.files.access_file import FolderRules
from connectors.files.embeds import EmbeddedPage
from connectors.files.file_token import describe_state, needs_reading, parse_token
from connectors.files.identity import identify
from connectors.files.reading import hash_bytes, read_file
from connectors.files.text import decode_text
from connectors.files.vault import VaultIndex, is_page
from connectors.files.walk import FoundFile, Listing
from core.errors import PermanentError, TransientError
from knowledge.access import AccessRule
from knowledge.documents import DocumentId
from knowledge.source import KnownDocument


class Verdict(Enum):
    """What the listing alone tells of a file."""

    SAME = auto()
    TOUCHED = auto()
    """Its time has moved; only its bytes tell whether it has changed."""
    CHANGED = auto()


@dataclass(slots=True)
class Snapshot:
    """Answers questions about one listing; reads files but changes nothing.

    Attributes:
        ids: Document id by path, for every listed file.
        known: What the ledger holds of the file at a path.
        hashes: Content hashes worked out on the way, by path.
    """

    root: Path
    listing: Listing
    rules: FolderRules
    max_bytes: int
    ids: dict[str, DocumentId] = field(default_factory=dict)
    known: dict[str, KnownDocument] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    index: VaultIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = VaultIndex(self.listing.files)

    def identify(self, source: str, known: Iterable[KnownDocument]) -> None:
        """Find out which document each file is."""
        found = identify(
            source,
            self.listing.files,
            known,
            find_hash=self.find_hash,
            find_access_id=lambda file: self.get_rule(file).access_id,
        )
        self.ids, self.known, self.hashes = found.ids, found.known, found.hashes

    def get_rule(self, found: FoundFile) -> AccessRule:
        """Return who may read a file."""
        return self.rules.get_rule(found.folder)

    def find_hash(self, found: FoundFile) -> str:
        """Return a file's content hash; empty when it can't be read."""
        try:
            return hash_bytes(read_file(self.root, found.path, max_bytes=self.max_bytes)[1])
        except (PermanentError, TransientError):
            return ""

    def judge(self, path: str, *, setup: str, has_ocr: bool) -> Verdict:
        """Compare a file with what the ledger holds, without reading it."""
        known = self.known.get(path)
        token = parse_token(known.token) if known else None
        if known is None or token is None or known.locator != path:
            return Verdict.CHANGED
        if needs_reading(token, setup=setup, has_ocr=has_ocr, find_state=self.find_state):
            return Verdict.CHANGED
        found = self.listing.files[path]
        if token.is_of(found):
            return Verdict.SAME
        return Verdict.TOUCHED if token.size == found.size else Verdict.CHANGED

    def find_state(self, target: str, folder: str) -> str:
        """Return the state of the page a target names; empty when there is none."""
        path = self.index.find(target, folder) if target else None
        found = self.listing.files.get(path) if path else None
        return describe_state(found, self.get_rule(found).access_id) if found else ""

    def find_page(self, target: str, folder: str) -> EmbeddedPage | None:
        """Read the page an embed names; None when there is none or it can't be read."""
        path = self.index.find(target, folder)
        if path is None or not is_page(path):
            return None
        try:
            found, data = read_file(self.root, path, max_bytes=self.max_bytes)
            text = decode_text(data, path).text
        except (PermanentError, TransientError):
            return None
        rule = self.get_rule(found)
        return EmbeddedPage(
            path=path,
            document_id=self.ids[path],
            rule=rule,
            text=text,
            mtime_ns=found.mtime_ns,
            state=describe_state(found, rule.access_id),
        )

    def find_id(self, target: str, folder: str) -> DocumentId | None:
        """Return the document a link names; None when it names none of this root."""
        path = self.index.find(target, folder)
        return self.ids.get(path) if path else None


def select_known(scope: str, known: Mapping[DocumentId, KnownDocument]) -> dict[str, KnownDocument]:
    """Return the ledger's documents of a scope by where they were."""
    return {one.locator: one for one in known.values() if one.scope == scope}
