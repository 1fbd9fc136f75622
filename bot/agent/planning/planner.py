"""The planner that needs no model: look-ups in records, drafts, and questions back."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from bot.agent.caller import Caller
from bot.agent.planning.draft_replies import build_draft_reply
from bot.agent.planning.drafting import EmailDrafter
from bot.agent.planning.parts import Message, cut_message
from bot.agent.planning.record_replies import (
    build_judged_reply,
    build_record_reply,
    find_unclear,
    join_parts,
    name_found,
    quote_line,
)
from bot.agent.planning.reminding import Reminders
from bot.agent.planning.requests import Request, RequestKind, find_request, is_conditional
from bot.agent.planning.ticket_draft import TicketDrafter
from bot.agent.records.answering import RecordAnswer, RecordAnswerer, UnderstoodQuestion
from bot.agent.records.store import RecordStore
from bot.rag.language import detect_language
from bot.rag.replies import Reply, build_clarify
from bot.texts import get_texts
from bot.trace_steps import TraceSteps
from core.errors import ZhixingError

SURE = 0.8
"""This share of a question must be read to answer it from records before pages are searched."""
PERHAPS = 0.65
"""With this share records are asked when pages hold no answer; chosen on the sample company."""

LoadRecords = Callable[[], Awaitable[Sequence[RecordStore]]]
AskPages = Callable[[str], Awaitable[Reply]]
"""Answers a question from pages that everybody who listens may read."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A reply the planner found.

    Attributes:
        is_sure: False = to be given only where pages hold no answer.
        is_action: It drafts something to be done, or asks what is missing for that.
    """

    reply: Reply
    is_sure: bool
    is_action: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Understood:
    answerer: RecordAnswerer
    understood: UnderstoodQuestion

    @property
    def coverage(self) -> float:
        return self.understood.reading.coverage


class Planner:
    """Drafts what is asked to be done, and answers from records what is clearly about them."""

    def __init__(
        self,
        load_records: LoadRecords,
        emails: EmailDrafter,
        tickets: TicketDrafter,
        reminders: Reminders,
    ) -> None:
        """Prepare; the records are looked up anew for every question."""
        self._load_records = load_records
        self._emails = emails
        self._tickets = tickets
        self._reminders = reminders

    async def plan(
        self, question: str, said: str, caller: Caller, steps: TraceSteps, ask_pages: AskPages
    ) -> Planned | None:
        """Return a draft, or a reply from records; None when the question is for the pages.

        Args:
            question: Standing on its own.
            said: The person's words as they were put: only these can ask for an action.
            caller: On whose behalf.
            steps: Takes what was done, for the trace.
            ask_pages: For the parts of a question that records don't answer.
        """
        request = find_request(said)
        if request is not None and not is_conditional(said):
            planned = await self._draft(said, request, caller, steps)
            if planned is not None:
                return planned
        message = cut_message(question)
        if message.request and message.condition and message.questions:
            planned = await self._judge(message, caller, steps)
            if planned is not None:
                return planned
        whole = await self._understand(question, caller)
        if len(message.questions) > 1 and (whole is None or whole.coverage < SURE):
            planned = await self._follow(message.questions, caller, steps, ask_pages)
            if planned is not None:
                return planned
        return None if whole is None else await self._answer(whole, caller, steps)

    async def _draft(
        self, said: str, request: Request, caller: Caller, steps: TraceSteps
    ) -> Planned | None:
        texts = get_texts(detect_language(said))
        match request.kind:
            case RequestKind.EMAIL:
                draft = await self._emails.draft(said, request, caller)
            case RequestKind.TICKET:
                draft = await self._tickets.draft(said, request, caller)
            case RequestKind.REMINDER:
                return None
        steps.note(
            f"draft ({draft.skill})",
            rows=[(hit.passage_id, hit.score) for hit in draft.cited],
            note=f"missing: {draft.missing}" if draft.missing else "complete",
        )
        return Planned(reply=build_draft_reply(draft, texts), is_sure=True, is_action=True)

    async def _judge(self, message: Message, caller: Caller, steps: TraceSteps) -> Planned | None:
        """Look up what the request depends on, and draft it if its condition holds."""
        answer = await self._look_up(message.questions[0], caller, steps)
        if answer is None or message.condition is None:
            return None
        language = detect_language(message.questions[0])
        judged = await self._reminders.judge(
            answer, message.condition, message.request, caller, language
        )
        met = {True: "met", False: "not met", None: "not known"}[judged.is_met]
        steps.note("condition", note=f"{met}: {message.condition.place}")
        reply = build_judged_reply(answer, judged, caller, get_texts(language))
        return Planned(reply=reply, is_sure=True, is_action=judged.draft is not None)

    async def _follow(
        self,
        questions: Sequence[str],
        caller: Caller,
        steps: TraceSteps,
        ask_pages: AskPages,
    ) -> Planned | None:
        """Answer the first part from records, and the others about what it found."""
        first = await self._look_up(questions[0], caller, steps)
        if first is None or not first.result.has_found:
            return None
        texts = get_texts(detect_language(questions[0]))
        replies = [build_record_reply(first, texts)]
        for part in questions[1:]:
            words = f"{name_found(first, part)} {part}".strip()
            answer = await self._look_up(words, caller, steps)
            if answer is not None and answer.result.has_found:
                replies.append(build_record_reply(answer, texts))
            elif line := await self._reminders.explain_step(first, part, caller):
                replies.append(quote_line(line))
            else:
                replies.append(await ask_pages(words))
            steps.note("part", note=words)
        return Planned(reply=join_parts(replies), is_sure=True)

    async def _answer(
        self, found: _Understood, caller: Caller, steps: TraceSteps
    ) -> Planned | None:
        is_sure = found.coverage >= SURE
        texts = get_texts(detect_language(found.understood.question.text))
        if unclear := find_unclear(found.understood, caller):
            return Planned(reply=build_clarify(unclear.options, texts), is_sure=is_sure)
        answer = await self._run(found, caller, steps)
        if answer is None or not (answer.result.has_found or is_sure):
            return None
        return Planned(reply=build_record_reply(answer, texts), is_sure=is_sure)

    async def _look_up(
        self, question: str, caller: Caller, steps: TraceSteps
    ) -> RecordAnswer | None:
        found = await self._understand(question, caller)
        return None if found is None else await self._run(found, caller, steps)

    async def _understand(self, question: str, caller: Caller) -> _Understood | None:
        """Read a question against every database; one that fails is left out."""
        best: _Understood | None = None
        for store in await self._load_records():
            answerer = RecordAnswerer(store)
            try:
                understood = await answerer.understand(question, caller)
            except ZhixingError as error:
                _log.warning("records_failed", reason=str(error))
                continue
            if understood is None or not _is_usable(understood):
                continue
            if best is None or understood.reading.coverage > best.coverage:
                best = _Understood(answerer=answerer, understood=understood)
        return best

    async def _run(
        self, found: _Understood, caller: Caller, steps: TraceSteps
    ) -> RecordAnswer | None:
        try:
            answer = await found.answerer.answer(found.understood, caller)
        except ZhixingError as error:
            # Pages may still answer.
            _log.warning("records_failed", reason=str(error))
            return None
        steps.note(
            f"records ({found.understood.reading.table.name})",
            note=f"read {found.coverage:.2f} of the question; {len(answer.result.rows)} rows",
        )
        return answer


def _is_usable(understood: UnderstoodQuestion) -> bool:
    reading = understood.reading
    if not (reading.is_named and reading.is_asking and reading.coverage >= PERHAPS):
        return False
    # A code that no table holds is not to be overlooked: the rest would answer something else.
    return not any(letter.isdigit() for word in understood.question.unknown for letter in word)
