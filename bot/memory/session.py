"""Session memory: what a conversation remembers, and how questions are understood by it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import structlog

from bot.memory.forgetting import Forgetting
from bot.memory.memory_model import Leaving
from bot.memory.prompt_memory import build_memory
from bot.memory.recollection import Recalled, Recollection
from bot.memory.rewriting import Rewriter, Rewritten
from bot.memory.turns import Turn
from bot.trace_steps import UNDERSTAND, TraceSteps
from core.credentials import mask_credentials
from core.logging import MASK
from core.messages import Answer
from knowledge.documents import Hit
from knowledge.readers import Reader

_log = structlog.get_logger(__name__)

# Of one prompt, at most.
_MEMORY_SHARE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A question as it was understood.

    Attributes:
        question: Standing on its own.
        said: As it was put.
        memory: What was said before, fenced for a model; empty = nothing.
        rests_on: The turns it was understood by.
    """

    question: str
    said: str
    memory: str = ""
    rests_on: tuple[Turn, ...] = field(default=())


class SessionMemory:
    """Understands questions in the light of their thread, remembers replies, and forgets."""

    def __init__(
        self,
        recollection: Recollection,
        rewriter: Rewriter,
        forgetting: Forgetting,
        leaving: Leaving,
        *,
        prompt_tokens: int,
    ) -> None:
        """Prepare; `prompt_tokens` is the most of one prompt, the share of memory included."""
        self._recollection = recollection
        self._rewriter = rewriter
        self._forgetting = forgetting
        self._leaving = leaving
        self._most_tokens = int(prompt_tokens * _MEMORY_SHARE)

    async def understand(
        self, question: str, earlier: str | Sequence[Turn], reader: Reader, steps: TraceSteps
    ) -> Understood:
        """Give a follow-up back what it leaves out.

        Args:
            question: As it was put.
            earlier: The turns before it, or the thread they are kept in; empty = none.
            reader: Who asks and who listens.
            steps: Takes which turns were used, and how; never their text.
        """
        if not earlier:
            steps.note(UNDERSTAND, note=question)
            return Understood(question=question, said=question)
        recalled = await self._recollection.recall(earlier, reader)
        rewritten = await self._rewriter.rewrite(question, recalled.topic)
        passages = dict.fromkeys(one for turn in rewritten.rests_on for one in turn.passages)
        # A trace that tells the question goes with what the question rests on.
        rows = [(passage, 0.0) for passage in passages]
        steps.note(UNDERSTAND, rows=rows, note=rewritten.question)
        steps.note("memory", note=_describe(recalled, rewritten))
        may_leave = await self._leaving.keep_those([*recalled.older, *recalled.turns])
        return Understood(
            question=rewritten.question,
            said=question,
            memory=build_memory(may_leave, most_tokens=self._most_tokens),
            rests_on=rewritten.rests_on,
        )

    async def obey(
        self, question: str, earlier: str | Sequence[Turn], reader: Reader
    ) -> Answer | None:
        """Forget when that is what a person asks for; None when it is not."""
        if not earlier or not isinstance(earlier, str):
            return None
        return await self._forgetting.obey(question, earlier, reader)

    def build_turn(
        self, understood: Understood, answer: Answer, cited: Sequence[Hit], reader: Reader
    ) -> Turn:
        """Build the turn of an answer, with everything it rests on and no credential of it."""
        question = mask_credentials(understood.question, MASK)
        return self._recollection.build_turn(question, answer, cited, reader, understood.rests_on)

    async def keep(self, thread: str, reader: Reader, turn: Turn, trace_id: str) -> None:
        """Remember a turn; an answer is given even when that fails."""
        try:
            await self._recollection.keep(thread, reader, turn)
        except Exception:  # noqa: BLE001 - every question ends in a reply
            _log.exception("turn_not_kept", trace_id=trace_id)

    async def list_own(self, reader: Reader) -> tuple[list[Turn], int]:
        """Return all that is remembered of the asker and may be shown, and how much may not."""
        return await self._recollection.list_own(reader)

    async def close(self) -> None:
        """Break off what is under way; nothing is lost."""
        await self._recollection.close()


def _describe(recalled: Recalled, rewritten: Rewritten) -> str:
    """Tell which turns were used, by their ids."""
    how = f"rewritten by {rewritten.by}" if rewritten.by else "stands on its own"
    if rewritten.rests_on:
        how += f" from {_list_ids(one.turn_id for one in rewritten.rests_on)}"
    notes = [how, rewritten.note and f"model: {rewritten.note}"]
    notes.append(f"recalled {_list_ids(one.turn_id for one in recalled.turns)}")
    if recalled.older:
        notes.append(f"in short {_list_ids(one.turn_id for one in recalled.older)}")
    if recalled.dropped:
        notes.append(f"dropped for rights {_list_ids(recalled.dropped)}")
    return "; ".join(filter(None, notes))


def _list_ids(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids)) or "none"
