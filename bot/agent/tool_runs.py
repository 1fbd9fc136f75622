"""Running tools: side by side, each within its time, every failure told in words."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import structlog
from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.tools import Tool, ToolResult
from core.errors import RefusedError, ToolFailedError, ToolRetryError

_log = structlog.get_logger(__name__)

MOST_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A tool to be run, with arguments that were checked."""

    call_id: str
    tool: Tool
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """What a tool gave, or why it gave nothing, in words for the model."""

    result: ToolResult | None
    error: str
    took_ms: float


async def run_tools(runs: Sequence[ToolRun], caller: Caller, *, most_s: float) -> list[RunOutcome]:
    """Run tools side by side; outcomes come in the order of the runs.

    Args:
        runs: What to run.
        caller: On whose behalf.
        most_s: Seconds for all of them; each has its own limit besides.
    """
    places = asyncio.Semaphore(MOST_AT_ONCE)
    deadline = time.monotonic() + most_s

    async def run_one(run: ToolRun) -> RunOutcome:
        async with places:
            began = time.perf_counter()
            left = max(0.0, min(run.tool.timeout_s, deadline - time.monotonic()))
            result, error = await _run(run, caller, left)
            took_ms = (time.perf_counter() - began) * 1000
            return RunOutcome(result=result, error=error, took_ms=took_ms)

    return list(await asyncio.gather(*(run_one(run) for run in runs)))


async def _run(run: ToolRun, caller: Caller, timeout_s: float) -> tuple[ToolResult | None, str]:
    try:
        async with asyncio.timeout(timeout_s):
            return await run.tool.run(run.arguments, caller), ""
    except Exception as error:  # noqa: BLE001 - one tool must not end the run
        return None, _explain(run.tool.name, error)


def _explain(name: str, error: Exception) -> str:
    match error:
        case TimeoutError():
            return f"{name} did not answer in time; go on without it"
        case ToolRetryError():
            return f"mend the arguments: {error}"
        case RefusedError():
            # The refusal's own words may name what the person may not see.
            return "the person may not see this; go on without it"
        case ToolFailedError():
            return f"{error}; go on without it"
        case _:
            _log.error("tool_failed", tool=name, exc_info=error)
            return f"{name} failed; go on without it"
