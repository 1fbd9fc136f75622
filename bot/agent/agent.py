"""The agent: what happens to a question that needs several steps, or an action."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from bot.agent.answering import AgentAnswers, AnswerTask
from bot.agent.budget import Budget, StopReason
from bot.agent.caller import Caller, build_caller
from bot.agent.draft_text import build_proposal
from bot.agent.loop import AgentLoop, LoopResult, LoopTask, ShowStatus
from bot.agent.proposals import ProposableSkill, Proposal
from bot.agent.screened_model import ScreenedModel
from bot.agent.toolbox.search_docs import SearchDocs
from bot.agent.tools import Tool
from bot.rag.language import detect_language
from bot.rag.replies import Reply
from bot.rag.writer import LoadPeople, Writer
from bot.rag.written import ShowText
from bot.search_query import narrow, parse_search
from bot.texts import Texts, get_texts
from bot.trace_steps import TraceSteps
from core.clock import Clock
from core.messages import Answer, Outcome
from core.models import ChatModel
from core.settings import AgentSettings
from knowledge.analysis import Analyser
from knowledge.people import DirectorySnapshot
from knowledge.readers import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentParts:
    """What the agent needs; chosen in bootstrap.

    Attributes:
        load_tools: The tools there are at this moment.
        load_skills: The write skills there are at this moment.
        may_write: Tells from the person's own words whether an action is asked for. Without it no
            write skill is offered or callable, whatever pages say.
        time_zone: The company's, which "today" is told in.
    """

    model: ChatModel
    writer: Writer
    analyser: Analyser
    settings: AgentSettings
    load_people: LoadPeople
    load_directory: Callable[[], Awaitable[DirectorySnapshot]]
    load_tools: Callable[[], Sequence[Tool]]
    load_skills: Callable[[], Sequence[ProposableSkill]]
    may_write: Callable[[str], bool]
    clock: Clock
    time_zone: tzinfo


class Agent:
    """Works a question out with a chat model and tools, or drafts an action."""

    def __init__(self, parts: AgentParts) -> None:
        self._parts = parts
        self._answers = AgentAnswers(parts.writer, parts.analyser)

    async def answer(
        self,
        question: str,
        reader: Reader,
        steps: TraceSteps,
        *,
        said: str = "",
        memory: str = "",
        show: ShowText | None = None,
        status: ShowStatus | None = None,
    ) -> Reply:
        """Work out a question for a reader; see `run`."""
        directory = await self._parts.load_directory()
        now = self._parts.clock.now().astimezone(self._parts.time_zone)
        caller = build_caller(reader, directory, now)
        return await self.run(
            question, caller, steps, said=said, memory=memory, show=show, status=status
        )

    async def run(
        self,
        question: str,
        caller: Caller,
        steps: TraceSteps,
        *,
        said: str = "",
        memory: str = "",
        show: ShowText | None = None,
        status: ShowStatus | None = None,
    ) -> Reply:
        """Work out a question; always ends within the budgets of the settings, with a reply.

        Args:
            question: Standing on its own.
            caller: On whose behalf.
            steps: Takes every step for the trace.
            said: The person's words as they were put; empty = the question. Whether an action is
                asked for is read from these, never from anything that was found.
            memory: What was said before, fenced; for understanding the question only.
            show: Takes the text of the public answer as it is written.
            status: Takes the plan, each time it changes; in rooms it is not told.
        """
        parts = self._parts
        said = said or question
        query = narrow(parse_search(question), caller.reader.bases)
        people = await parts.load_people()
        placeholders = parts.writer.build_placeholders(people)
        budget = Budget(parts.settings)
        may_write = parts.may_write(said)
        own = () if caller.person is None else (caller.person.name, caller.person.email)
        task = LoopTask(
            question=query.words or question,
            caller=caller,
            # In a room the question may have been filled in from what others asked before.
            said=(said, *((question,) if caller.reader.is_private else ()), *own),
            tools={
                one.name: one.within(query) if isinstance(one, SearchDocs) else one
                for one in parts.load_tools()
                if one.is_offered_to(caller)
            },
            skills={
                one.name: one
                for one in (parts.load_skills() if may_write else ())
                if one.is_offered_to(caller)
            },
            is_kept=parts.writer.is_kept,
            steps=steps,
            status=status,
            memory=memory,
        )
        model = ScreenedModel(parts.model, placeholders)
        loop = AgentLoop(task, model, parts.analyser, parts.settings, budget)
        found = await loop.run()
        language = detect_language(question)
        if found.proposal is not None:
            return _propose(found, found.proposal, caller, get_texts(language))
        answer_task = AnswerTask(
            question=task.question,
            language=language,
            people=people,
            prompt_tokens=parts.settings.prompt_tokens,
            memory=memory,
        )
        try:
            async with asyncio.timeout(budget.left_s):
                return await self._answers.write(answer_task, found, show)
        except TimeoutError:
            steps.note("agent: answer", note="the writer took too long")
            return await self._answers.write(
                answer_task, replace(found, reason=StopReason.MODEL_FAILED), None
            )


def _propose(found: LoopResult, proposal: Proposal, caller: Caller, texts: Texts) -> Reply:
    """Show the draft in full; in a room none that may hold what only the asker may see."""
    is_own = not proposal.from_pages and not proposal.by_model
    if not caller.reader.is_private and found.notebook.has_private and not is_own:
        answer = Answer(outcome=Outcome.CLARIFY, text=texts.draft_not_here)
        return Reply(answer=answer, notes=("a draft with private content in a room",))
    answer = build_proposal(
        proposal.skill,
        proposal.parameters,
        proposal.from_pages,
        texts,
        tools=found.notebook.tools,
    )
    cited = tuple(
        one.hit for observation in found.notebook.observations for one in observation.evidence
    )
    # What the draft may rest on goes with the turn, so that it is forgotten with it.
    return Reply(answer=answer, cited=cited)
