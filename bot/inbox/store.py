"""The inbox in the database: each question is accepted once and taken up by one process at a time.

A question is written down before its event is acknowledged. What a process that died has not
finished is taken over by the next one that looks.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from functools import partial
from uuid import uuid4

from sqlalchemy import ColumnElement, Executable, RowMapping, and_, null, select, update
from sqlalchemy.engine import Connection

from bot.inbox.pace import NO_LIMITS, Limits, Pace
from bot.inbox.questions import IncomingQuestion, Origin, Question, QuestionState
from bot.inbox.tables import chat_events, chat_feedback, chat_questions
from core.clock import Clock
from core.database import Database
from core.process_identity import is_dead, name_process
from core.tables import insert_into

# No process of ours; what it owns is free when the time is over.
POSTPONED = "postponed"

_Claim = tuple[IncomingQuestion, asyncio.Future[Question | None]]
_questions = chat_questions.c


class Inbox:
    """The questions of one platform, seen by one process.

    Args:
        database: Where they are kept, for all processes.
        clock: The machine's real time, never the one set for questions.
        platform: Such as `slack`.
        lease_s: How long a question belongs to this process without being renewed.
        limits: How many questions may begin in a while.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        platform: str,
        lease_s: float,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._pace = Pace(platform=platform, limits=limits)
        self._database = database
        self._clock = clock
        self.platform = platform
        self._lease = timedelta(seconds=lease_s)
        self._owner = name_process()
        self._waiting: list[_Claim] = []
        self._claiming: asyncio.Task[None] | None = None

    async def accept(self, question: IncomingQuestion) -> Question | None:
        """Write a question down for this process.

        Claims that arrive together are committed together, so that a burst is not slowed down by
        the disk.

        Returns:
            None when its event or its message was accepted before, by whichever process, or when
            it needs a thread we were never called into.

        Raises:
            ServiceUnavailableError: It was not written down; the event must not be acknowledged.
        """
        future: asyncio.Future[Question | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        if self._claiming is None or self._claiming.done():
            self._claiming = asyncio.create_task(self._commit_claims())
        return await future

    async def claim_event(self, event_id: str) -> bool:
        """Tell whether an event that asks nothing, such as a click, comes for the first time."""
        work = partial(self.add_event, event_id=event_id)
        return await self._database.write(work)

    async def take_abandoned(self) -> list[Question]:
        """Take over questions whose process has died, lost its lease or let go; oldest first."""
        return await self._database.write(self._take_abandoned)

    async def renew(self, ids: Sequence[str]) -> None:
        """Keep questions that are still worked on."""
        mine = and_(_questions.question_id.in_(ids), _questions.owner == self._owner)
        values = {"owned_until": self._clock.now() + self._lease}
        await self._update(mine, values)

    async def release(self, ids: Sequence[str]) -> None:
        """Let go of questions, for whoever looks next."""
        mine = and_(_questions.question_id.in_(ids), _questions.owner == self._owner)
        await self._update(mine, {"owner": "", "owned_until": self._clock.now()})

    async def postpone(self, ids: Sequence[str]) -> None:
        """Let go of questions that failed for now; nobody takes them up before a while is over."""
        mine = and_(_questions.question_id.in_(ids), _questions.owner == self._owner)
        later = self._clock.now() + self._lease
        await self._update(mine, {"owner": POSTPONED, "owned_until": later})

    async def save_posts(self, question_id: str, posts: Sequence[str]) -> None:
        """Remember the messages of an answer."""
        await self._update(_questions.question_id == question_id, {"posts": list(posts)})

    async def save_stream(
        self, question_id: str, stream: str, posts: Sequence[str] | None = None
    ) -> None:
        """Remember the message that is being written into, and with it the answer's messages."""
        values: dict[str, object] = {"stream": stream}
        if posts is not None:
            values["posts"] = list(posts)
        await self._update(_questions.question_id == question_id, values)

    async def finish(
        self,
        question: Question,
        *,
        outcome: str,
        trace_id: str,
        passages: Sequence[str] = (),
        failure: str = "",
    ) -> bool:
        """Note that a question ended in a visible message.

        Returns:
            False when it was changed meanwhile: what was said is not the answer to it any more.
        """
        values = {
            "state": QuestionState.DONE.value,
            "outcome": outcome,
            "trace_id": trace_id,
            "passages": list(passages),
            "failure": failure,
            "stream": "",
            "owner": "",
        }
        is_same = and_(
            _questions.question_id == question.question_id,
            _questions.revision == question.revision,
        )
        return await self._update(is_same, values) > 0

    async def reopen(self, question_id: str) -> Question | None:
        """Take up a question that was answered once more.

        None while it is being worked on, or when it was withdrawn.
        """
        return await self._database.write(partial(self._reopen, question_id=question_id))

    async def find(self, question_id: str) -> Question | None:
        """Return a question."""
        query = select(chat_questions).where(_questions.question_id == question_id)
        row = await self._database.read(lambda connection: _first(connection, query))
        return None if row is None else build_question(row)

    async def list_recent(self, account: str, *, limit: int) -> list[Question]:
        """Return what somebody asked last, latest first."""
        query = (
            select(chat_questions)
            .where(
                _questions.platform == self.platform,
                _questions.account == account,
                _questions.text != "",
            )
            .order_by(_questions.accepted_at.desc(), _questions.ts.desc())
            .limit(limit)
        )
        return await self._database.read(
            lambda connection: [build_question(row) for row in connection.execute(query).mappings()]
        )

    async def forget_texts(self, account: str) -> None:
        """Forget the words of what somebody asked, once it is answered."""
        theirs = and_(
            _questions.platform == self.platform,
            _questions.account == account,
            _questions.state == QuestionState.DONE,
        )
        await self._update(theirs, {"text": ""})

    async def save_feedback(
        self, question_id: str, account: str, *, is_solved: bool, correction: str = ""
    ) -> None:
        """Keep what somebody thought of an answer; their later word replaces the earlier one."""
        values = {
            "question_id": question_id,
            "account": account,
            "is_solved": is_solved,
            "correction": correction,
            "at": self._clock.now(),
        }

        def save(connection: Connection) -> None:
            statement = insert_into(connection, chat_feedback).values(values)
            key = [chat_feedback.c.question_id, chat_feedback.c.account]
            connection.execute(statement.on_conflict_do_update(index_elements=key, set_=values))

        await self._database.write(save)

    async def _commit_claims(self) -> None:
        while self._waiting:
            claims, self._waiting = self._waiting, []
            try:
                work = partial(self._accept, questions=[question for question, _ in claims])
                accepted = await self._database.write(work)
            except Exception as error:  # noqa: BLE001 - told to each of those who wait
                for _, future in claims:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), question in zip(claims, accepted, strict=True):
                if not future.done():
                    future.set_result(question)

    def _accept(
        self, connection: Connection, questions: Sequence[IncomingQuestion]
    ) -> list[Question | None]:
        return [self._accept_one(connection, question) for question in questions]

    def _accept_one(self, connection: Connection, incoming: IncomingQuestion) -> Question | None:
        if not self.add_event(connection, event_id=incoming.event_id):
            return None
        if incoming.needs_thread and not self._knows_thread(connection, incoming):
            return None
        now = self._clock.now()
        question = Question(
            question_id=uuid4().hex,
            channel=incoming.channel,
            ts=incoming.ts,
            thread=incoming.thread,
            account=incoming.account,
            text=incoming.text,
            is_direct=incoming.is_direct,
            accepted_at=now,
            state=QuestionState.ACCEPTED,
            attempts=1,
            origin=incoming.origin,
        )
        row = {
            "question_id": question.question_id,
            "platform": self.platform,
            "channel": question.channel,
            "ts": question.ts,
            "thread": question.thread,
            "account": question.account,
            "is_direct": question.is_direct,
            "text": question.text,
            "accepted_at": now,
            "state": question.state.value,
            "owner": self._owner,
            "owned_until": now + self._lease,
            "attempts": question.attempts,
            "posts": [],
            "stream": "",
            "starts_at": now,
            "is_over_limit": False,
            "origin": null() if question.origin is None else asdict(question.origin),
            "revision": 0,
            "is_withdrawn": False,
            "is_refreshed": False,
            "outcome": "",
            "trace_id": "",
            "passages": [],
            "failure": "",
        }
        key = [_questions.platform, _questions.channel, _questions.ts]
        statement = insert_into(connection, chat_questions).values(row)
        added = connection.execute(statement.on_conflict_do_nothing(index_elements=key))
        return self.give_turn(connection, question) if added.rowcount == 1 else None

    def give_turn(
        self, connection: Connection, question: Question, *, may_refuse: bool = True
    ) -> Question:
        """Say when a question may begin, within a transaction; returns it with its turn."""
        turn = self._pace.take_turn(
            connection,
            account=question.account,
            channel="" if question.is_direct else question.channel,
            now=self._clock.now(),
            may_refuse=may_refuse,
        )
        values = {"starts_at": turn.at, "is_over_limit": turn.is_refused}
        is_it = _questions.question_id == question.question_id
        connection.execute(update(chat_questions).where(is_it).values(values))
        return replace(question, starts_at=turn.at, is_over_limit=turn.is_refused)

    def seconds_until_turn(self, question: Question) -> float:
        """Return how long a question still waits for its turn; 0 = no longer."""
        if question.starts_at is None:
            return 0.0
        return max(0.0, (question.starts_at - self._clock.now()).total_seconds())

    def add_event(self, connection: Connection, *, event_id: str) -> bool:
        """Tell whether an event comes for the first time, within a transaction."""
        row = {"platform": self.platform, "event_id": event_id, "at": self._clock.now()}
        key = [chat_events.c.platform, chat_events.c.event_id]
        statement = insert_into(connection, chat_events).values(row)
        added = connection.execute(statement.on_conflict_do_nothing(index_elements=key))
        return added.rowcount == 1

    def _knows_thread(self, connection: Connection, incoming: IncomingQuestion) -> bool:
        query = select(_questions.question_id).where(
            _questions.platform == self.platform,
            _questions.channel == incoming.channel,
            _questions.thread == incoming.thread,
        )
        return connection.scalar(query.limit(1)) is not None

    def _take_abandoned(self, connection: Connection) -> list[Question]:
        now = self._clock.now()
        query = (
            select(chat_questions)
            .where(
                _questions.platform == self.platform,
                _questions.state == QuestionState.ACCEPTED,
                _questions.owner != self._owner,
            )
            .order_by(_questions.accepted_at)
            .with_for_update()
        )
        taken = []
        for row in connection.execute(query).mappings():
            if row["owner"] and row["owned_until"] > now and not is_dead(row["owner"]):
                continue
            attempts = row["attempts"] + 1
            self.own(connection, row["question_id"], attempts)
            taken.append(replace(build_question(row), attempts=attempts))
        return taken

    def _reopen(self, connection: Connection, question_id: str) -> Question | None:
        query = select(chat_questions).where(
            _questions.question_id == question_id,
            _questions.state == QuestionState.DONE,
            _questions.is_withdrawn.is_(False),
        )
        row = _first(connection, query.with_for_update())
        if row is None:
            return None
        attempts = row["attempts"] + 1
        self.own(connection, question_id, attempts)
        taken = replace(build_question(row), attempts=attempts, state=QuestionState.ACCEPTED)
        # What was answered once is not refused.
        return self.give_turn(connection, taken, may_refuse=False)

    def own(self, connection: Connection, question_id: str, attempts: int) -> None:
        """Give a question to this process, within a transaction."""
        values = {
            "state": QuestionState.ACCEPTED.value,
            "owner": self._owner,
            "owned_until": self._clock.now() + self._lease,
            "attempts": attempts,
        }
        statement = update(chat_questions).where(_questions.question_id == question_id)
        connection.execute(statement.values(values))

    async def _update(self, condition: ColumnElement[bool], values: Mapping[str, object]) -> int:
        statement = update(chat_questions).where(condition).values(values)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)


def _first(connection: Connection, query: Executable) -> RowMapping | None:
    return connection.execute(query).mappings().first()


def build_question(row: RowMapping) -> Question:
    """Return the question of a row."""
    return Question(
        question_id=row["question_id"],
        channel=row["channel"],
        ts=row["ts"],
        thread=row["thread"],
        account=row["account"],
        text=row["text"],
        is_direct=row["is_direct"],
        accepted_at=row["accepted_at"],
        state=QuestionState(row["state"]),
        attempts=row["attempts"],
        posts=tuple(row["posts"]),
        stream=row["stream"],
        starts_at=row["starts_at"],
        is_over_limit=row["is_over_limit"],
        origin=None if row["origin"] is None else Origin(**row["origin"]),
        revision=row["revision"],
        is_withdrawn=row["is_withdrawn"],
        is_refreshed=row["is_refreshed"],
        outcome=row["outcome"],
        trace_id=row["trace_id"],
        passages=tuple(row["passages"]),
        failure=row["failure"],
    )
