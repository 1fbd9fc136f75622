"""Pages that are named: in the question, or in the text of its best hits. Pure.

"Who founded the network that shows X?" is answered by a page whose name stands only in the page
about X; a comparison of A and B needs a passage of each. So a named page's best passage is moved
up to just below the hit that names it, and never above it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge.analysis import fold
from knowledge.documents import DocumentId, Hit

NAMING_HITS = 3
"""How many of the best hits are read for names."""
LIFT = 1.5
"""In standard deviations, for the best passage of a named page."""
BELOW = 0.05
"""How far below the hit that names it a passage stays."""
MOST_NAMED = 8
MOST_BEARERS = 3
"""A title that more pages bear (minutes, a company's name) is not the name of one."""
_SHORTEST_WORD = 5
_SHORTEST_HAN = 3
_BRACKETS = re.compile(r"\s*[(（\[【][^)）\]】]*[)）\]】]")
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")

Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TitleIndex:
    """Documents by the words of their title.

    Titles too short to be a name (one short word, one or two characters) and titles that many
    documents bear are left out.
    """

    documents: Mapping[Name, frozenset[DocumentId]]
    longest: Mapping[str, int]
    """Words of the longest title that begins with a word."""

    def find(self, text: str) -> list[Name]:
        """Return the titles that stand in a text, each once, in order; the longest at a place.

        A title inside a longer one that stands at the same place is not named.
        """
        tokens = _TOKEN.findall(fold(text))
        found: dict[Name, None] = {}
        start = 0
        while start < len(tokens):
            name = self._longest_at(tokens, start)
            if name:
                found[name] = None
            start += len(name) or 1
        return list(found)

    def _longest_at(self, tokens: Sequence[str], start: int) -> Name:
        longest = min(self.longest.get(tokens[start], 0), len(tokens) - start)
        for length in range(longest, 0, -1):
            name = tuple(tokens[start : start + length])
            if name in self.documents:
                return name
        return ()


def build_title_index(titles: Iterable[tuple[DocumentId, str]]) -> TitleIndex:
    """Build the index from (document, title); brackets in titles are not part of the name."""
    documents: dict[Name, set[DocumentId]] = {}
    for document_id, title in titles:
        name = tuple(_TOKEN.findall(fold(_BRACKETS.sub("", title))))
        if _is_name(name):
            documents.setdefault(name, set()).add(document_id)
    names = {name: frozenset(ids) for name, ids in documents.items() if len(ids) <= MOST_BEARERS}
    longest: dict[str, int] = {}
    for name in names:
        longest[name[0]] = max(len(name), longest.get(name[0], 0))
    return TitleIndex(documents=names, longest=longest)


def find_named_documents(
    question: str, hits: Sequence[Hit], titles: TitleIndex
) -> dict[DocumentId, float]:
    """Return named documents with the score they must stay below, at most `MOST_NAMED`.

    Args:
        hits: Best first.
    """
    if not hits:
        return {}
    ceilings: dict[DocumentId, float] = {}
    readings: list[tuple[str, float, DocumentId | None]] = [(question, hits[0].score, None)]
    readings += [(hit.text, hit.score, hit.document_id) for hit in hits[:NAMING_HITS]]
    for text, score, reader in readings:
        for name in titles.find(text):
            for document_id in sorted(titles.documents[name] - {reader}):
                ceilings.setdefault(document_id, score - BELOW)
    return dict(list(ceilings.items())[:MOST_NAMED])


def lift_named(hits: Sequence[Hit], ceilings: Mapping[DocumentId, float]) -> list[Hit]:
    """Lift the best passage of each named document; best first, ties by passage id.

    Passages of named documents that recall had missed must have joined the hits before, scored
    with them.
    """
    waiting = dict(ceilings)
    lifted = []
    for hit in hits:
        ceiling = waiting.pop(hit.document_id, None)
        score = hit.score if ceiling is None else max(hit.score, min(hit.score + LIFT, ceiling))
        lifted.append(
            hit
            if score == hit.score
            else replace(hit, score=score, scores={**hit.scores, "named": score})
        )
    return sorted(lifted, key=lambda hit: (-hit.score, hit.passage_id))


def _is_name(name: Name) -> bool:
    if not name:
        return False
    han = sum("\u3400" <= token <= "\u9fff" for token in name)
    if han:
        return han >= _SHORTEST_HAN
    return len(name) > 1 or len(name[0]) >= _SHORTEST_WORD
