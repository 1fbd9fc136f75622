"""E-mails drafted in a workspace, with a real mail server behind."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.agent.actions import ActionState
from playground.slack.server import SlackServer
from playground.slack.workspace import Message
from tests.fakes.mail_server import Mailbox, serve_mail
from tests.unit.bot.office import Office
from tests.unit.bot.slack.workplace import MIXED, PATIENCE_S, Workplace, open_workplace, words_of

SU_QIN = "su.qin"
TO = "su.qin@nimbus.example"
VALUES = {"to": TO, "subject": "周会改期", "body-0": "周会改到周四 10:00。"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MailRoom:
    """A workspace with the assistant in it, and the mail server it sends through."""

    place: Workplace
    mailbox: Mailbox

    async def open_form(self, person: str, words: str = "", *, channel: str = MIXED) -> Any:
        """Open the form and return it."""
        async with asyncio.timeout(PATIENCE_S):
            while await self.place.people.slash(person, channel, f"/kb email {words}") is None:
                await self.place.slack.delivery.sockets.wait_connected()
        return await self.form_of(person)

    async def form_of(self, person: str) -> Any:
        """Wait for a form and return it."""
        user = self.place.slack.workspace.find_member(person).user_id
        stacks = self.place.slack.views.stacks
        await self.place.wait_until(lambda: bool(stacks.get(user)))
        return stacks[user][-1]

    async def submit(self, person: str, values: Mapping[str, str]) -> Any:
        """Send the form and return the reply; once more when the connection went away just then."""
        async with asyncio.timeout(PATIENCE_S):
            while (reply := await self.place.people.submit(person, values)) is None:
                await self.place.slack.delivery.sockets.wait_connected()
        return reply

    async def draft(self, person: str, **values: str) -> Message:
        """Fill in the form and return the card in the person's direct message."""
        before = len(self.cards(person))
        await self.open_form(person)
        assert await self.submit(person, {**VALUES, **values}) == {}
        await self.place.wait_until(lambda: len(self.cards(person)) > before)
        return self.cards(person)[-1]

    def cards(self, person: str) -> list[Message]:
        """Return the cards somebody sees in their direct message."""
        said = self.place.people.messages("dm", viewer=person)
        return [one for one in said if one.metadata is not None and not one.ephemeral_to]

    async def press(self, person: str, card: Message, action: str) -> None:
        """Press a button; once more when the connection went away just then, as people do."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self.place.people.press(person, card, action):
                await self.place.slack.delivery.sockets.wait_connected()

    async def told(self, person: str, card: Message) -> str:
        """Wait for what only somebody sees below a card, and return it."""

        await self.place.wait_until(lambda: bool(self.whispers(person, card)))
        return words_of(self.whispers(person, card)[-1])

    def whispers(self, person: str, card: Message) -> list[Message]:
        """Return what only somebody sees where a card stands."""
        room = self.place.slack.workspace.find_room(card.channel)
        user = self.place.slack.workspace.find_member(person).user_id
        return [one for one in room.ephemeral if one.ephemeral_to == user]

    async def wait_for(self, card: Message, words: str) -> None:
        """Wait until a card says something."""
        await self.place.wait_until(lambda: words in words_of(card))

    async def states(self) -> list[ActionState]:
        """Return the states of all actions, oldest first."""
        query = "SELECT group_concat(state) FROM (SELECT state FROM pending_actions ORDER BY rowid)"
        found = await self.place.scalar(query)
        return [ActionState(one) for one in str(found or "").split(",") if one]


def buttons_of(message: Message) -> set[str]:
    """Return the ids of a message's buttons."""
    return {
        element["action_id"]
        for block in message.blocks
        if block["type"] == "actions"
        for element in block["elements"]
    }


def write_settings(office: Office, port: int, more: str = "", *, timeout_s: float = 0.5) -> None:
    """Let the office send its mail through a port."""
    office.add_settings(
        f'[mail]\nhost = "127.0.0.1"\nport = {port}\nsender = "zhixing@nimbus.example"\n'
        f'security = "none"\ntimeout_s = {timeout_s}\n{more}'
    )


@asynccontextmanager
async def open_mail_room(
    office: Office,
    *,
    slack: SlackServer | None = None,
    mailbox: Mailbox | None = None,
    more: str = "",
    **settings: Any,
) -> AsyncIterator[MailRoom]:
    """Let the assistant work, with mail, until the block ends."""
    mailbox = mailbox or Mailbox()
    async with serve_mail(mailbox) as port:
        write_settings(office, port, more)
        async with open_workplace(office, slack=slack, **settings) as place:
            yield MailRoom(place=place, mailbox=mailbox)
