"""Renders cards with the names and addresses as they are now."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.card_store import Card
from bot.agent.email_check import is_outside
from bot.handlers.slack.card_rendering import CardView, render_card
from bot.handlers.slack.rendering import SlackMessage
from bot.handlers.slack.rights import Rights
from core.settings import MailSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRenderer:
    """Looks up what a card has to tell beside the action itself."""

    rights: Rights
    mail: MailSettings

    async def render(self, card: Card) -> Sequence[SlackMessage]:
        """Return the messages of a card.

        Raises:
            TransientError: Slack does not say whose direct message it is.
        """
        directory = (await self.rights.registry.readership()).directory
        account = card.place.account
        viewer = await self.rights.identify(account) if account else None
        return render_card(
            CardView(
                action=card.action,
                names={one: person.name for one, person in directory.people.items()},
                outside=[
                    value
                    for values in card.action.parameters.values()
                    for value in (values if isinstance(values, list) else [values])
                    if isinstance(value, str) and "@" in value and is_outside(value, self.mail)
                ],
                viewer=viewer.person_id if viewer else card.action.asker if account else "",
                language="zh" if card.place.language == "zh" else "en",
            )
        )
