"""What is remembered for a question: the turns of its thread that its listeners may know of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.memory.summarising import Summariser
from bot.memory.turns import Turn, TurnStore
from core.clock import Clock
from core.messages import Answer
from knowledge.documents import Hit
from knowledge.ledger import Ledger
from knowledge.readers import Reader

OPERATOR_NAME = "operator"
# Replies of all other tools rest on rows and people, whose rights can't be checked again by a
# passage: of those the question alone is remembered.
_PAGE_TOOLS = frozenset(
    {"search_docs", "get_page", "list_versions", "compare_versions", "calculate"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What is remembered and may be used.

    Attributes:
        turns: As said, oldest first.
        older: What went before one's own turns, in short or waiting to be.
        topic: Those of `turns` that a follow-up may lean on: one's own, else those posted
            publicly; empty when the last of them may not be used.
        dropped: Ids of turns that may not be used today.
    """

    turns: tuple[Turn, ...] = ()
    older: tuple[Turn, ...] = ()
    topic: tuple[Turn, ...] = ()
    dropped: tuple[int, ...] = ()


class Recollection:
    """Recalls turns under the rights of today, and makes new ones."""

    def __init__(
        self,
        turns: TurnStore,
        ledger: Ledger,
        clock: Clock,
        summariser: Summariser | None = None,
    ) -> None:
        self._turns = turns
        self._ledger = ledger
        self._clock = clock
        self._summariser = summariser or Summariser(turns)

    async def recall(self, earlier: str | Sequence[Turn], reader: Reader) -> Recalled:
        """Return the turns before a question.

        Those that rest on what the listeners may not read today, or on private text, are left out.

        Args:
            earlier: The turns, or the thread they are kept in.
            reader: Who asks and who listens.
        """
        person = name_asker(reader)
        older: list[Turn] = []
        if isinstance(earlier, str):
            now = self._clock.now()
            # What was posted in a thread is known to all who read there.
            shared = not reader.is_private
            turns = await self._turns.load(earlier, person, now=now, with_others=shared)
            older = await self._turns.load_older(earlier, person, now=now)
        else:
            turns = [replace(one, person=person) for one in earlier]
        usable = await self._check([*older, *turns], reader)
        in_short, said = usable[: len(older)], usable[len(older) :]
        topic = [pair for pair in said if pair[0].person == person] or said
        # One that leans on what may not be used leans on nothing: not on what went before it.
        is_open = bool(topic) and topic[-1][1]
        return Recalled(
            turns=_pick(said),
            older=_pick(in_short),
            topic=_pick(topic) if is_open else (),
            dropped=tuple(turn.turn_id for turn, is_usable in usable if not is_usable),
        )

    async def list_own(self, reader: Reader) -> tuple[list[Turn], int]:
        """Return all that is remembered of the asker and may be shown, and how much may not."""
        found = await self._turns.load_all(name_asker(reader), now=self._clock.now())
        usable = await self._check(found, reader)
        shown = [turn for turn, is_usable in usable if is_usable]
        return shown, len(found) - len(shown)

    async def _check(self, turns: Sequence[Turn], reader: Reader) -> list[tuple[Turn, bool]]:
        """Tell of each turn whether it may be used today."""
        ids = sorted({passage for turn in turns for passage in turn.passages})
        states = await self._ledger.check_rows(ids) if ids else {}
        readable = {
            passage
            for passage, state in states.items()
            if reader.audience_readable.admits(state.access_no)
        }
        return [
            (
                turn,
                readable.issuperset(turn.passages) and (reader.is_private or not turn.is_private),
            )
            for turn in turns
        ]

    def build_turn(
        self,
        question: str,
        answer: Answer,
        cited: Sequence[Hit],
        reader: Reader,
        rests_on: Sequence[Turn] = (),
    ) -> Turn:
        """Build the turn of an answer, with everything it rests on.

        Args:
            question: As it was understood.
            answer: What was said.
            cited: What the answer rests on.
            reader: Who asked and who listened.
            rests_on: The turns that the question was understood by.
        """
        passages = [hit.passage_id for hit in cited]
        passages += [passage for turn in rests_on for passage in turn.passages]
        is_of_pages = _PAGE_TOOLS.issuperset(answer.tools)
        return Turn(
            at=self._clock.now(),
            question=question,
            answer=answer.text if is_of_pages else "",
            passages=tuple(dict.fromkeys(passages)),
            is_private=reader.is_private or answer.private_answer is not None,
        )

    async def keep(self, thread: str, reader: Reader, turn: Turn) -> None:
        """Remember a turn."""
        await self._summariser.keep(thread, name_asker(reader), turn)

    async def close(self) -> None:
        """Break off what is under way."""
        await self._summariser.close()


def _pick(usable: Sequence[tuple[Turn, bool]]) -> tuple[Turn, ...]:
    return tuple(turn for turn, is_usable in usable if is_usable)


def name_asker(reader: Reader) -> str:
    """Return the name that turns and traces of an asker are kept under."""
    if reader.asker is not None:
        return reader.asker.person_id
    return reader.account or OPERATOR_NAME
