"""A rights run: who may read what at the source now. No text is read and nothing is re-indexed."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from core.errors import PermanentError, TransientError
from knowledge.access import AccessRule, Principal
from knowledge.directory import Directory
from knowledge.directory_import import GROUP_SOURCE
from knowledge.documents import DocumentId
from knowledge.holds import Hold
from knowledge.ingest_batch import IngestParts, change_rules
from knowledge.rights_guard import RightsVerdict, is_loosened, judge_rules
from knowledge.run_logs import RunLogs
from knowledge.run_record import CallMeter, record_run
from knowledge.runs import RunKind, StartedBy
from knowledge.source import (
    AccessChanged,
    BulkRightsSource,
    Failed,
    GroupSource,
    KnownDocument,
    ScopeListed,
    Source,
    Upserted,
)

# Rules of a listing that broke off are asked for one by one, as far as that stays cheap.
MOST_CONFIRMED = 50
RIGHTS_SCOPE = "rights:"
"""In front of a scope's name: a hold of the scope's rights, not of its documents."""
_ALARMS_KEPT = 20

_log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class RightsReport:
    """What a rights run did.

    Attributes:
        checked: Documents whose rule was asked for; a bulk listing counts those it speaks of.
        changed: Documents under another rule now.
        owed: Documents whose text has to be read again, because it joins a changed rule.
        held: Documents that keep a rule because the new one is not believed.
        groups_changed: 1 when members of groups have changed.
    """

    checked: int = 0
    changed: int = 0
    owed: int = 0
    held: int = 0
    groups_changed: int = 0
    seconds: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return all numbers by name, for the run log."""
        return {
            "checked": self.checked,
            "changed": self.changed,
            "owed": self.owed,
            "held": self.held,
            "groups_changed": self.groups_changed,
            "failed": len(self.failures),
        }


@dataclass(slots=True, kw_only=True)
class _Scope:
    """What was said of one scope's rights."""

    rules: dict[DocumentId, AccessRule] = field(default_factory=dict)
    error: str = ""


class RightsRun:
    """One run over one source. Use once."""

    def __init__(
        self,
        source: Source,
        parts: IngestParts,
        logs: RunLogs,
        *,
        directory: Directory | None = None,
        accept_closing: bool = False,
        started_by: StartedBy = StartedBy.PERSON,
    ) -> None:
        """Prepare.

        Args:
            source: Whose rights.
            parts: With a writer that is fenced by the source's lease.
            logs: Fenced alike.
            directory: Where members of the source's own groups go; None = groups are left alone.
            accept_closing: Believe that nobody may read many documents; a person has agreed.
            started_by: Who wanted it, for the history of runs.
        """
        self._source = source
        self._parts = parts
        self._logs = logs
        self._directory = directory
        self._accepts = accept_closing
        self._started_by = started_by
        self._report = RightsReport()
        self._known: dict[DocumentId, KnownDocument] = {}
        self._broken_off: list[str] = []
        self._calls = CallMeter(source)
        self._started = time.monotonic()

    async def run(self) -> RightsReport:
        """Put documents under the rules the source has now; in force as soon as this returns.

        What the source cannot tell is left as it is, recorded by id.

        Raises:
            SettingsError: The source is set up wrongly.
            TransientError: The source stopped answering, or another process has taken it over.
        """
        async with record_run(
            self._logs.runs,
            self._source.name,
            self._parts.clock,
            kind=RunKind.RIGHTS,
            started_by=self._started_by,
        ) as record:
            try:
                await self._follow()
            finally:
                self._report.seconds = time.monotonic() - self._started
                record.counts = {**self._report.counts(), **self._calls.counts()}
                record.is_partial = bool(self._report.failures)
                record.troubles = self._broken_off
        return self._report

    async def _follow(self) -> None:
        self._known = await self._parts.ledger.known_documents(self._source.name)
        await self._refresh_groups()
        if isinstance(self._source, BulkRightsSource):
            await self._follow_listing(self._source)
        else:
            await self._ask_one_by_one()

    async def _follow_listing(self, source: BulkRightsSource) -> None:
        """Take a scope's rules once its listing has ended, in whichever order scopes come."""
        scopes: defaultdict[str, _Scope] = defaultdict(_Scope)
        async for change in source.discover_access(self._known):
            match change:
                case AccessChanged():
                    self._report.checked += 1
                    scopes[change.scope].rules[change.document_id] = change.rule
                case Upserted():
                    await self._owe([change.document_id])
                case Failed():
                    self._report.failures[change.document_id] = change.reason
                case ScopeListed():
                    ended = scopes.pop(change.scope, _Scope())
                    ended.error = change.error
                    await self._end_scope(change.scope, ended, is_whole=change.is_whole)
        for name, scope in scopes.items():
            # A source with a single scope may leave out its end.
            await self._end_scope(name, scope)

    async def _ask_one_by_one(self) -> None:
        scopes: defaultdict[str, _Scope] = defaultdict(_Scope)
        async for known, rule in self._fetch_rules(self._known.values()):
            scopes[known.scope].rules[known.document_id] = rule
        for name, scope in scopes.items():
            await self._end_scope(name, scope)

    async def _fetch_rules(
        self, documents: Iterable[KnownDocument]
    ) -> AsyncIterator[tuple[KnownDocument, AccessRule]]:
        """Yield the rules the source states of single documents; what fails is recorded."""
        at_once = self._parts.ingest.concurrent_fetches
        waiting = list(documents)
        for start in range(0, len(waiting), at_once):
            some = waiting[start : start + at_once]
            found = await asyncio.gather(*(self._fetch_rule(known) for known in some))
            for known, rule in zip(some, found, strict=True):
                if rule is not None:
                    yield known, rule

    async def _fetch_rule(self, known: KnownDocument) -> AccessRule | None:
        self._report.checked += 1
        try:
            return await self._source.fetch_access(known)
        except (PermanentError, TransientError) as error:
            # A source that does not answer has not said that anybody lost a right.
            self._report.failures[known.document_id] = str(error)
            return None

    async def _end_scope(self, name: str, scope: _Scope, *, is_whole: bool = True) -> None:
        changed = {
            key: rule
            for key, rule in scope.rules.items()
            if key in self._known and self._known[key].access_id != rule.access_id
        }
        if scope.error:
            self._note_broken_off(f"listing the rights of {name!r} failed: {scope.error}")
            changed = await self._confirm(changed)
        total = sum(known.scope == name for known in self._known.values())
        verdict = judge_rules(
            name,
            changed,
            total=total,
            is_accepted=self._accepts or await self._is_accepted(name, changed),
            settings=self._parts.ingest,
        )
        await self._apply(verdict.applied)
        if is_whole and not scope.error:
            await self._keep_hold(name, verdict)
        elif verdict.held:
            # A hold is raised and ended by whoever has seen everything.
            self._alarm(verdict.reason)

    async def _confirm(
        self, rules: Mapping[DocumentId, AccessRule]
    ) -> dict[DocumentId, AccessRule]:
        """Keep of a broken-off listing what opens, and what a document by itself confirms."""
        records = await self._parts.ledger.load_documents(list(rules))
        kept, doubtful = {}, []
        for key, rule in rules.items():
            old = await self._parts.registry.get_rule(records[key].access_no)
            if is_loosened(old, rule):
                kept[key] = rule
            else:
                doubtful.append(self._known[key])
        async for known, rule in self._fetch_rules(doubtful[:MOST_CONFIRMED]):
            if rule.access_id != known.access_id:
                kept[known.document_id] = rule
        return kept

    async def _apply(self, rules: Mapping[DocumentId, AccessRule]) -> None:
        if not rules:
            return
        containing = await change_rules(self._parts, rules)
        for key, rule in rules.items():
            self._known[key] = replace(self._known[key], access_id=rule.access_id)
        self._report.changed += len(rules)
        await self._owe(containing & self._known.keys())

    async def _owe(self, ids: Collection[DocumentId]) -> None:
        """Have documents read again by the next run that reads text."""
        if ids:
            await self._parts.writer.owe_reading(list(ids))
            self._report.owed += len(ids)

    async def _is_accepted(self, scope: str, rules: Mapping[DocumentId, AccessRule]) -> bool:
        holds = await self._logs.holds.load_holds(self._source.name)
        return any(
            hold.scope == RIGHTS_SCOPE + scope
            and hold.accepted_at is not None
            and rules.keys() <= set(hold.missing)
            for hold in holds
        )

    async def _keep_hold(self, scope: str, verdict: RightsVerdict) -> None:
        holds, name = self._logs.holds, RIGHTS_SCOPE + scope
        if verdict.held:
            self._report.held += len(verdict.held)
            self._alarm(verdict.reason)
            await holds.raise_hold(
                Hold(
                    source=self._source.name,
                    scope=name,
                    raised_at=self._parts.clock.now(),
                    missing=tuple(sorted(verdict.held)),
                    reason=verdict.reason,
                )
            )
            return
        ended = [hold for hold in await holds.load_holds(self._source.name) if hold.scope == name]
        for hold in ended:
            await holds.release_hold(self._source.name, name)
            await self._parts.writer.mark_checked(hold.missing, self._parts.clock.now())

    async def _refresh_groups(self) -> None:
        if self._directory is None or not isinstance(self._source, GroupSource):
            return
        try:
            self._report.groups_changed = int(
                await refresh_groups(self._source, self._parts, self._directory)
            )
        except TransientError as error:
            self._note_broken_off(f"members of groups could not be read: {error}")

    def _note_broken_off(self, text: str) -> None:
        if len(self._broken_off) < _ALARMS_KEPT:
            self._broken_off.append(text)
        self._alarm(text)

    def _alarm(self, text: str) -> None:
        _log.warning("rights_alarm", source=self._source.name, reason=text)
        if len(self._report.alarms) < _ALARMS_KEPT:
            self._report.alarms.append(text)


async def refresh_groups(source: GroupSource, parts: IngestParts, directory: Directory) -> bool:
    """Give the groups that rules name the members they have at the source now.

    Returns:
        Whether any membership has changed; in force at once, nothing is re-indexed.

    Raises:
        TransientError: The source did not answer.
    """
    if source.group_source == GROUP_SOURCE:
        # These were imported with the people; the source only names them in its rules.
        return False
    began, start = parts.clock.now(), f"group:{source.group_source}/"
    named = await parts.registry.load_principals()
    ids = _cut_prefix(named, start)
    if not ids:
        return False
    return await directory.replace_groups(await source.fetch_groups(ids), checked_at=began)


def _cut_prefix(principals: Iterable[Principal], start: str) -> Sequence[str]:
    return sorted(one.removeprefix(start) for one in principals if one.startswith(start))
