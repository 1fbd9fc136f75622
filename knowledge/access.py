"""Access rules and classes: who may read what, decided before anything is searched.

A rule is a conjunction of clauses (space AND each ancestor AND page), a clause is a set of
principals of which the reader must have one. Equal rules share one access class, and a passage
carries nothing but the number of its class.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NewType, Self

Principal = NewType("Principal", str)
"""`public`, `members`, `group:SOURCE/ID` or `user:ID`."""
AccessNo = NewType("AccessNo", int)
"""Number of an access class; later classes have larger numbers."""

_FORM = re.compile(r"public|members|group:[^/\s]+/\S.*|user:\S.*")

PUBLIC = Principal("public")
MEMBERS = Principal("members")


def is_principal(text: str) -> bool:
    """Tell whether a text has the form of a principal; nobody need go by it."""
    return _FORM.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class AccessRule:
    """A conjunction of clauses; a reader must satisfy every one.

    No clause at all would admit everybody by accident, so it is refused; a clause without
    principals admits nobody.
    """

    clauses: tuple[frozenset[Principal], ...]

    def __post_init__(self) -> None:
        if not self.clauses:
            raise ValueError("an access rule needs at least one clause; use NOBODY or EVERYBODY")

    @classmethod
    def of(cls, *clauses: Iterable[str]) -> Self:
        """Build a rule in canonical form: no duplicates, no clause that another one implies."""
        sets = {frozenset(Principal(name) for name in clause) for clause in clauses}
        minimal = [one for one in sets if not any(other < one for other in sets)]
        return cls(tuple(sorted(minimal, key=sorted)))

    def __and__(self, other: "AccessRule") -> "AccessRule":
        """Both rules must be satisfied."""
        return AccessRule.of(*self.clauses, *other.clauses)

    def admits(self, principals: frozenset[Principal]) -> bool:
        """Tell whether a reader with these principals satisfies every clause."""
        return all(clause & principals for clause in self.clauses)

    @property
    def access_id(self) -> str:
        """A hash of the canonical form; equal rules have equal ids."""
        text = "\x1e".join("\x1f".join(sorted(clause)) for clause in self.clauses)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


NOBODY = AccessRule((frozenset(),))
EVERYBODY = AccessRule.of([PUBLIC])
ALL_MEMBERS = AccessRule.of([MEMBERS])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableClasses:
    """What a search may see: the access classes a reader, or every listener, satisfies.

    Attributes:
        numbers: Readable classes.
        denied: The other known classes; `numbers` and `denied` cover 1..last_known.
        last_known: Classes above it were made meanwhile and are denied.
        is_operator: The local operator on the command line, who reads everything. No chat event
            can produce it.
    """

    numbers: frozenset[AccessNo]
    denied: frozenset[AccessNo]
    last_known: AccessNo
    is_operator: bool = False

    def admits(self, number: AccessNo) -> bool:
        """Tell whether passages of this class may be shown."""
        return self.is_operator or number in self.numbers

    @property
    def cache_key(self) -> str:
        """Equal keys see equal passages; used in the keys of answer and ranking caches."""
        if self.is_operator:
            return "operator"
        text = ",".join(str(number) for number in sorted(self.numbers))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


OPERATOR = ReadableClasses(
    numbers=frozenset(), denied=frozenset(), last_known=AccessNo(0), is_operator=True
)
NOTHING = ReadableClasses(numbers=frozenset(), denied=frozenset(), last_known=AccessNo(0))
