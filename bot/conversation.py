"""One question: who asks, who listens, what is searched, what is said to whom.

Everything a person can ask ends in an `Answer`, also on an error.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import uuid4

import structlog

from bot.agent.agent import Agent
from bot.agent.caller import Caller
from bot.agent.planning.planner import Planned, Planner
from bot.answer_filter import AnswerFilter
from bot.asking import Asking
from bot.memory.session import SessionMemory, Understood
from bot.memory.turns import Turn
from bot.rag.answerer import Answerer, Reply
from bot.rag.language import detect_language
from bot.rag.page_history import StoredPageHistory
from bot.rag.question_type import (
    analyse_question,
    build_search_words,
    drop_moment,
)
from bot.rag.replies import NO_PAST, join_replies, list_sources
from bot.routing import Route, Routing
from bot.routing.router import Router
from bot.routing.rules import find_small_talk
from bot.search_query import build_filter, narrow, parse_search
from bot.small_talk import answer_small_talk
from bot.texts import Texts, get_texts
from bot.trace import TraceStore
from bot.trace_keeping import build_trace, keep_trace
from bot.trace_steps import TraceSteps
from bot.watching import Step, Watcher
from core.clock import Clock
from core.errors import ZhixingError
from core.messages import Answer, Outcome
from core.models.metering import running
from core.settings import BaseSettings
from knowledge.documents import Hit, Status
from knowledge.ledger import Ledger
from knowledge.readers import Reader
from knowledge.retrieval import Retrieval
from knowledge.retrieval.pipeline import Retriever
from knowledge.stores import PassageStore

_log = structlog.get_logger(__name__)

_REMEMBERED = frozenset({Route.FAQ, Route.MULTI_HOP, Route.ACTION})
_ARCHIVED = frozenset({Status.ARCHIVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationParts:
    """What a conversation needs; chosen in bootstrap.

    Attributes:
        agent: Works out questions of several steps; None = all are answered by one search.
        router: Tells which questions those are, and what is small talk.
        planner: Works out what needs no model; None = nothing but pages is asked.
        build_caller: Tells tools on whose behalf they run.
        answer_filter: Sees everything before it is said.
        as_of: Pages are searched as they were then; None = as they are.
    """

    retriever: Retriever
    answerer: Answerer
    ledger: Ledger
    store: PassageStore
    memory: SessionMemory
    traces: TraceStore
    bases: dict[str, BaseSettings]
    clock: Clock
    router: Router
    answer_filter: AnswerFilter
    agent: Agent | None = None
    planner: Planner | None = None
    build_caller: Callable[[Reader], Awaitable[Caller]] | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replies:
    """What is said in public, and to the asker alone."""

    public: Reply
    private: Reply | None = None

    @property
    def cited(self) -> tuple[Hit, ...]:
        """Everything either reply rests on."""
        return self.public.cited + (self.private.cited if self.private else ())


class Conversation:
    """Answers questions, in threads, with the rights of whoever listens."""

    def __init__(self, parts: ConversationParts) -> None:
        self._parts = parts

    @property
    def parts(self) -> ConversationParts:
        """What it was made of, to make one like it."""
        return self._parts

    async def ask(
        self, question: str, reader: Reader, *, thread: str = "", watcher: Watcher | None = None
    ) -> Answer:
        """Answer a question; with a thread, in the light of its turns, which are kept."""
        answer, turn = await self._take_turn(question, reader, thread, watcher)
        if thread and turn is not None:
            await self._parts.memory.keep(thread, reader, turn, answer.trace_id)
        return answer

    async def ask_in_turn(self, questions: Sequence[str], reader: Reader) -> Answer:
        """Answer the last of several questions put one after the other; no turn is kept."""
        turns: list[Turn] = []
        *earlier, last = questions
        for question in earlier:
            _, turn = await self._take_turn(question, reader, turns)
            turns += [turn] if turn else []
        answer, _ = await self._take_turn(last, reader, turns)
        return answer

    async def _take_turn(
        self,
        question: str,
        reader: Reader,
        earlier: str | Sequence[Turn],
        watcher: Watcher | None = None,
    ) -> tuple[Answer, Turn | None]:
        """Answer one question; the turn is None when there is nothing to remember.

        Args:
            question: As it was put.
            reader: Who asks and who listens.
            earlier: The turns before it, or the thread they are kept in; empty = none.
            watcher: Follows what becomes of it.
        """
        began = time.perf_counter()
        steps = TraceSteps()
        trace_id = uuid4().hex[:12]
        understood, cited = Understood(question=question, said=question), tuple[Hit, ...]()
        memory = self._parts.memory
        try:
            told = await memory.obey(question, earlier, reader)
            if told is None:
                routing = find_small_talk(question)
                # Small talk is short, but continues nothing.
                context = earlier if routing is None else ""
                with running(steps.meter):
                    understood = await memory.understand(question, context, reader, steps)
                    routing = routing or await self._route(understood)
                    steps.note("route", note=routing.describe())
                    shown = self._parts.answer_filter.watch(watcher, question)
                    told, cited = await self._answer(understood, routing, reader, steps, shown)
            filtered = await self._parts.answer_filter.filter(told, cited, question)
            answer = filtered.answer
            steps.note_hidden(filtered.removed)
        except ZhixingError as error:
            _log.warning("question_failed", trace_id=trace_id, reason=str(error))
            answer = _failed(question, trace_id, error.public_message)
        except Exception:  # noqa: BLE001 - every question ends in a reply
            _log.exception("question_failed", trace_id=trace_id)
            answer = _failed(question, trace_id)
        took_ms = (time.perf_counter() - began) * 1000
        answer = replace(answer, trace_id=trace_id, took_ms=took_ms)
        trace = build_trace(
            answer, question, reader, steps, cited=cited, at=self._parts.clock.now()
        )
        await keep_trace(self._parts.traces, trace)
        is_worth = answer.route in _REMEMBERED and answer.outcome is not Outcome.FAILED
        turn = memory.build_turn(understood, answer, cited, reader)
        return answer, turn if is_worth else None

    async def _answer(
        self,
        understood: Understood,
        routing: Routing,
        reader: Reader,
        steps: TraceSteps,
        watcher: Watcher | None,
    ) -> tuple[Answer, tuple[Hit, ...]]:
        question = understood.question
        if not routing.route.needs_search:
            return answer_small_talk(routing, get_texts(detect_language(question))), ()
        planned = await self._plan(understood, reader, steps)
        if planned is not None and planned.is_sure:
            return planned.reply.answer, planned.reply.cited
        worked_out = await self._work_out(understood, routing, reader, steps, watcher)
        if worked_out is not None and worked_out[0].outcome is not Outcome.NOT_FOUND:
            return worked_out
        replies = await self._search_and_reply(understood, reader, steps, watcher)
        answer = replies.public.answer
        private = replies.private.answer if replies.private else None
        if private is None and answer.outcome is Outcome.NOT_FOUND:
            texts = get_texts(detect_language(question))
            instead = _find_instead(planned, worked_out, routing, texts)
            return instead or (replace(answer, route=Route.FAQ), replies.cited)
        if private is not None:
            is_wholly_private = answer.outcome is Outcome.NOT_FOUND
            outcome = Outcome.NO_ACCESS if is_wholly_private else answer.outcome
            answer = replace(answer, outcome=outcome, private_answer=list_sources(private))
        return replace(answer, route=Route.FAQ), replies.cited

    async def _route(self, understood: Understood) -> Routing:
        return await self._parts.router.route(
            understood.question, leans_on_earlier=bool(understood.rests_on)
        )

    async def _plan(
        self, understood: Understood, reader: Reader, steps: TraceSteps
    ) -> Planned | None:
        """Let the planner answer what it understands without a model."""
        planner, build_caller = self._parts.planner, self._parts.build_caller
        if planner is None or build_caller is None:
            return None

        async def ask_pages(words: str) -> Reply:
            asking = Asking(
                query=parse_search(words, as_of=self._parts.as_of),
                analysis=analyse_question(words, now=self._parts.clock.now()),
                access=reader.audience_readable,
                steps=steps,
                audience="part",
            )
            return await self._reply(asking)

        caller = await build_caller(reader)
        planned = await planner.plan(understood.question, understood.said, caller, steps, ask_pages)
        if planned is None:
            return None
        route = Route.ACTION if planned.is_action else Route.MULTI_HOP
        answer = replace(planned.reply.answer, route=route)
        return replace(planned, reply=replace(planned.reply, answer=answer))

    async def _work_out(
        self,
        understood: Understood,
        routing: Routing,
        reader: Reader,
        steps: TraceSteps,
        watcher: Watcher | None,
    ) -> tuple[Answer, tuple[Hit, ...]] | None:
        """Let the agent answer what is for it; None = one search does.

        Where the agent finds nothing one search may still quote what answers the question.
        """
        agent = self._parts.agent
        if agent is None:
            return None
        routing = await self._parts.router.settle(routing, understood.question, steps)
        if not routing.route.needs_search:
            texts = get_texts(detect_language(understood.question))
            return answer_small_talk(routing, texts), ()
        if not routing.route.needs_agent:
            return None
        if watcher is not None:
            await watcher.note(Step.SEARCHING)
        show = None if watcher is None else watcher.show
        reply = await agent.answer(
            understood.question,
            reader,
            steps,
            said=understood.said,
            memory=understood.memory,
            show=show,
        )
        steps.note(
            "answer (agent)",
            rows=[(hit.passage_id, hit.score) for hit in reply.cited],
            note="; ".join((reply.answer.outcome, *reply.notes)),
        )
        return replace(reply.answer, route=routing.route), reply.cited

    async def _search_and_reply(
        self, understood: Understood, reader: Reader, steps: TraceSteps, watcher: Watcher | None
    ) -> _Replies:
        """Answer for everybody who listens; what more the asker may read goes to them alone."""
        search = parse_search(understood.question, as_of=self._parts.as_of)
        query = narrow(search, reader.bases)
        asking = Asking(
            query=query,
            analysis=analyse_question(query.words, now=self._parts.clock.now()),
            access=reader.audience_readable,
            steps=steps,
            audience="public",
            watcher=watcher,
            memory=understood.memory,
        )
        public = await self._reply(asking)
        if reader.audience_readable == reader.asker_readable:
            return _Replies(public=public)
        # Whoever follows is shown what is said in public, and nothing else.
        alone = replace(asking, access=reader.asker_readable, audience="private", watcher=None)
        private = await self._reply(alone)
        is_more = private.answer.outcome is not Outcome.NOT_FOUND and any(
            not reader.audience_readable.admits(hit.access_no) for hit in private.cited
        )
        return _Replies(public=public, private=private if is_more else None)

    async def _reply(self, asking: Asking) -> Reply:
        """Reply from what is in force; from the past when that is asked for or nothing else is."""
        analysis = asking.analysis
        reply = await self._reply_from(asking)
        if asking.query.with_archived:
            return reply
        # One text is shown as it comes; whatever takes its place is not written below it.
        asking = replace(asking, watcher=None)
        is_told = reply.answer.outcome is not Outcome.NOT_FOUND
        is_past_wanted = analysis.is_about_past and NO_PAST in reply.notes
        if is_told and not is_past_wanted:
            return reply
        archived = await self._reply_from(replace(asking, statuses=_ARCHIVED))
        if archived.answer.outcome is Outcome.ANSWERED:
            return join_replies(archived, reply) if is_told else archived
        if is_told or not analysis.is_about_past:
            return reply
        # What was asked for may stand in former versions alone.
        former = await self._reply_from(replace(asking, statuses=frozenset(Status), any_time=True))
        return former if former.answer.outcome is not Outcome.NOT_FOUND else reply

    async def _reply_from(self, asking: Asking) -> Reply:
        watcher = asking.watcher
        if watcher is not None:
            await watcher.note(Step.SEARCHING)
        retrieval = await self._search(asking)
        if watcher is not None:
            await watcher.note(Step.READING)
        asking.steps.add_retrieval(retrieval, asking.name)
        history = StoredPageHistory(
            store=self._parts.store, ledger=self._parts.ledger, access=asking.access
        )
        reply = await self._parts.answerer.answer(
            asking.query.words,
            retrieval,
            history=history,
            show=None if watcher is None else watcher.show,
            now=self._parts.clock.now(),
            memory=asking.memory,
        )
        asking.steps.note(
            f"answer ({asking.name})",
            rows=[(hit.passage_id, hit.score) for hit in reply.cited],
            note="; ".join((reply.answer.outcome, *reply.notes)),
        )
        return reply

    async def _search(self, asking: Asking) -> Retrieval:
        """Search the state a question names; today's where nothing is known of that time.

        A date in a question may as well be part of what pages tell today. What is archived today
        may have been in force then.
        """
        query, analysis = asking.query, asking.analysis
        words = build_search_words(query.words, analysis)
        now = build_filter(query, asking.access, self._parts.bases)
        if asking.statuses:
            now = replace(now, statuses=asking.statuses, any_time=asking.any_time)
        if query.as_of is not None or asking.statuses or analysis.as_of is None:
            return await self._parts.retriever.search(words, now)
        then = replace(now, as_of=analysis.as_of, statuses=frozenset(Status))
        # Of a date that may belong to the matter, today's pages are asked first.
        tries = [(words, then), (words, now)]
        if not analysis.is_about_past:
            tries = [(words, now), (drop_moment(query.words), then)]
        first = await self._parts.retriever.search(*tries[0])
        if first.sufficiency.is_enough:
            return first
        second = await self._parts.retriever.search(*tries[1])
        return second if second.sufficiency.is_enough or analysis.is_about_past else first


def _find_instead(
    planned: Planned | None,
    worked_out: tuple[Answer, tuple[Hit, ...]] | None,
    routing: Routing,
    texts: Texts,
) -> tuple[Answer, tuple[Hit, ...]] | None:
    """Return what is said where pages hold no answer; None = just that."""
    if planned is not None:
        return planned.reply.answer, planned.reply.cited
    if worked_out is not None:
        # It says at least what was tried.
        return worked_out
    if routing.if_nothing is not None:
        return answer_small_talk(replace(routing, route=routing.if_nothing), texts), ()
    return None


def _failed(question: str, trace_id: str, reason: str = "") -> Answer:
    texts = get_texts(detect_language(question))
    text = "\n".join(filter(None, (reason, texts.failed.format(trace_id=trace_id))))
    return Answer(outcome=Outcome.FAILED, text=text)
