"""How many messages of the dialogues the rules understand, without a model."""

import pytest

from bot.memory.follow_ups import resolve_follow_up
from tests.unit.bot.memory.dialogues import DIALOGUES, Dialogue, is_understood

DEVELOPED, REPORTED = DIALOGUES[::2], DIALOGUES[1::2]


def count_understood(dialogues: tuple[Dialogue, ...]) -> tuple[int, int]:
    """Return how many messages are understood, and how many there are."""
    understood = asked = 0
    for before, messages in dialogues:
        for message in messages:
            before = resolve_follow_up(message.text, before).question  # noqa: PLW2901
            understood += is_understood(message, before)
            asked += 1
    return understood, asked


@pytest.mark.parametrize(("dialogues", "least"), [(DEVELOPED, 34), (REPORTED, 34)])
def test_the_rules_understand_most_messages(dialogues: tuple[Dialogue, ...], least: int) -> None:
    understood, asked = count_understood(dialogues)
    assert asked == 36
    assert understood >= least
