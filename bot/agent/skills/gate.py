"""Whether somebody may use a skill, by the files and the directory as they are at that moment."""

from dataclasses import dataclass

from bot.agent.skills.skill_set import SkillSet
from knowledge.access_registry import AccessRegistry
from knowledge.memberships import Memberships
from knowledge.people import PersonId


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillGate:
    """Asked before anything is drafted and again before it is done.

    Attributes:
        memberships: Asked whether members of a source's own groups still are.
    """

    skills: SkillSet
    registry: AccessRegistry
    memberships: Memberships

    async def admits(self, skill: str, person: str) -> bool:
        """Bring the skills up to date, and tell whether this person may use one."""
        await self.skills.refresh()
        person_id = PersonId(person)
        doubtful = await self.memberships.renew({person_id})
        directory = (await self.registry.readership()).directory
        known = directory.people.get(person_id)
        principals = directory.principals_of(known) - doubtful if known else frozenset()
        return self.skills.may_use(skill, principals)
