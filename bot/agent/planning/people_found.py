"""People that a description means, such as "the owners of X", read from pages."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from bot.agent.name_index import NameIndex
from knowledge.analysis import Analyser
from knowledge.people import PersonId
from knowledge.retrieval import Evidence

_MOST_PEOPLE = 20
_MOST_EVIDENCE = 4
_ROW = re.compile(r"^\s*\|.*\|\s*$")


def find_described_people(
    description: str, evidence: Sequence[Evidence], names: NameIndex, analyser: Analyser
) -> tuple[PersonId, ...]:
    """Return whom the best place of the evidence names; nobody when no place fits.

    A place is a line, a table or a list; it fits by the words it shares with the description, its
    headings included. A code in the description must stand in the very line.
    """
    wanted = set(analyser.index_terms(description))
    codes = set(analyser.codes(description))
    best: tuple[float, tuple[PersonId, ...]] = (0.0, ())
    for rank, one in enumerate(evidence[:_MOST_EVIDENCE]):
        head = " ".join((one.hit.title, *one.hit.heading_path))
        head_terms = set(analyser.index_terms(head))
        for block in _list_blocks(one.section_text):
            terms = set(analyser.index_terms(block))
            if codes and not codes <= set(analyser.codes(block)):
                continue
            people = _name_people(block, names)
            if not people or len(people) > _MOST_PEOPLE:
                continue
            score = len(wanted & terms) + 0.7 * len(wanted & (head_terms - terms)) - 0.1 * rank
            if score > best[0]:
                best = (score, people)
    return best[1]


def _list_blocks(text: str) -> Iterator[str]:
    """Yield every line, and every table and list as a whole."""
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.split("\n") if line.strip()]
        yield from lines
        if len(lines) > 1:
            yield block


def _name_people(block: str, names: NameIndex) -> tuple[PersonId, ...]:
    rows = [line for line in block.split("\n") if _ROW.match(line)]
    if len(rows) > 2:  # noqa: PLR2004 - a head, a rule and something below
        return _name_column(rows, names)
    found = names.find(block)
    return tuple(dict.fromkeys(one.people[0] for one in found if len(one.people) == 1))


def _name_column(rows: Sequence[str], names: NameIndex) -> tuple[PersonId, ...]:
    """Return the people of the column that names most of them."""
    columns: dict[int, list[PersonId]] = {}
    for row in rows:
        for index, cell in enumerate(row.strip().strip("|").split("|")):
            found = [one.people[0] for one in names.find(cell) if len(one.people) == 1]
            columns.setdefault(index, []).extend(found)
    counts = Counter({index: len(set(people)) for index, people in columns.items()})
    best = counts.most_common(1)
    return tuple(dict.fromkeys(columns[best[0][0]])) if best else ()
