"""Renders cards with the names and addresses as they are now."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.card_store import Card
from bot.agent.email_check import is_outside
from bot.agent.skills.skill_set import SkillSet
from bot.handlers.slack.card_rendering import CardView, render_card
from bot.handlers.slack.rendering import SlackMessage
from bot.handlers.slack.rights import Rights
from core.settings import MailSettings
from knowledge.people import DirectorySnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRenderer:
    """Looks up what a card has to tell beside the action itself."""

    rights: Rights
    mail: MailSettings
    skills: SkillSet

    async def render(self, card: Card) -> Sequence[SlackMessage]:
        """Return the messages of a card.

        Raises:
            TransientError: Slack does not say whose direct message it is.
        """
        directory = (await self.rights.registry.readership()).directory
        account = card.place.account
        viewer = await self.rights.identify(account) if account else None
        is_chinese, skill = card.place.language == "zh", card.action.skill
        return render_card(
            CardView(
                action=card.action,
                names={one: person.name for one, person in directory.people.items()},
                outside=[
                    value
                    for values in card.action.parameters.values()
                    for value in (values if isinstance(values, list) else [values])
                    if isinstance(value, str) and self._is_outside(value, directory)
                ],
                title=self.skills.get_title(skill, is_chinese=is_chinese),
                labels=self.skills.list_labels(skill, is_chinese=is_chinese),
                is_traceable=self.skills.is_traceable(skill),
                viewer=viewer.person_id if viewer else card.action.asker if account else "",
                language="zh" if is_chinese else "en",
            )
        )

    def _is_outside(self, value: str, directory: DirectorySnapshot) -> bool:
        """Tell whether a value is an address of somebody who is none of the company."""
        if "@" not in value or not is_outside(value, self.mail):
            return False
        person = directory.find_person(value)
        return person is None or not directory.is_member(person)
