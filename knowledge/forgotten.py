"""What was forgotten on purpose, so that no later sync brings it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.engine import Connection

from core.database import Database
from core.tables import insert_into
from knowledge.documents import Content, Document, DocumentId
from knowledge.ledger_tables import forgotten_versions

WHOLE_PAGE = 0
"""Number that stands for a page with all its versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """A version, or a whole page, that must not come back.

    Attributes:
        number: `WHOLE_PAGE` for the page as it was, with everything before.
        at: When that version had come into force at the source; of a page, its last one.
        state: Of a page, what it was like at its source (`describe_state`).
    """

    document_id: DocumentId
    number: int
    at: datetime
    forgotten_at: datetime
    state: str = ""


class ForgottenLog:
    """Keeps what was forgotten: numbers and moments, never a word of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> dict[DocumentId, list[Forgotten]]:
        """Return everything that was forgotten, by document."""
        query = select(forgotten_versions).order_by(forgotten_versions.c.document_id)

        def load(connection: Connection) -> dict[DocumentId, list[Forgotten]]:
            found: dict[DocumentId, list[Forgotten]] = {}
            for row in connection.execute(query).mappings():
                one = Forgotten(**row)
                found.setdefault(one.document_id, []).append(one)
            return found

        return await self._database.read(load)


def save_forgotten(connection: Connection, forgotten: Sequence[Forgotten]) -> None:
    """Note down what is forgotten, inside the transaction that removes it."""
    for one in forgotten:
        values = {"at": one.at, "forgotten_at": one.forgotten_at, "state": one.state}
        statement = insert_into(connection, forgotten_versions)
        connection.execute(
            statement.values(
                document_id=one.document_id, number=one.number, **values
            ).on_conflict_do_update(index_elements=["document_id", "number"], set_=values)
        )


def leave_out_forgotten(
    document: Document, forgotten: Mapping[DocumentId, Sequence[Forgotten]]
) -> Document | None:
    """Return a fetched document without its forgotten versions. Pure.

    None = the whole page was forgotten and has not changed at its source since.
    """
    ours = forgotten.get(document.document_id, ())
    page = next((one for one in ours if one.number == WHOLE_PAGE), None)
    if page is not None and _is_unchanged(document, page.state):
        return None
    versions = [one for one in ours if one.number != WHOLE_PAGE]
    numbers = {one.number for one in versions}
    # A source may have numbered anew since.
    moments = {one.at for one in versions}

    def is_kept(content: Content) -> bool:
        version = content.version
        is_forgotten = version.number in numbers or version.at in moments
        return not is_forgotten and (page is None or version.at > page.at)

    kept = tuple(one for one in document.history if is_kept(one))
    return document if kept == document.history else replace(document, history=kept)


def describe_state(*, content_hash: str, number: int, token: str) -> str:
    """Return what tells one state of a page's text from a later one.

    Args:
        content_hash: Of the source's bytes; empty when it gives none.
        number: The version's.
        token: Changes with metadata too, so it decides only where nothing else does.
    """
    return f"hash {content_hash}" if content_hash else f"version {number} {token}"


def _is_unchanged(document: Document, state: str) -> bool:
    kind, _, rest = state.partition(" ")
    if kind == "hash":
        return rest == document.content_hash
    number, _, token = rest.partition(" ")
    # A number of our own says nothing of a source that does not count.
    counted = document.content.version.number
    return counted <= int(number) if counted else token == document.token
