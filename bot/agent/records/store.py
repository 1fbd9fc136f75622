"""The records that may be asked about: tables with their policies, and what is known of them."""

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, Select

from bot.agent.records.catalogue import Catalogue, read_catalogue
from bot.agent.records.mentions import ValueIndex
from bot.agent.records.policy import Policies
from bot.agent.records.vocabulary import Vocabulary, load_vocabulary
from core.errors import SettingsError
from core.readonly_database import ReadOnlyDatabase
from knowledge.people import DirectorySnapshot

Labels = Mapping[str, Mapping[str, Collection[str]]]
_FRESH_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRecords:
    """Tables as they were a moment ago, and where their values are found."""

    catalogue: Catalogue
    values: ValueIndex
    read_at: float


@dataclass(kw_only=True)
class RecordStore:
    """Tables of one database.

    Attributes:
        policies: Of every table that may be asked about.
        tools: What asking about a table is called, as in `Answer.tools`.
        labels: More words for tables (under "") and columns.
        vocabulary: With the company's own words.
    """

    database: ReadOnlyDatabase
    policies: Policies
    tools: Mapping[str, str]
    labels: Labels = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=load_vocabulary)
    fresh_s: float = _FRESH_S
    timeout_s: float = 10.0
    _known: KnownRecords | None = field(default=None, init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def look(self, directory: DirectorySnapshot) -> KnownRecords:
        """Return what the tables hold, not older than `fresh_s`.

        Raises:
            ServiceUnavailableError, PermanentError: The database can't be read.
            SettingsError: A table is not there.
        """
        async with self._reading:
            known = self._known
            if known is None or time.monotonic() - known.read_at > self.fresh_s:
                known = await self._read(directory)
                self._known = known
            return known

    async def _read(self, directory: DirectorySnapshot) -> KnownRecords:
        people = [str(one) for one in directory.people]
        try:
            catalogue = await self.database.read(
                lambda connection: read_catalogue(
                    connection,
                    list(self.policies),
                    self.vocabulary,
                    people=people,
                    labels=self.labels,
                ),
                timeout_s=self.timeout_s,
            )
        except KeyError as error:
            raise SettingsError(
                f"the database of records has no table {error}; mend the skill that names it"
            ) from error
        closed = [name for name, policy in self.policies.items() if policy.own]
        return KnownRecords(
            catalogue=catalogue,
            values=ValueIndex(catalogue, closed=closed),
            read_at=time.monotonic(),
        )

    async def fetch(self, statement: "Select[Any]") -> Sequence["Row[Any]"]:
        """Run a statement; raises as `ReadOnlyDatabase.read`."""
        return await self.database.read(
            lambda connection: connection.execute(statement).all(), timeout_s=self.timeout_s
        )
