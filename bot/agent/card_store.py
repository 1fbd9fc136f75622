"""The messages in which an action is shown, and which of them are out of date.

A step of an action makes its messages stale, whichever process takes it; a process that is in the
chat brings them up to date, at once or whenever it looks. That is why nothing is lost when the
process that took the step is not in the chat, dies, or is not let through.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    RowMapping,
    String,
    Table,
    select,
    update,
)
from sqlalchemy.engine import Connection

from bot.agent.action_store import Alongside, build_action, pending_actions
from bot.agent.actions import ActionId, PendingAction
from core.clock import Clock
from core.database import Database
from core.process_identity import is_dead, name_process
from core.tables import UtcDateTime, metadata

CLAIM = timedelta(minutes=5)

action_cards = Table(
    "action_cards",
    metadata,
    Column("card_id", String(64), primary_key=True),
    Column(
        "action_id", ForeignKey(pending_actions.c.action_id, ondelete="CASCADE"),
        nullable=False, index=True,
    ),
    Column("platform", String(32), nullable=False),
    Column("account", String(64), nullable=False),
    Column("channel", String(64), nullable=False),
    Column("thread", String(64), nullable=False),
    Column("language", String(8), nullable=False),
    Column("posts", JSON, nullable=False),
    Column("shown_version", Integer, nullable=False),
    Column("is_lost", Boolean, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("owner", String(255), nullable=False),
    Column("owned_until", UtcDateTime),
)  # fmt: skip
_cards = action_cards.c


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPlace:
    """Where an action is to be shown.

    Attributes:
        account: Whose direct message; empty = everybody in a channel sees it.
        channel: Empty while the direct message is not open yet.
        thread: Empty outside of threads.
        language: Of the assistant's own words.
    """

    account: str = ""
    channel: str = ""
    thread: str = ""
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An action in one place.

    Attributes:
        posts: Its messages, in order; the last has the buttons.
        tries: How often it was taken up, this time included; above 1 something may have been
            posted that is not in `posts`.
    """

    card_id: str
    place: CardPlace
    posts: tuple[str, ...]
    tries: int
    action: PendingAction


class CardStore:
    """The cards of one platform, as one process sees them."""

    def __init__(self, database: Database, clock: Clock, *, platform: str) -> None:
        self._database = database
        self._clock = clock
        self._platform = platform
        self._owner = name_process()

    def build_announcement(self, action_id: ActionId, places: Sequence[CardPlace]) -> Alongside:
        """Return what keeps, with a new action, where it is to be shown."""
        rows = [
            {
                "card_id": secrets.token_hex(16),
                "action_id": action_id,
                "platform": self._platform,
                "account": place.account,
                "channel": place.channel,
                "thread": place.thread,
                "language": place.language,
                "posts": [],
                "shown_version": 0,
                "is_lost": False,
                "tries": 0,
                "owner": "",
            }
            for place in places
        ]
        return lambda connection: _insert(connection, rows)

    async def list_places(self, action_id: ActionId) -> list[CardPlace]:
        """Return where an action is shown, for a draft that takes its place."""
        query = select(action_cards).where(
            _cards.action_id == action_id, _cards.platform == self._platform
        )
        query = query.order_by(_cards.card_id)
        return await self._database.read(
            lambda connection: [_build_place(row) for row in connection.execute(query).mappings()]
        )

    async def list_posts(self, action_id: ActionId, account: str) -> list[tuple[str, str]]:
        """Return channel and message of the cards that somebody sees in a direct message."""
        query = select(action_cards).where(
            _cards.action_id == action_id,
            _cards.platform == self._platform,
            _cards.account.in_([account, ""]),
        )
        return await self._database.read(
            lambda connection: [
                (row["channel"], row["posts"][-1])
                for row in connection.execute(query).mappings()
                if row["posts"]
            ]
        )

    async def claim_stale(self, action_id: ActionId | None = None) -> list[Card]:
        """Take up cards that don't show their action as it is now; of one action, or all.

        A card belongs to one task at a time, so that an earlier state never overwrites a later one.
        """
        return await self._database.write(
            lambda connection: self._claim_stale(connection, action_id)
        )

    async def save_posts(self, card: Card, channel: str, posts: Sequence[str]) -> None:
        """Remember the messages of a card."""
        await self._update(card, {"channel": channel, "posts": list(posts)})

    async def note_shown(self, card: Card) -> None:
        """Note that a card shows its action as it was when it was claimed, and let go of it."""
        await self._update(
            card, {"shown_version": card.action.version, "owner": "", "owned_until": None}
        )

    async def note_lost(self, card: Card) -> None:
        """Note that a card can't be shown any more where it was."""
        await self._update(card, {"is_lost": True, "owner": "", "owned_until": None})

    async def put_off(self, card: Card, *, seconds: float) -> None:
        """Let go of a card that can't be brought up to date now, for a while."""
        until = self._clock.now() + timedelta(seconds=seconds)
        await self._update(card, {"owner": "put off", "owned_until": until})

    def _claim_stale(self, connection: Connection, action_id: ActionId | None) -> list[Card]:
        now = self._clock.now()
        query = (
            select(
                action_cards,
                *(one for one in pending_actions.c if one.name != "action_id"),
            )
            .join(pending_actions, pending_actions.c.action_id == _cards.action_id)
            .where(
                _cards.platform == self._platform,
                _cards.is_lost.is_(False),
                _cards.shown_version != pending_actions.c.version,
            )
            .order_by(pending_actions.c.created_at, _cards.card_id)
            .with_for_update(of=action_cards)
        )
        if action_id is not None:
            query = query.where(_cards.action_id == action_id)
        taken = []
        for row in connection.execute(query).mappings():
            if _is_owned(row, now):
                continue
            claim = {
                "owner": self._owner,
                "owned_until": now + CLAIM,
                "tries": row["tries"] + 1,
            }
            connection.execute(
                update(action_cards).where(_cards.card_id == row["card_id"]).values(claim)
            )
            taken.append(_build_card(row))
        return taken

    async def _update(self, card: Card, values: dict[str, object]) -> None:
        statement = update(action_cards).where(
            _cards.card_id == card.card_id, _cards.owner == self._owner
        )
        await self._database.write(
            lambda connection: connection.execute(statement.values(values)).rowcount
        )


def _insert(connection: Connection, rows: Sequence[dict[str, object]]) -> None:
    if rows:
        connection.execute(action_cards.insert(), rows)


def _is_owned(row: RowMapping, now: datetime) -> bool:
    until = row["owned_until"]
    return bool(row["owner"]) and until is not None and until > now and not is_dead(row["owner"])


def _build_place(row: RowMapping) -> CardPlace:
    return CardPlace(
        account=row["account"],
        # Of a direct message the account is what counts.
        channel="" if row["account"] else row["channel"],
        thread=row["thread"],
        language=row["language"],
    )


def _build_card(row: RowMapping) -> Card:
    return Card(
        card_id=row["card_id"],
        place=CardPlace(
            account=row["account"],
            channel=row["channel"],
            thread=row["thread"],
            language=row["language"],
        ),
        posts=tuple(row["posts"]),
        tries=row["tries"] + 1,
        action=build_action(row),
    )
