"""Members of sources' own groups, asked for again before somebody is answered on their strength."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from core.clock import Clock
from core.errors import ZhixingError
from core.settings import DirectorySettings
from knowledge.access import Principal
from knowledge.directory import Directory
from knowledge.people import Group, PersonId
from knowledge.source import GroupSource

# A source that did not answer is left alone for so long, so that not every question waits for it.
RETRY_AFTER = timedelta(seconds=10)

_Asked = tuple[str, PersonId]
"""A source, and whose groups it was asked for."""

_log = structlog.get_logger(__name__)


class Opened(Protocol):
    """A source, or something else that may know groups of its own (`GroupSource`)."""

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A source that was opened for its groups; None = it turned out to have none of its own."""

    source: Opened
    groups: GroupSource | None


class Memberships:
    """Keeps memberships fresh enough to answer by.

    Only groups that the people in question are in are asked for, and which ones the asker is in
    by now: who was taken out of a group, and an asker who was added to one, is noticed before the
    answer; other listeners who were added, with the next rights run. One refresh of a source goes
    on at a time and serves whoever waits for it. Without sources that have groups of their own,
    nothing is read or asked.
    """

    def __init__(
        self,
        directory: Directory,
        *,
        clock: Clock,
        settings: DirectorySettings,
        sources: Mapping[str, Callable[[], Opened]],
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
        self._asking: dict[_Asked, asyncio.Task[frozenset[str]]] = {}
        self._asked_at: dict[_Asked, datetime] = {}

    @property
    def has_sources(self) -> bool:
        """Whether any source has groups of its own."""
        return bool(self._openers)

    async def renew(
        self, people: Collection[PersonId], *, asker: PersonId | None = None
    ) -> frozenset[Principal]:
        """Ask again for those groups of the people that were last asked for too long ago.

        Never waits longer than the settings say, whatever the source does.

        Args:
            people: Everybody who reads the reply.
            asker: Who of them asks; they may have been added to other groups meanwhile.

        Returns:
            Groups whose members nobody has confirmed for so long that no one counts as one.
        """
        if not self._openers or not people:
            return frozenset()
        old = await self._find_older(people, self._fresh_for)
        unsure = set() if asker is None else await self._find_unsure(asker)
        if not old and not unsure:
            return frozenset()
        waiting = [asyncio.ensure_future(self._refresh(name, people)) for name in old]
        # Side by side: who loses a group never waits for what somebody may have gained.
        waiting += [asyncio.ensure_future(self._refresh_gained(*one)) for one in unsure]
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
        running = [*self._running.values(), *self._asking.values()]
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

    async def _find_unsure(self, asker: PersonId) -> set[_Asked]:
        """Return the sources that may have added the asker to a group since they were asked."""
        content = (await self._directory.load()).content
        others = [
            one
            for one in content.groups
            if one.source in self._openers and asker not in one.members
        ]
        if not others:
            return set()
        checked, now = await self._directory.load_group_checks(), self._clock.now()

        def is_old(at: datetime | None) -> bool:
            return at is None or abs(now - at) > self._fresh_for

        return {
            (one.source, asker)
            for one in others
            if is_old(checked.get((one.source, one.group_id)))
            and is_old(self._asked_at.get((one.source, asker)))
        }

    async def _refresh(
        self, name: str, people: Collection[PersonId], gained: frozenset[str] = frozenset()
    ) -> None:
        """Join the refresh that is going on, then ask for what it did not bring."""
        while True:
            while task := self._running.get(name):
                await asyncio.wait({task})
            old = (await self._find_older(people, self._fresh_for)).get(name, [])
            if name not in self._running:
                break
        ids = {one.group_id for one in old} | gained
        if not ids or self._has_just_failed(name):
            return
        task = asyncio.create_task(self._fetch(name, sorted(ids)))
        self._running[name] = task
        task.add_done_callback(lambda _: self._running.pop(name, None))
        await asyncio.wait({task})

    async def _refresh_gained(self, name: str, asker: PersonId) -> None:
        """Ask for the groups that have the asker as a new member, of those that rules name."""
        key = (name, asker)
        if self._has_just_failed(name):
            return
        if key not in self._asking:
            task = asyncio.create_task(self._ask_for(name, asker))
            self._asking[key] = task
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        task = self._asking[key]
        await asyncio.wait({task})
        found = task.result()
        content = (await self._directory.load()).content
        gained = frozenset(
            one.group_id
            for one in content.groups
            if one.source == name and one.group_id in found and asker not in one.members
        )
        if gained:
            await self._refresh(name, (asker,), gained)

    async def _ask_for(self, name: str, asker: PersonId) -> frozenset[str]:
        began = self._clock.now()
        try:
            source = self._open(name)
            found = None if source is None else await source.fetch_groups_of(asker)
        except ZhixingError as error:
            # Nobody loses anything by it: who was added has to wait for the rights run.
            _log.warning("groups_of_asker_not_read", source=name, reason=str(error))
            found = None
        except Exception:  # noqa: BLE001 - as above
            _log.exception("groups_of_asker_not_read", source=name)
            found = None
        self._note_asked((name, asker), began)
        return found or frozenset()

    def _note_asked(self, key: _Asked, at: datetime) -> None:
        self._asked_at[key] = at
        old = [one for one, then in self._asked_at.items() if abs(at - then) > self._fresh_for]
        for one in old:
            del self._asked_at[one]

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
