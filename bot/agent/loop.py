"""Look, plan, look again: the steps of one run, within their limits.

The first step is a search, before any model is asked. A model then plans and calls tools; what it
finds comes back to it, until it is done or a limit is reached. It never writes anything: a write
tool ends the run with a draft.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from bot.agent.arguments import read_arguments
from bot.agent.budget import Budget, StopReason
from bot.agent.caller import Caller
from bot.agent.notebook import Notebook, Observation, build_key
from bot.agent.observing import build_observation, note_observation
from bot.agent.plan import Plan, begin_plan, revise_plan, split_question
from bot.agent.prompts import build_prompt, choose_tools
from bot.agent.proposals import Origins, ProposableSkill, Proposal
from bot.agent.screened_model import ScreenedModel
from bot.agent.tool_runs import RunOutcome, ToolRun, run_tools
from bot.agent.toolbox.calculate import NAME as CALCULATE
from bot.agent.toolbox.search_docs import NAME as SEARCH
from bot.agent.tools import Tool
from bot.agent.written_calls import read_written_calls
from bot.trace_steps import TraceSteps
from core.errors import (
    ModelReplyError,
    PermanentError,
    PromptTooLongError,
    ToolRetryError,
    ZhixingError,
)
from core.models import ChatReply, ToolCall, ToolSpec
from core.settings import AgentSettings
from knowledge.analysis import Analyser
from knowledge.retrieval import Evidence

_log = structlog.get_logger(__name__)

ShowStatus = Callable[[str], Awaitable[None]]

MOST_REPLY_TOKENS = 400
MOST_CALLS = 4
MOST_PARTS = 3
MOST_PLAN_CHARS = 4_000
MOST_QUERY_CHARS = 400
# Results that find nothing this often in a row end the run, and calls or replies with faults.
MOST_IN_VAIN = 2
MOST_FAULTS = 2
_TOOLS_SHARE = 0.45
_ID_BYTES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTask:
    """What one run is about.

    Attributes:
        question: Standing on its own.
        said: The person's own words, in which a value is theirs.
        tools: Those offered to the caller.
        skills: Write skills offered to the caller; empty when nothing may be written.
        is_kept: Tells evidence that the model must not be shown.
        memory: What was said before, fenced; values in it are nobody's words and no result.
    """

    question: str
    caller: Caller
    said: Sequence[str]
    tools: Mapping[str, Tool]
    skills: Mapping[str, ProposableSkill]
    is_kept: Callable[[Evidence], bool]
    steps: TraceSteps
    status: ShowStatus | None = None
    memory: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """What a run found, and why it ended."""

    notebook: Notebook
    plan: Plan
    reason: StopReason
    proposal: Proposal | None = None


@dataclass(slots=True)
class _Round:
    """The calls of one step, sorted out."""

    runs: list[ToolRun] = field(default_factory=list)
    refused: list[Observation] = field(default_factory=list)
    repeated: int = 0
    proposal: Proposal | None = None


class AgentLoop:
    """Runs the steps of one task."""

    def __init__(
        self,
        task: LoopTask,
        model: ScreenedModel,
        analyser: Analyser,
        settings: AgentSettings,
        budget: Budget,
    ) -> None:
        self._task = task
        self._model = model
        self._analyser = analyser
        self._settings = settings
        self._budget = budget
        self._notebook = Notebook(now=task.caller.now)
        self._plan = Plan(steps=(task.question,))
        self._in_vain = 0
        self._faults = 0
        self._hint = ""
        self._prompt_tokens = settings.prompt_tokens
        self._memory = task.memory
        self._specs = self._choose_specs()

    async def run(self) -> LoopResult:
        """Look things up until it is done or a limit is reached; never raises for the model."""
        reason: StopReason | None = None
        proposal: Proposal | None = None
        try:
            async with asyncio.timeout(self._budget.looking_left_s):
                await self._search_first()
                while reason is None:
                    reason = self._budget.find_end()
                    if reason is None:
                        reason, proposal = await self._take_step()
        except TimeoutError:
            reason = StopReason.TIME
        except ZhixingError as error:
            _log.warning("agent_model_failed", reason=str(error))
            reason = StopReason.MODEL_FAILED
        self._task.steps.note("agent: end", note=str(reason))
        return LoopResult(
            notebook=self._notebook, plan=self._plan, reason=reason, proposal=proposal
        )

    async def _search_first(self) -> None:
        """Consult the knowledge base before anything is planned."""
        self._budget.steps += 1
        tool = self._task.tools.get(SEARCH)
        if tool is None:
            return
        found = await self._search(tool, [self._task.question])
        parts = split_question(self._task.question)
        if not any(found) and len(parts) > 1:
            # One search for several matters may find none of them.
            found += await self._search(tool, parts[:MOST_PARTS])
        self._in_vain += not any(found)
        self._plan = begin_plan(self._task.question, self._notebook.observations)
        await self._show_plan()

    async def _search(self, tool: Tool, queries: Sequence[str]) -> list[bool]:
        runs = [
            ToolRun(call_id=_build_id(), tool=tool, arguments={"query": query[:MOST_QUERY_CHARS]})
            for query in queries
        ]
        outcomes = await run_tools(runs, self._task.caller, most_s=self._budget.looking_left_s)
        found = []
        for run, outcome in zip(runs, outcomes, strict=True):
            observation = self._observe(run, outcome)
            self._notebook.add(observation)
            found.append(observation.has_found)
        return found

    async def _take_step(self) -> tuple[StopReason | None, Proposal | None]:
        """Ask the model what to do next and do it; returns why the run is over, if it is."""
        self._budget.steps += 1
        try:
            reply = await self._ask()
        except PromptTooLongError:
            raise
        except ModelReplyError as error:
            return self._judge_bad_reply(error), None
        before = [one for one in self._notebook.observations if one.step == self._budget.steps - 1]
        await self._revise(before, self._model.restore(reply.text[:MOST_PLAN_CHARS]))
        calls = self._read_calls(reply)
        if not calls:
            return StopReason.DONE, None
        sorted_out = self._sort_out(calls)
        for refused in sorted_out.refused:
            self._notebook.add(refused)
        if sorted_out.proposal is not None:
            return StopReason.PROPOSED, sorted_out.proposal
        if not sorted_out.runs:
            return self._judge_without_runs(sorted_out), None
        return await self._run(sorted_out.runs), None

    def _judge_bad_reply(self, error: ModelReplyError) -> StopReason | None:
        """Let the model try once more after a reply that is none."""
        self._task.steps.note(f"agent: step {self._budget.steps}", note="no usable reply")
        _log.warning("agent_reply_unusable", reason=str(error))
        self._faults += 1
        self._hint = "Your last reply could not be used: keep it short, and call one tool."
        return StopReason.MODEL_FAILED if self._faults >= MOST_FAULTS else None

    async def _ask(self) -> ChatReply:
        """Ask the model; a prompt that is too long is halved once."""
        began = time.perf_counter()
        try:
            reply = await self._complete()
        except PromptTooLongError:
            self._prompt_tokens //= 2
            self._memory = ""
            reply = await self._complete()
        self._budget.usage += reply.usage
        self._task.steps.note(
            f"agent: step {self._budget.steps}",
            took_ms=(time.perf_counter() - began) * 1000,
            note=reply.usage.describe(),
        )
        return reply

    async def _complete(self) -> ChatReply:
        messages = build_prompt(
            self._task.question,
            self._task.caller,
            self._plan,
            self._notebook,
            step=self._budget.steps,
            tools=self._specs,
            may_write=bool(self._task.skills),
            prompt_tokens=self._prompt_tokens,
            hint=self._hint,
            memory=self._memory,
        )
        return await self._model.complete(messages, self._specs, max_tokens=MOST_REPLY_TOKENS)

    def _read_calls(self, reply: ChatReply) -> list[ToolCall]:
        if reply.tool_calls:
            return list(reply.tool_calls[:MOST_CALLS])
        names = frozenset(one.name for one in self._specs)
        return [
            ToolCall(call_id=_build_id(), name=one.name, arguments=one.arguments)
            for one in read_written_calls(reply.text, names)[:MOST_CALLS]
        ]

    def _sort_out(self, calls: Sequence[ToolCall]) -> _Round:
        """Check each call; those with faults are answered at once."""
        sorted_out = _Round()
        keys: set[str] = set()
        for call in calls:
            try:
                if call.name in self._task.skills:
                    sorted_out.proposal = sorted_out.proposal or self._draft(call)
                    continue
                run = self._check(call)
            except (ToolRetryError, PermanentError) as error:
                sorted_out.refused.append(self._refuse(call, str(error)))
                continue
            key = build_key(run.tool.name, run.arguments)
            if key in keys or self._notebook.has_call(key):
                sorted_out.repeated += 1
                said = "this was called before; use its result, or call with other arguments"
                sorted_out.refused.append(self._refuse(call, said))
                continue
            keys.add(key)
            sorted_out.runs.append(run)
        return sorted_out

    def _check(self, call: ToolCall) -> ToolRun:
        tool = self._task.tools.get(call.name)
        if tool is None:
            known = ", ".join(one.name for one in self._specs)
            raise ToolRetryError(f"there is no tool {call.name[:60]!r}; there are {known}")
        arguments = read_arguments(
            call.arguments, tool.parameters, self._task.caller.now, restore=self._model.restore
        )
        if tool.name == CALCULATE:
            self._origins().check_numbers(str(arguments["expression"]))
        return ToolRun(call_id=call.call_id or _build_id(), tool=tool, arguments=arguments)

    def _draft(self, call: ToolCall) -> Proposal:
        """Turn the call of a write tool into a draft; nothing is written."""
        skill = self._task.skills[call.name]
        arguments = read_arguments(
            call.arguments, skill.parameters, self._task.caller.now, restore=self._model.restore
        )
        origins = self._origins()
        origins.check_addresses(arguments)
        parameters = skill.normalise(arguments)
        from_pages, by_model = origins.find_marks(parameters)
        self._task.steps.note(
            f"agent: draft {skill.name}",
            note=f"from results: {', '.join(sorted(from_pages)) or 'nothing'}",
        )
        return Proposal(
            skill=skill.name, parameters=parameters, from_pages=from_pages, by_model=by_model
        )

    def _origins(self) -> Origins:
        return Origins(said=self._task.said, found=self._notebook.list_texts())

    def _judge_without_runs(self, sorted_out: _Round) -> StopReason | None:
        """Tell whether calls that all had faults end the run."""
        if sorted_out.repeated == len(sorted_out.refused):
            return StopReason.REPEATED
        self._faults += 1
        return StopReason.TOOL_ERRORS if self._faults >= MOST_FAULTS else None

    async def _run(self, runs: Sequence[ToolRun]) -> StopReason | None:
        outcomes = await run_tools(runs, self._task.caller, most_s=self._budget.looking_left_s)
        observations = [
            self._observe(run, outcome) for run, outcome in zip(runs, outcomes, strict=True)
        ]
        news = [self._notebook.add(one) for one in observations]
        if any(news):
            self._in_vain = self._faults = 0
            return None
        if all(one.error for one in observations):
            self._faults += 1
            return StopReason.TOOL_ERRORS if self._faults >= MOST_FAULTS else None
        if any(one.has_found for one in observations):
            return StopReason.NO_NEW_EVIDENCE
        self._in_vain += 1
        return StopReason.NOTHING_FOUND if self._in_vain >= MOST_IN_VAIN else None

    def _observe(self, run: ToolRun, outcome: RunOutcome) -> Observation:
        observation = build_observation(
            run,
            outcome,
            step=self._budget.steps,
            readable=self._task.caller.reader.audience_readable,
            is_kept=self._task.is_kept,
        )
        note_observation(self._task.steps, observation)
        return observation

    def _refuse(self, call: ToolCall, error: str) -> Observation:
        name = call.name[:60] or "unnamed"
        self._task.steps.note(f"tool: {name}", note=f"refused: {error[:300]}", is_ok=False)
        return Observation(
            step=self._budget.steps,
            call_id=call.call_id or _build_id(),
            # Names of the model's own must be names for the next prompt too.
            tool="".join(char if char.isascii() and char.isalnum() else "_" for char in name),
            arguments={},
            error=error,
            was_run=False,
        )

    async def _revise(self, observations: Sequence[Observation], said: str) -> None:
        revised = revise_plan(self._plan, observations, self._analyser, said)
        if revised is not None:
            self._plan = revised
            await self._show_plan()

    async def _show_plan(self) -> None:
        plan = self._plan
        by = "the model" if plan.is_by_model else "the results"
        self._task.steps.note(
            f"plan {plan.number}",
            rows=plan.causes,
            note=f"{plan.describe()} (by {by}, after {plan.reason})",
        )
        # In a room the plan could tell what only the asker may read.
        if self._task.status is not None and self._task.caller.reader.is_private:
            await self._task.status(plan.describe())

    def _choose_specs(self) -> list[ToolSpec]:
        offered: list[Tool | ProposableSkill] = [
            *self._task.tools.values(),
            *self._task.skills.values(),
        ]
        specs = [
            ToolSpec(name=one.name, description=one.description, parameters=one.parameters)
            for one in offered
        ]
        terms = frozenset(self._analyser.index_terms(self._task.question))
        return choose_tools(
            specs,
            frozenset({SEARCH}) | self._task.skills.keys(),
            terms,
            [
                frozenset(self._analyser.index_terms(f"{one.name} {one.description}"))
                for one in specs
            ],
            most_tokens=int(self._settings.prompt_tokens * _TOOLS_SHARE),
        )


def _build_id() -> str:
    return f"call_{secrets.token_hex(_ID_BYTES)}"
