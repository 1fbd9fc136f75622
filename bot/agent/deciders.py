"""Who may confirm what: the asker, or other people where a setting says so."""

from collections.abc import Callable, Mapping, Sequence

from bot.agent.actions import PendingAction
from core.errors import SettingsError
from knowledge.access import Principal
from knowledge.access_registry import AccessRegistry
from knowledge.memberships import Memberships
from knowledge.people import PersonId

MOST_DECIDERS = 20


class Deciders:
    """Resolves the people and groups of the settings, as the directory has them now.

    Args:
        registry: Knows the directory.
        memberships: Asked whether members of a source's own groups still are.
        settings: By skill, the principals that confirm instead of the asker.
        of_skill: What a skill itself says of them; the settings go before it.
    """

    def __init__(
        self,
        registry: AccessRegistry,
        memberships: Memberships,
        settings: Mapping[str, Sequence[str]],
        *,
        of_skill: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self._registry = registry
        self._memberships = memberships
        self._settings = settings
        self._of_skill = of_skill

    def needs_second_person(self, skill: str) -> bool:
        """Tell whether the asker can't confirm alone."""
        return bool(self._wanted(skill))

    async def choose(self, skill: str, asker: PersonId) -> frozenset[str]:
        """Return who may confirm what somebody asks for, by id.

        Raises:
            SettingsError: Nobody is left but the asker, or far too many are.
        """
        if not self.needs_second_person(skill):
            return frozenset({asker})
        directory = (await self._registry.readership()).directory
        wanted = self._wanted(skill)
        found = {
            person_id
            for person_id, person in directory.people.items()
            if person_id != asker and directory.principals_of(person) & wanted
        }
        if not 0 < len(found) <= MOST_DECIDERS:
            raise SettingsError(
                f"actions.deciders.{skill}, or `deciders` in its file, names {len(found)} people "
                f"besides {asker!r}; name between 1 and {MOST_DECIDERS} active people"
            )
        return frozenset(found)

    async def admits(self, action: PendingAction, person: str) -> bool:
        """Tell whether somebody who was chosen when it was drafted still may confirm it."""
        person_id = PersonId(person)
        doubtful = await self._memberships.renew({person_id})
        directory = (await self._registry.readership()).directory
        known = directory.people.get(person_id)
        principals = directory.principals_of(known) - doubtful if known else frozenset()
        if not self.needs_second_person(action.skill):
            return person == action.asker and bool(principals)
        return person != action.asker and bool(principals & self._wanted(action.skill))

    def _wanted(self, skill: str) -> frozenset[Principal]:
        named = self._settings.get(skill) or (self._of_skill(skill) if self._of_skill else ())
        return frozenset(Principal(one) for one in named)
