"""Follow-ups as whole questions: by rules, and by a model where rules are not sure.

What a model writes is checked: it keeps the codes, numbers and names of the person's words, and
brings in none that stand in no turn. Else the rules' reading holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import structlog

from bot.memory.follow_ups import resolve_follow_up
from bot.memory.memory_model import MemoryModel
from bot.memory.summarising import describe_turn
from bot.memory.turns import Turn
from bot.rag.language import detect_language
from core.errors import ZhixingError

_log = structlog.get_logger(__name__)

MOST_QUESTION_CHARS = 300
MOST_QUESTION_TOKENS = 120
TURNS_SHOWN = 3
TURN_CHARS = 300
_TASK = """\
Rewrite the person's last message as one whole question that can be understood without what was \
said before: put in what its pronouns and omissions stand for. Copy names, numbers and codes as \
they stand, add nothing else, keep its language, and do not answer it. If it is a new matter, \
repeat it as it is."""

By = Literal["", "rules", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A question standing on its own, and how it came about.

    Attributes:
        by: Who rewrote it; empty = it stood on its own.
        rests_on: The turns it was rewritten from.
        note: Why a model's text was not taken.
    """

    question: str
    by: By = ""
    rests_on: tuple[Turn, ...] = ()
    note: str = ""


class Rewriter:
    """Rewrites follow-ups."""

    def __init__(self, model: MemoryModel | None = None) -> None:
        self._model = model

    async def rewrite(self, question: str, turns: Sequence[Turn]) -> Rewritten:
        """Return a whole question.

        Args:
            question: As it was put.
            turns: What it may lean on, oldest first: of one matter, all within the rights of
                whoever listens.
        """
        if not turns:
            return Rewritten(question=question)
        resolved = resolve_follow_up(question, turns[-1].question)
        if resolved.is_whole:
            return Rewritten(question=question)
        by_rules = Rewritten(question=resolved.question, by="rules", rests_on=(turns[-1],))
        if resolved.is_sure or self._model is None:
            return by_rules
        shown = turns[-TURNS_SHOWN:]
        if not await self._model.may_see(shown):
            return replace(by_rules, note="kept here")
        try:
            written, fault = await self._ask(self._model, question, shown)
        except ZhixingError as error:
            _log.warning("model_failed", reason=str(error))
            written, fault = "", "the model failed"
        if fault:
            return replace(by_rules, note=fault)
        return Rewritten(question=written, by="model", rests_on=tuple(shown))

    async def _ask(
        self, model: MemoryModel, question: str, shown: Sequence[Turn]
    ) -> tuple[str, str]:
        """Return the model's question and what is wrong with it; empty = nothing."""
        exchanges = "\n\n".join(describe_turn(one, most_chars=TURN_CHARS) for one in shown)
        written = await model.write(
            _TASK, exchanges, f"Last message: {question}", max_tokens=MOST_QUESTION_TOKENS
        )
        written = written.strip().strip('"“”「」 ')
        if not written or "\n" in written or len(written) > MOST_QUESTION_CHARS:
            return "", "no single question"
        if detect_language(written) != detect_language(question):
            return "", "another language"
        # What a turn rests on may be named; what the person said must be.
        if await model.find_unheld(written, f"{exchanges}\n{question}"):
            return "", "it names what stands in no turn"
        if await model.find_unheld(question, written):
            return "", "it leaves out what was said"
        return written, ""
