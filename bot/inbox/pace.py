"""How many questions may begin in a while: the others wait their turn, and very many are refused.

Turns are kept in the database, so that all processes share them.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Column, func, insert, select
from sqlalchemy.engine import Connection

from bot.inbox.tables import chat_slots

_slots = chat_slots.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is too much; 0 = no limit.

    Attributes:
        per_person, per_channel: Questions that may begin within the window.
        waiting_per_person, waiting_per_channel: Questions that may wait for their turn.
    """

    per_person: int = 0
    per_channel: int = 0
    window: timedelta = timedelta(minutes=1)
    waiting_per_person: int = 0
    waiting_per_channel: int = 0


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """When a question may begin."""

    at: datetime
    is_refused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Gives turns to the questions of one platform."""

    platform: str
    limits: Limits = NO_LIMITS

    def take_turn(
        self,
        connection: Connection,
        *,
        account: str,
        channel: str,
        now: datetime,
        may_refuse: bool = True,
    ) -> Turn:
        """Give a turn, within a transaction.

        Args:
            connection: Of the transaction.
            account: Who asks.
            channel: Where; empty where nobody else asks.
            now: When.
            may_refuse: Whether there may be too many that wait; else it waits behind them.
        """
        limits = self.limits
        bounds = [(_slots.account, account, limits.per_person, limits.waiting_per_person)]
        if channel:
            bounds.append((_slots.channel, channel, limits.per_channel, limits.waiting_per_channel))
        at = now
        for column, value, most, most_waiting in bounds:
            begins = self._find_turn(connection, column, value, most)
            if begins is None or begins <= now:
                continue
            is_full = 0 < most_waiting <= self._count_waiting(connection, column, value, now)
            if may_refuse and is_full:
                return Turn(at=now, is_refused=True)
            at = max(at, begins)
        row = {"platform": self.platform, "account": account, "channel": channel, "starts_at": at}
        connection.execute(insert(chat_slots).values(row))
        return Turn(at=at)

    def _find_turn(
        self, connection: Connection, column: Column[str], value: str, most: int
    ) -> datetime | None:
        """Return when one more may begin; None = whenever it likes."""
        if most == 0:
            return None
        # Within any window there are no more than so many: the one so many before it is over.
        query = (
            select(_slots.starts_at)
            .where(_slots.platform == self.platform, column == value)
            .order_by(_slots.starts_at.desc())
            .offset(most - 1)
            .limit(1)
        )
        earlier: datetime | None = connection.scalar(query)
        return None if earlier is None else earlier + self.limits.window

    def _count_waiting(
        self, connection: Connection, column: Column[str], value: str, now: datetime
    ) -> int:
        query = select(func.count()).where(
            _slots.platform == self.platform, column == value, _slots.starts_at > now
        )
        return connection.scalar(query) or 0
