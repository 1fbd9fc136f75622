"""Older turns in short, two at a time: quoted, or written by a model where one is configured.

It is done once the reply is on its way and in steps that may break off anywhere: turns stay until
their summary takes their place.
"""

import asyncio
import re
from collections.abc import Sequence

import structlog

from bot.memory.memory_model import MemoryModel
from bot.memory.turns import Turn, TurnStore
from core.errors import ZhixingError
from knowledge.sentences import cut_sentences

_log = structlog.get_logger(__name__)

MOST_SUMMARY_CHARS = 600
MOST_QUESTION_CHARS = 120
MOST_GIST_CHARS = 160
MOST_SUMMARY_TOKENS = 200
# More of them than this wait for the next turn.
MOST_ROUNDS = 4
_MARKER = re.compile(r"[ \t]*(?<!\\)\[\d{1,2}\](?!\()")
_LAYOUT = re.compile(r"[|#>*`]+|\s+")
_TASK = """\
Shorten these two exchanges between a person and an assistant to at most three sentences: what was \
asked, what was answered. Copy numbers, names, codes and dates as they stand, add nothing, and \
write in the language of the exchanges."""


class Summariser:
    """Puts summaries in the place of older turns."""

    def __init__(self, turns: TurnStore, model: MemoryModel | None = None) -> None:
        self._turns = turns
        self._model = model
        self._tasks: set[asyncio.Task[None]] = set()

    async def keep(self, thread: str, person: str, turn: Turn) -> None:
        """Remember a turn; summarising with a model goes on after this returns."""
        await self._turns.append(thread, person, turn)
        if self._model is None:
            await self.run(thread, person)
            return
        task = asyncio.create_task(self._run_alone(thread, person))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def run(self, thread: str, person: str) -> None:
        """Summarise what is due."""
        for _ in range(MOST_ROUNDS):
            due = await self._turns.load_due(thread, person)
            if not due or not await self._turns.replace(due, await self._summarise(due)):
                return

    async def close(self) -> None:
        """Break off what is under way: the turns are still there."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run_alone(self, thread: str, person: str) -> None:
        try:
            await self.run(thread, person)
        except Exception:  # noqa: BLE001 - nobody waits for it; the next turn tries again
            _log.exception("turns_not_summarised")

    async def _summarise(self, several: Sequence[Turn]) -> Turn:
        quoted = summarise_turns(several)
        if self._model is None or not await self._model.may_see(several):
            return quoted
        exchanges = "\n\n".join(describe_turn(one) for one in several)
        try:
            written = await self._model.write(
                _TASK, exchanges, "Summary:", max_tokens=MOST_SUMMARY_TOKENS
            )
            unheld = await self._model.find_unheld(written, exchanges)
        except ZhixingError as error:
            _log.warning("model_failed", reason=str(error))
            return quoted
        text = " ".join(written.split())
        if not text or len(text) > MOST_SUMMARY_CHARS or unheld:
            return quoted
        return build_summary(several, text)


def summarise_turns(several: Sequence[Turn]) -> Turn:
    """Summarise turns by quoting: each question, and the first sentence of its reply."""
    lines = [
        f"{one.question.strip()[:MOST_QUESTION_CHARS]} → {find_gist(one.answer)}" for one in several
    ]
    return build_summary(several, "\n".join(lines))


def build_summary(several: Sequence[Turn], text: str) -> Turn:
    """Build the summary of turns: it rests on all they rest on, and is private if one was."""
    return Turn(
        at=several[-1].at,
        question="",
        answer=text,
        passages=tuple(dict.fromkeys(passage for one in several for passage in one.passages)),
        is_private=any(one.is_private for one in several),
        is_summary=True,
    )


def describe_turn(turn: Turn, *, most_chars: int = 600) -> str:
    """Put a turn into two lines for a model."""
    asked = f"Asked: {turn.question.strip()[:most_chars]}"
    said = " ".join(_MARKER.sub("", turn.answer).split())[:most_chars]
    return f"{asked}\nAnswered: {said}" if said else asked


def find_gist(answer: str) -> str:
    """Return the first sentence of a reply, without its layout."""
    bare = " ".join(_LAYOUT.sub(" ", _MARKER.sub("", answer)).split())
    sentences = [one.strip() for one in cut_sentences(bare) if one.strip()]
    return (sentences[0] if sentences else "")[:MOST_GIST_CHARS]
