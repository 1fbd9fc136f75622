"""What is remembered for a question: the turns of its thread that its listeners may know of."""

from collections.abc import Sequence

from bot.memory.turns import Turn, TurnStore
from core.clock import Clock
from core.messages import Answer
from knowledge.documents import Hit
from knowledge.ledger import Ledger
from knowledge.readers import Reader

OPERATOR_NAME = "operator"


class Recollection:
    """Recalls turns under the rights of today, and makes new ones."""

    def __init__(self, turns: TurnStore, ledger: Ledger, clock: Clock) -> None:
        self._turns = turns
        self._ledger = ledger
        self._clock = clock

    async def recall(self, earlier: str | Sequence[Turn], reader: Reader) -> list[Turn]:
        """Return the turns before a question, oldest first.

        Those that rest on what the listeners may not read today, or on private text, are left out.

        Args:
            earlier: The turns, or the thread they are kept in.
            reader: Who asks and who listens.
        """
        turns = earlier
        if isinstance(turns, str):
            turns = await self._turns.load(
                turns,
                name_asker(reader),
                now=self._clock.now(),
                # What was posted in a thread is known to all who read there.
                with_others=not reader.is_private,
            )
        return [turn for turn in turns if await self._may_be_used(turn, reader)]

    async def _may_be_used(self, turn: Turn, reader: Reader) -> bool:
        if turn.is_private and not reader.is_private:
            return False
        states = await self._ledger.check_rows(turn.passages)
        return all(
            passage in states and reader.audience_readable.admits(states[passage].access_no)
            for passage in turn.passages
        )

    def build_turn(
        self, question: str, answer: Answer, cited: Sequence[Hit], reader: Reader
    ) -> Turn:
        """Build the turn of an answer, with everything it rests on."""
        return Turn(
            at=self._clock.now(),
            question=question,
            answer=answer.text,
            passages=tuple(dict.fromkeys(hit.passage_id for hit in cited)),
            is_private=reader.is_private or answer.private_answer is not None,
        )

    async def keep(self, thread: str, reader: Reader, turn: Turn) -> None:
        """Remember a turn."""
        await self._turns.append(thread, name_asker(reader), turn)


def name_asker(reader: Reader) -> str:
    """Return the name that turns and traces of an asker are kept under."""
    if reader.asker is not None:
        return reader.asker.person_id
    return reader.account or OPERATOR_NAME
