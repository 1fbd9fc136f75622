"""The port that connectors fill: what a source must be able to say, and nothing of how.

A run reads `discover`, which yields changes and checkpoints in order. Ingestion fetches, converts
and stores; a source never writes anything.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import NewType, Protocol, runtime_checkable

from knowledge.access import AccessRule
from knowledge.documents import Document, DocumentId, Status
from knowledge.people import Group, PersonId

Cursor = NewType("Cursor", str)
"""Opaque to everybody but the source that made it; JSON by habit; empty at the first run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDocument:
    """What the ledger holds of a document, for the source to compare with.

    Attributes:
        access_id: Id of the document's rule; compared by sources whose rules change on their own.
    """

    document_id: DocumentId
    scope: str
    locator: str
    token: str
    content_hash: str
    access_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upserted:
    """The document is new or has changed (content, metadata, place); fetch it.

    Attributes:
        token: Its state at the source, as far as listing tells; a document that failed in the
            same state is not tried again. Empty = always try.
    """

    document_id: DocumentId
    scope: str
    locator: str
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The document was listed and is as the ledger has it.

    Attributes:
        token: Set when only the token has moved (a file touched but not edited): kept in place of
            the old one, so that the next run need not look again. Empty = the old one stays.
    """

    document_id: DocumentId
    scope: str
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A single document confirmed gone by its own id while its scope still answers."""

    document_id: DocumentId
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessChanged:
    """The rule has changed; nothing is fetched for it.

    It says nothing about the listing: the same run may yield Upserted, Unchanged or Failed for the
    same document right after it, so that a new rule holds even when fetching then fails.
    """

    document_id: DocumentId
    scope: str
    rule: AccessRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A document that could not even be listed properly; recorded by id with its reason."""

    document_id: DocumentId
    scope: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeListed:
    """A scope's full listing has ended.

    Documents of the scope that were neither Upserted nor Unchanged nor Failed in this run are
    missing; ingestion decides what to believe. With `error` set nothing is missing.

    Attributes:
        is_whole: False = only a part was looked at, and what was said so far holds at once; for
            rights alone.
    """

    scope: str
    error: str = ""
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything yielded so far may be considered done once it is stored; resume from here."""

    cursor: Cursor


Change = Upserted | Unchanged | Gone | AccessChanged | Failed | ScopeListed | Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Version and status of a document right now; `token` compares with the ledger's."""

    document_id: DocumentId
    token: str
    status: Status


class Source(Protocol):
    """A place where knowledge is kept."""

    @property
    def name(self) -> str:
        """The source's name in the settings; first part of its document ids."""
        ...

    def discover(
        self, cursor: Cursor, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[Change]:
        """Yield what has changed since the cursor, in a stable order.

        Each document at most once, save for an AccessChanged in front. A listing that fails
        part-way ends with `ScopeListed(error=)` and never looks like a shorter listing.

        Raises:
            SettingsError: The source is set up wrongly (path, credentials, names).
        """
        ...

    async def fetch(self, change: Upserted) -> Document:
        """Return the document whole.

        Raises:
            PermanentError: It cannot be read; the reason is recorded and the old version kept.
            TransientError: Worth another try later in the run or in the next one.
        """
        ...

    async def head(self, known: KnownDocument) -> Head:
        """Ask for version and status in one cheap call, for the check before posting.

        Raises:
            ResourceGoneError: The document no longer exists.
            TransientError: The source did not answer.
        """
        ...

    async def fetch_access(self, known: KnownDocument) -> AccessRule:
        """Return the document's rule as the source has it now; NOBODY when it can't be read."""
        ...

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...


@runtime_checkable
class CheckedSource(Protocol):
    """A source that can tell whether it is set up rightly."""

    async def check(self) -> str:
        """Ask for as little as shows that address, credentials and names are right.

        Returns:
            What was found, in words for `zhixing doctor`.

        Raises:
            SettingsError: What to mend.
            TransientError: The source did not answer.
        """
        ...


@runtime_checkable
class CountedSource(Protocol):
    """A source that is asked over a network, and counts how often."""

    @property
    def calls(self) -> Mapping[str, int]:
        """Calls made since it was opened, by kind; each attempt counts."""
        ...


@runtime_checkable
class BulkRightsSource(Protocol):
    """A source that can say the rights of all its documents in a few calls."""

    def discover_access(
        self, known: Mapping[DocumentId, KnownDocument]
    ) -> AsyncIterator[AccessChanged | Upserted | Failed | ScopeListed]:
        """Yield the documents whose rule is another one now; nothing else of them is read.

        Documents whose text shows another page under a new rule are Upserted, to be read again;
        what keeps a rule from being known is Failed. ScopeListed ends a scope; with an error its
        rights could not be listed and are left as they are. It says nothing of what exists: what
        the listing lacks keeps its rule, so that a mass disappearance tightens nothing.
        """
        ...


@runtime_checkable
class GroupSource(Protocol):
    """A source whose rules name groups of its own."""

    @property
    def group_source(self) -> str:
        """The SOURCE of its principals `group:SOURCE/ID`; another name when groups are shared."""
        ...

    async def fetch_groups(self, group_ids: Collection[str]) -> tuple[Group, ...]:
        """Return the groups with the members they have now, mapped to people of the directory.

        A group that no longer exists comes without members; accounts of nobody we know are left
        out.

        Raises:
            TransientError: The source did not answer; the last known members hold for a while.
        """
        ...

    async def fetch_groups_of(self, person: PersonId) -> frozenset[str] | None:
        """Return the ids of all groups somebody is in now; None = the source does not tell.

        Raises:
            TransientError: The source did not answer.
        """
        ...
