"""Who may read which access class, worked out with bits over people.

Each listener is one bit. A class has the bits of those who satisfy its rule; an audience may read
it when all of its own bits are among them.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from knowledge.access import MEMBERS, PUBLIC, AccessNo, AccessRule, Principal, ReadableClasses
from knowledge.people import Channel, DirectorySnapshot, Person, PersonId, Visibility

# Listeners without a name: a stranger satisfies what is public, an unnamed member what any member
# may read, and the bit of nobody is in no class at all.
_NOBODY, _STRANGER, _UNNAMED_MEMBER = 1 << 0, 1 << 1, 1 << 2
_FIRST_PERSON = 3
# Platforms whose rooms hold members alone unless said otherwise, and which can't list them.
_PLATFORMS_OF_MEMBERS = frozenset({"dingtalk"})
# One answer over 3,000 classes takes about 200 kB.
_ANSWERS_KEPT = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Everybody who reads what is said in a place.

    Attributes:
        has_stranger: Somebody listens of whom nothing is known.
        has_unnamed_member: Members listen, but nobody knows which.
    """

    listeners: frozenset[PersonId]
    has_stranger: bool = False
    has_unnamed_member: bool = False


def build_audience(
    channel: Channel, directory: DirectorySnapshot, *, asker: Person | None
) -> Audience:
    """Tell who listens in a channel; the asker always does, listed or not.

    Every member of the workspace can join a public channel at any time and read back, so all of
    them listen there.
    """
    listeners = channel.members | ({asker.person_id} if asker else frozenset())
    if channel.visibility is Visibility.PUBLIC:
        members = (one for one in directory.people.values() if directory.is_member(one))
        listeners |= {one.person_id for one in members}
    has_stranger = channel.has_external_member or not (
        channel.is_membership_known or channel.platform in _PLATFORMS_OF_MEMBERS
    )
    return Audience(
        listeners=listeners,
        has_stranger=has_stranger,
        has_unnamed_member=not channel.is_membership_known,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """Who listens in a channel as bits, and who of them may read nothing."""

    mask: int
    inactive: tuple[PersonId, ...]


class Readership:
    """The readers of every class under one version of the directory.

    Args:
        directory: People and groups.
        doubtful: Groups that nobody counts as a member of.
    """

    def __init__(
        self, directory: DirectorySnapshot, *, doubtful: frozenset[Principal] = frozenset()
    ) -> None:
        self.directory = directory
        self._doubtful = doubtful
        self._rules: list[tuple[AccessNo, AccessRule]] = []
        self._without: tuple[frozenset[Principal], Readership] | None = None
        self._bits = {
            person_id: 1 << index
            for index, person_id in enumerate(directory.people, start=_FIRST_PERSON)
        }
        self._holders = self._index_principals()
        self._readers: list[int] = []
        self._answers: OrderedDict[int, ReadableClasses] = OrderedDict()
        self._rooms: dict[Channel, _Room] = {}

    @property
    def last_known(self) -> AccessNo:
        """The number of the last class taken into account."""
        return AccessNo(len(self._readers))

    def covers(self, version: int, last: int) -> bool:
        """Tell whether that state of directory and classes, or a later one, is in here."""
        return self.directory.version >= version and self.last_known >= last

    def extend(self, rules: Iterable[tuple[AccessNo, AccessRule]], *, last: int) -> None:
        """Take in the classes above `last_known`; numbers up to `last` without one are denied."""
        new = list(rules)
        added = {number: self._find_readers(rule) for number, rule in new}
        self._rules += new
        self._without = None
        first = len(self._readers) + 1
        self._readers += [added.get(AccessNo(number), 0) for number in range(first, last + 1)]
        self._answers.clear()

    def without(self, doubtful: frozenset[Principal]) -> "Readership":
        """Return the readers there are when nobody counts as a member of some groups."""
        if not doubtful:
            return self
        if self._without is None or self._without[0] != doubtful:
            reduced = Readership(self.directory, doubtful=doubtful)
            reduced.extend(self._rules, last=self.last_known)
            self._without = (doubtful, reduced)
        return self._without[1]

    def readable_by(self, person: Person) -> ReadableClasses:
        """Return what a person may read, going by the directory and not by the object."""
        return self.readable_by_audience(Audience(listeners=frozenset({person.person_id})))

    def readable_by_audience(self, audience: Audience) -> ReadableClasses:
        """Return what every listener may read; nothing when one is not in the directory."""
        # All classes are readable by every one of no listeners; that must not count.
        return self._answer(self._mask_of(audience) or _NOBODY)

    def readable_in(self, channel: Channel, *, asker: Person | None) -> ReadableClasses:
        """Return what everybody who listens in a channel may read."""
        mask = self._get_room(channel).mask
        if asker is not None:
            mask |= self._bits.get(asker.person_id, _NOBODY)
        return self._answer(mask or _NOBODY)

    def inactive_in(self, channel: Channel) -> tuple[PersonId, ...]:
        """Return the channel's members who may read nothing, so that nothing is said there."""
        return self._get_room(channel).inactive

    def _get_room(self, channel: Channel) -> _Room:
        room = self._rooms.get(channel)
        if room is None:
            people = (self.directory.people.get(one) for one in channel.members)
            inactive = [one for one in people if one and not self.directory.principals_of(one)]
            room = _Room(
                mask=self._mask_of(build_audience(channel, self.directory, asker=None)),
                inactive=tuple(sorted(one.person_id for one in inactive)),
            )
            self._rooms[channel] = room
        return room

    def _mask_of(self, audience: Audience) -> int:
        mask = reduce(or_, (self._bits.get(one, _NOBODY) for one in audience.listeners), 0)
        mask |= _STRANGER if audience.has_stranger else 0
        return mask | (_UNNAMED_MEMBER if audience.has_unnamed_member else 0)

    def _answer(self, mask: int) -> ReadableClasses:
        if known := self._answers.get(mask):
            self._answers.move_to_end(mask)
            return known
        numbers = frozenset(
            AccessNo(number)
            for number, readers in enumerate(self._readers, start=1)
            if mask & ~readers == 0
        )
        answer = ReadableClasses(
            numbers=numbers,
            denied=frozenset(map(AccessNo, range(1, self.last_known + 1))) - numbers,
            last_known=self.last_known,
        )
        self._answers[mask] = answer
        if len(self._answers) > _ANSWERS_KEPT:
            self._answers.popitem(last=False)
        return answer

    def _find_readers(self, rule: AccessRule) -> int:
        clauses = (
            reduce(or_, (self._holders.get(principal, 0) for principal in clause), 0)
            for clause in rule.clauses
        )
        return reduce(and_, clauses)

    def _index_principals(self) -> dict[Principal, int]:
        holders: dict[Principal, int] = defaultdict(int)
        holders[PUBLIC] = _STRANGER | _UNNAMED_MEMBER
        holders[MEMBERS] = _UNNAMED_MEMBER
        for person_id, person in self.directory.people.items():
            for principal in self.directory.principals_of(person) - self._doubtful:
                holders[principal] |= self._bits[person_id]
        return dict(holders)
