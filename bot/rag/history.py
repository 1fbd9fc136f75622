"""What a page said before: which states there were, and which are asked for. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.rag.question_type import HistoryKind
from bot.rag.quote_scoring import AskedQuestion, QuoteScorer, ScoredQuote
from bot.rag.quotes import parse_section
from bot.rag.values import Value, extract_values
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.ledger_records import VersionRecord
from knowledge.retrieval import Evidence

# An older sentence says the same thing when it shares this part of its words with today's...
LEAST_COMMON_WORDS = 0.35
# ...or, reworded, when it scores this near to it for the question.
MOST_BEHIND = 1.5

_NAMING = re.compile(
    r"叫什么|改名|更名|名字|名称|标题|\brenamed?\b|\bcalled\b"
    r"|\b(?:old|former|previous) (?:name|title)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a page said on the matter for a while.

    Attributes:
        text: The sentence, row or item, as it stood.
        hit: The passage it stood in, of that version.
        until: None = still in force.
    """

    text: str
    hit: Hit
    quote: ScoredQuote
    since: datetime
    until: datetime | None

    @property
    def values(self) -> list[Value]:
        """The values it gave."""
        return extract_values(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleChange:
    """A page's change of name."""

    before: VersionRecord
    after: VersionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class _Match:
    """What a passage, of any version, says on the matter.

    Attributes:
        is_same_row: It is a table's row, and its key is that of the row followed.
    """

    row: Hit
    quote: ScoredQuote
    is_same_row: bool


def build_states(
    asked: AskedQuestion, anchor: ScoredQuote, rows: Sequence[Hit], analyser: Analyser
) -> list[State]:
    """Follow one statement through the versions of its page, oldest first.

    Args:
        anchor: The statement as it is found today, or at the moment searched for.
        rows: All passages the page ever had.

    Returns:
        One state for each different wording or value; neighbours that say the same are one.
        Gaps in time, where the page said nothing on the matter, are left out.
    """
    matches = [match for row in rows if (match := _match_row(asked, anchor, row, analyser))]
    moments = sorted({match.row.valid_from for match in matches})
    states: list[State] = []
    for moment in moments:
        alive = [
            match
            for match in matches
            if match.row.valid_from <= moment
            and (match.row.valid_to is None or match.row.valid_to > moment)
        ]
        if not alive:
            continue
        best = max(alive, key=lambda one: (one.is_same_row, one.quote.score, -one.row.position))
        state = State(
            text=best.quote.quote.text,
            hit=best.row,
            quote=best.quote,
            since=best.row.valid_from,
            until=best.row.valid_to,
        )
        if states and _says_the_same(states[-1], state):
            states[-1] = _prolong(states[-1], state)
        else:
            states.append(state)
    return states


def choose_states(
    states: Sequence[State],
    kinds: Sequence[HistoryKind],
    question: str,
    *,
    moment: datetime | None = None,
) -> list[State]:
    """Choose the states a question asks for, oldest first; empty when there is no past.

    A question that names a value is about the change to it; one that names a moment about the
    state of then and today's; else about the last change.
    """
    if len(states) < 2:  # noqa: PLR2004 - one state has no past
        return []
    if set(kinds) == {HistoryKind.AT}:
        return [] if moment is None else _choose_state_at(states, moment)
    if HistoryKind.ALL_STATES in kinds:
        return list(states)
    named = extract_values(question)
    for index in range(1, len(states)):
        if any(value.equals(asked) for value in states[index].values for asked in named):
            return list(states[index - 1 : index + 1])
    return list(states[-2:])


def _choose_state_at(states: Sequence[State], moment: datetime) -> list[State]:
    *former, latest = states
    then = [one for one in former if one.since <= moment and (one.until or moment) > moment]
    return [*then, latest] if then else []


def find_title_change(versions: Sequence[VersionRecord], question: str) -> TitleChange | None:
    """Return the last change of a page's title, when the question is about its name."""
    if not _NAMING.search(question):
        return None
    for index in range(len(versions) - 1, 0, -1):
        before, after = versions[index - 1], versions[index]
        if before.title != after.title:
            return TitleChange(before=before, after=after)
    return None


def _match_row(
    asked: AskedQuestion, anchor: ScoredQuote, row: Hit, analyser: Analyser
) -> _Match | None:
    """Return the row with the quote that speaks of the anchor's matter, if one does."""
    section = parse_section(row.text)
    evidence = Evidence(hit=row, section_text=row.text, passages=(row,))
    scored = QuoteScorer(asked, analyser).score([evidence], [section])
    wanted = _find_words(anchor.quote.text, analyser)
    best: tuple[tuple[bool, float], ScoredQuote] | None = None
    for quote in scored:
        words = _find_words(quote.quote.text, analyser)
        common = len(words & wanted) / (max(len(words), len(wanted)) or 1)
        # A row is about its key, whatever else its cells have come to say.
        has_key = bool(anchor.quote.cells) and quote.quote.cells[:1] == anchor.quote.cells[:1]
        is_reworded = quote.score >= anchor.score - MOST_BEHIND and bool(quote.covered)
        rank = (has_key, common + quote.score)
        is_match = has_key or common >= LEAST_COMMON_WORDS or is_reworded
        if is_match and (best is None or rank > best[0]):
            best = (rank, quote)
    return None if best is None else _Match(row=row, quote=best[1], is_same_row=best[0][0])


def _find_words(text: str, analyser: Analyser) -> frozenset[str]:
    """Return the words of a statement without its values, which are what changes."""
    for value in reversed(extract_values(text)):
        text = f"{text[: value.start]} {text[value.end :]}"
    return frozenset(analyser.words(text))


def _says_the_same(one: State, other: State) -> bool:
    if _squeeze(one.text) == _squeeze(other.text):
        return True
    mine, theirs = one.values, other.values
    if not mine and not theirs:
        return False
    return len(mine) == len(theirs) and all(
        any(value.equals(said) for said in theirs) for value in mine
    )


def _prolong(one: State, other: State) -> State:
    """Join neighbours that say the same: the later wording counts, since the first time."""
    return State(
        text=other.text, hit=other.hit, quote=other.quote, since=one.since, until=other.until
    )


def _squeeze(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()
