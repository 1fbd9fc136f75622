"""Questions that could mean several things the evidence speaks of: then it is asked which. Pure."""

import re
from collections.abc import Sequence

from bot.rag.quote_scoring import AskedQuestion, ScoredQuote
from bot.rag.quotes import QuoteKind
from knowledge.analysis import Analyser

MOST_OPTIONS = 6
FEWEST_OPTIONS = 3
# A row leads when it scores this near to the best quote.
LEAD_GAP = 1.5
# Rows that score this near to the best one answer as well as it does.
TIE_GAP = 0.6
# A question with more words of its own than this says which one it means.
MOST_WORDS = 2

_POINTS_AT = re.compile(
    r"那[个张份台条种位些]|这[个张份台条种位些]|\b(?:that|this|those|these) (?:one|\w+)\b",
    re.IGNORECASE,
)
# Words that ask for a measure of something without naming it.
_BARE = re.compile(
    r"(?:day|hour|minute|week|month|year|time)s?|money|people|get|have|need|allowed|number|amount"
    r"|much|long|需要|几?天|日|小时|分钟|周|月|年|钱|元|人|次|个|数|时间|数量|一共|总共"
)
_MARKUP = re.compile(r"[*`_\\]")


def names_nothing(question: str, analyser: Analyser) -> bool:
    """Tell whether a question asks for a measure without saying of what ("How many days?")."""
    words = analyser.words(question)
    return bool(words) and all(_BARE.fullmatch(word) for word in words)


def find_options(
    asked: AskedQuestion, ranked: Sequence[ScoredQuote], analyser: Analyser
) -> list[str]:
    """Return the names of what a vague question may mean; empty when it is clear enough.

    Only a table splits clearly: its rows tie for the question, and their keys, which the question
    does not name, are the options.
    """
    best = _find_lead(ranked)
    if best is None or asked.analysis.wants_all or not _is_vague(asked.text, analyser):
        return []
    tied = [
        scored
        for scored in ranked
        if (scored.source, scored.quote.block) == (best.source, best.quote.block)
        and scored.score >= best.score - TIE_GAP
    ]
    keys = [_clean(scored.quote.cells[0]) for scored in tied if scored.quote.cells]
    keys = [key for key in dict.fromkeys(keys) if key]
    asked_terms = asked.weights.keys()
    names_one = any(asked_terms & set(analyser.index_terms(key)) for key in keys)
    if len(keys) < FEWEST_OPTIONS or names_one:
        return []
    return keys[:MOST_OPTIONS]


def _find_lead(ranked: Sequence[ScoredQuote]) -> ScoredQuote | None:
    """Return the best table row with a value of the asked type, when it is near the best quote."""
    rows = (one for one in ranked if one.values and one.quote.kind is QuoteKind.ROW)
    lead = next(rows, None)
    if lead is None or lead.score < ranked[0].score - LEAD_GAP:
        return None
    return lead


def _is_vague(question: str, analyser: Analyser) -> bool:
    words = [word for word in analyser.words(question) if not _BARE.fullmatch(word)]
    return len(set(words)) <= MOST_WORDS or _POINTS_AT.search(question) is not None


def _clean(cell: str) -> str:
    return " ".join(_MARKUP.sub("", cell).split())
