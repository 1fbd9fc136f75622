"""Questions that people were asked to help with: who was called, and whether it is resolved."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import RowMapping, select, update
from sqlalchemy.engine import Connection

from bot.inbox.tables import chat_help_requests, chat_questions
from core.clock import Clock
from core.database import Database
from core.tables import insert_into

_requests = chat_help_requests.c


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpPost:
    """A message that calls people."""

    channel: str
    ts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpRequest:
    """A call for help.

    Attributes:
        question_id: What help is needed with; there is one call a question.
        account: Who asked for it.
        called: The accounts that were called.
        posts: What was posted.
        resolved_by: Empty = it is open.
    """

    question_id: str
    account: str
    called: tuple[str, ...]
    at: datetime
    posts: tuple[HelpPost, ...] = ()
    resolved_by: str = ""


class HelpRequests:
    """The calls of one platform's questions."""

    def __init__(self, database: Database, clock: Clock, *, platform: str, lease_s: float) -> None:
        self._database = database
        self._clock = clock
        self._platform = platform
        self._lease = timedelta(seconds=lease_s)

    async def open(
        self, question_id: str, account: str, called: Sequence[str]
    ) -> HelpRequest | None:
        """Write a call down, for this process to post; None when there is one already."""
        now = self._clock.now()
        row = {
            "question_id": question_id,
            "account": account,
            "called": list(called),
            "posts": [],
            "is_posted": False,
            "resolved_by": "",
            "at": now,
            "owned_until": now + self._lease,
        }

        def add(connection: Connection) -> bool:
            statement = insert_into(connection, chat_help_requests).values(row)
            key = [_requests.question_id]
            added = connection.execute(statement.on_conflict_do_nothing(index_elements=key))
            return added.rowcount == 1

        if not await self._database.write(add):
            return None
        return HelpRequest(question_id=question_id, account=account, called=tuple(called), at=now)

    async def find(self, question_id: str) -> HelpRequest | None:
        """Return the call for help with a question."""
        query = select(chat_help_requests).where(_requests.question_id == question_id)
        row = await self._database.read(lambda one: one.execute(query).mappings().first())
        return None if row is None else _build(row)

    async def save_posts(self, question_id: str, posts: Sequence[HelpPost]) -> None:
        """Note that everybody was called."""
        found = [[one.channel, one.ts] for one in posts]
        is_it = _requests.question_id == question_id
        statement = update(chat_help_requests).where(is_it).values(posts=found, is_posted=True)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def resolve(self, question_id: str, account: str) -> bool:
        """Mark a call as resolved; False when somebody did so before."""
        is_open = (_requests.question_id == question_id) & (_requests.resolved_by == "")
        statement = update(chat_help_requests).where(is_open).values(resolved_by=account)
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def take_unposted(self) -> list[HelpRequest]:
        """Take over calls that a process wrote down and did not post in time."""
        now = self._clock.now()

        def take(connection: Connection) -> list[HelpRequest]:
            query = (
                select(chat_help_requests)
                .join(chat_questions)
                .where(
                    chat_questions.c.platform == self._platform,
                    _requests.is_posted.is_(False),
                    _requests.owned_until <= now,
                )
                .with_for_update(of=chat_help_requests)
            )
            rows = connection.execute(query).mappings().all()
            taken = [_build(row) for row in rows]
            for request in taken:
                is_it = _requests.question_id == request.question_id
                values = {"owned_until": now + self._lease}
                connection.execute(update(chat_help_requests).where(is_it).values(values))
            return taken

        return await self._database.write(take)


def _build(row: RowMapping) -> HelpRequest:
    return HelpRequest(
        question_id=row["question_id"],
        account=row["account"],
        called=tuple(row["called"]),
        at=row["at"],
        posts=tuple(HelpPost(channel=channel, ts=ts) for channel, ts in row["posts"]),
        resolved_by=row["resolved_by"],
    )
