"""Members of sources' own groups, asked for again before somebody is answered on their strength."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from core.clock import Clock
from core.errors import ZhixingError
from core.settings import DirectorySettings
from knowledge.access import Principal
from knowledge.directory import Directory
from knowledge.people import Group, PersonId
from knowledge.source import GroupSource, Source

# A source that did not answer is left alone for so long, so that not every question waits for it.
RETRY_AFTER = timedelta(seconds=10)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A source that was opened for its groups; None = it turned out to have none of its own."""

    source: Source
    groups: GroupSource | None


class Memberships:
    """Keeps memberships fresh enough to answer by.

    Only groups that the people in question are in are asked for: who was taken out of one is
    noticed before the answer, who was added with the next rights run. One refresh of a source goes
    on at a time and serves whoever waits for it. Without sources that have groups of their own,
    nothing is read or asked.
    """

    def __init__(
        self,
        directory: Directory,
        *,
        clock: Clock,
        settings: DirectorySettings,
        sources: Mapping[str, Callable[[], Source]],
    ) -> None:
        """Prepare; nothing is opened before it is needed.

        Args:
            directory: Where members are kept.
            clock: What time it is.
            settings: For how long members are believed.
            sources: By the SOURCE of `group:SOURCE/ID`, what opens the source that knows them.
        """
        self._directory = directory
        self._clock = clock
        self._fresh_for = timedelta(seconds=settings.groups_fresh_s)
        self._hold_for = timedelta(seconds=settings.groups_hold_s)
        self._timeout_s = settings.groups_timeout_s
        self._openers = dict(sources)
        self._opened: dict[str, _Opened] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._failed_at: dict[str, datetime] = {}

    @property
    def has_sources(self) -> bool:
        """Whether any source has groups of its own."""
        return bool(self._openers)

    async def renew(self, people: Collection[PersonId]) -> frozenset[Principal]:
        """Ask again for those groups of the people that were last asked for too long ago.

        Never waits longer than the settings say, whatever the source does.

        Returns:
            Groups whose members nobody has confirmed for so long that no one counts as one.
        """
        if not self._openers or not people:
            return frozenset()
        old = await self._find_older(people, self._fresh_for)
        if not old:
            return frozenset()
        waiting = [asyncio.ensure_future(self._refresh(name, people)) for name in old]
        done, late = await asyncio.wait(waiting, timeout=self._timeout_s)
        for one in late:
            # It only stops waiting; the refresh itself goes on for others.
            one.cancel()
        for one in done:
            one.result()
        doubtful = await self._find_older(people, self._hold_for)
        return frozenset(one.principal for groups in doubtful.values() for one in groups)

    async def close(self) -> None:
        """Stop asking and release connections. Safe to call twice."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        opened, self._opened = self._opened, {}
        for one in opened.values():
            await one.source.close()

    async def _find_older(
        self, people: Collection[PersonId], age: timedelta
    ) -> dict[str, list[Group]]:
        """Return the people's groups, by source, that were not confirmed within the time.

        A moment in the future, of a clock that was set, is as good as none.
        """
        content = (await self._directory.load()).content
        ours = [
            one for one in content.groups if one.source in self._openers and one.members & {*people}
        ]
        if not ours:
            return {}
        checked, now = await self._directory.load_group_checks(), self._clock.now()
        found: dict[str, list[Group]] = defaultdict(list)
        for group in ours:
            at = checked.get((group.source, group.group_id))
            if at is None or abs(now - at) > age:
                found[group.source].append(group)
        return dict(found)

    async def _refresh(self, name: str, people: Collection[PersonId]) -> None:
        """Join the refresh that is going on, then ask for what it did not bring."""
        while task := self._running.get(name):
            await asyncio.wait({task})
        old = (await self._find_older(people, self._fresh_for)).get(name)
        if not old or self._has_just_failed(name) or name in self._running:
            return
        task = asyncio.create_task(self._fetch(name, [one.group_id for one in old]))
        self._running[name] = task
        task.add_done_callback(lambda _: self._running.pop(name, None))
        await asyncio.wait({task})

    def _has_just_failed(self, name: str) -> bool:
        at = self._failed_at.get(name)
        return at is not None and abs(self._clock.now() - at) < RETRY_AFTER

    async def _fetch(self, name: str, ids: Collection[str]) -> None:
        # Members are as of when they were asked for, at the latest.
        began = self._clock.now()
        try:
            source = self._open(name)
            if source is not None:
                groups = await source.fetch_groups(ids)
                await self._directory.replace_groups(groups, checked_at=began)
            self._failed_at.pop(name, None)
        except ZhixingError as error:
            self._failed_at[name] = began
            _log.warning("groups_not_refreshed", source=name, reason=str(error))
        except Exception:  # noqa: BLE001 - the last known members hold for a while
            self._failed_at[name] = began
            _log.exception("groups_not_refreshed", source=name)

    def _open(self, name: str) -> GroupSource | None:
        if name not in self._opened:
            source = self._openers[name]()
            groups = source if isinstance(source, GroupSource) else None
            self._opened[name] = _Opened(source=source, groups=groups)
        return self._opened[name].groups
