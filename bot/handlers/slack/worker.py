"""Tracked tasks: questions under way, their leases, what others left behind, a graceful stop."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import structlog

from bot.handlers.slack.answering import Answering
from bot.inbox.questions import Question
from bot.inbox.store import Inbox
from core.chat_settings import SlackSettings
from core.errors import ZhixingError
from core.messages import Outcome

RENEWALS_PER_LEASE = 3
MOST_ATTEMPTS = 100

_log = structlog.get_logger(__name__)


class Worker:
    """Works on questions; nothing it was given is forgotten while the process lives."""

    def __init__(
        self,
        answering: Answering,
        inbox: Inbox,
        settings: SlackSettings,
        *,
        chores: Sequence[Callable[[], Awaitable[None]]] = (),
    ) -> None:
        """Prepare.

        Args:
            answering: Answers one question.
            inbox: Where they come from.
            settings: How many at once, how long.
            chores: Also done every now and then while it serves.
        """
        self._chores = chores
        self._answering = answering
        self._inbox = inbox
        self._settings = settings
        self._doors = asyncio.Semaphore(settings.concurrent_questions)
        self._places = asyncio.Semaphore(settings.concurrent_questions)
        self._questions: dict[str, asyncio.Task[None]] = {}
        self._others: set[asyncio.Task[Any]] = set()
        # Those of the questions whose turn has not come.
        self._waiting: set[asyncio.Task[None]] = set()

    def take(self, question: Question) -> None:
        """Work on a question as soon as there is a place."""
        task = asyncio.create_task(self._work(question))
        self._questions[question.question_id] = task
        task.add_done_callback(lambda _: self._questions.pop(question.question_id, None))

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Do something else that the process waits for when it stops, such as a search."""
        task = asyncio.create_task(_guard(work, name))
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    async def serve(self, stop: asyncio.Event) -> None:
        """Renew what is under way and take over what was left, until told to stop."""
        every_s = min(self._settings.sweep_s, self._settings.lease_s / RENEWALS_PER_LEASE)
        while not stop.is_set():
            await self._try(self._sweep)
            for chore in self._chores:
                await self._try(chore)
            await _wait(stop, every_s)

    async def finish(self) -> None:
        """Wait for what is under way; let go of what takes too long, for the next process."""
        tasks = {*self._questions.values(), *self._others}
        # The next process lets them wait as well.
        if begun := tasks - self._waiting:
            await asyncio.wait(begun, timeout=self._settings.stop_timeout_s)
        left = list(self._questions)
        for task in (*self._questions.values(), *self._others):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if left:
            _log.warning("slack_questions_released", count=len(left))
            await self._inbox.release(left)

    async def _sweep(self) -> None:
        if self._questions:
            await self._inbox.renew(list(self._questions))
        for question in await self._inbox.take_abandoned():
            _log.info("slack_question_taken_over", question=question.question_id)
            self.take(question)

    async def _work(self, question: Question) -> None:
        async with self._doors:
            # People see at once that they are heard; who waits for a place does so behind that.
            await self._try(lambda: self._answering.begin(question))
        await self._wait_for_turn(question)
        async with self._places:
            try:
                await self._answering.answer(question)
            except Exception as error:  # noqa: BLE001 - an edge: it stays in the inbox
                await self._postpone(question, error)

    async def _wait_for_turn(self, question: Question) -> None:
        task = asyncio.current_task()
        wait_s = self._inbox.seconds_until_turn(question)
        if wait_s == 0 or task is None:
            return
        self._waiting.add(task)
        try:
            await asyncio.sleep(wait_s)
        finally:
            self._waiting.discard(task)

    async def _postpone(self, question: Question, error: Exception) -> None:
        """Leave a question for later; after very many times it is given up."""
        _log.warning("slack_question_postponed", question=question.question_id, reason=str(error))
        if question.attempts < MOST_ATTEMPTS:
            await self._try(lambda: self._inbox.postpone([question.question_id]))
            return
        _log.error("slack_question_given_up", question=question.question_id)
        outcome = Outcome.FAILED.value
        await self._try(lambda: self._inbox.finish(question, outcome=outcome, trace_id=""))

    async def _try(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except ZhixingError as error:
            _log.warning("slack_step_failed", reason=str(error))
        except Exception:  # noqa: BLE001 - an edge: the next round tries again
            _log.exception("slack_step_failed")


async def _guard(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except ZhixingError as error:
        _log.warning("slack_request_failed", request=name, reason=str(error))
    except Exception:  # noqa: BLE001 - an edge: a click or a command
        _log.exception("slack_request_failed", request=name)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
