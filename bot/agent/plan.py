"""The visible plan of a run: what is still to do, revised after each result."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.agent.notebook import Observation
from knowledge.analysis import Analyser

MOST_STEPS = 5
MOST_CHARS = 120
LEAST_CHARS = 4
# A step is done once results hold this share of its words.
DONE_SHARE = 0.6

_MARK = re.compile(r"^[\s>*#`]*(?:plan|计划)\s*[:：]\s*(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)、:：])\s*(.+)$")
_DONE = re.compile(
    r"^\W*(?:done|none|finished|nothing(?: left)?|完成|已完成|无)\W*$", re.IGNORECASE
)
_PARTS = re.compile(
    r"[，,；;。？?！!\n]+|然后|并且|以及|接着"
    r"|\band then\b|\bthen\b"
    r"|\band\b(?=\s+(?:how|what|who|when|which|where|if|is|are|do|does|send)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is still to do.

    Attributes:
        causes: The passages that led to this revision, best first, with their scores.
        reason: What led to it, in words.
        is_by_model: The model wrote it; else it follows from the results alone.
    """

    steps: tuple[str, ...]
    number: int = 1
    causes: tuple[tuple[str, float], ...] = ()
    reason: str = ""
    is_by_model: bool = False

    def describe(self) -> str:
        """Put it into one line."""
        if not self.steps:
            return "nothing left to do"
        return "; ".join(f"{n}. {step}" for n, step in enumerate(self.steps, 1))


def split_question(question: str) -> tuple[str, ...]:
    """Return the parts of a question that ask, or want, one thing each."""
    parts = [part.strip() for part in _PARTS.split(question)]
    long = tuple(part[:MOST_CHARS] for part in parts if len(part) >= LEAST_CHARS)[:MOST_STEPS]
    return long or (question[:MOST_CHARS],)


def begin_plan(question: str, observations: Sequence[Observation]) -> Plan:
    """Begin with the parts of the question, after the first search."""
    return Plan(
        steps=split_question(question),
        causes=tuple(row for one in observations for row in one.rows),
        reason="parts of the question, after the first search",
    )


def read_plan(text: str) -> tuple[str, ...] | None:
    """Read the steps a model wrote behind "PLAN:"; None when it wrote none."""
    mark = _MARK.search(text)
    if mark is None:
        return None
    lines = [mark["rest"], *text[mark.end() :].splitlines()]
    steps: list[str] = []
    for number, line in enumerate(lines):
        item = _ITEM.match(line)
        if number == 0 and line.strip():
            steps += [one.strip() for one in re.split(r"[;；]", line) if one.strip()]
        elif item:
            steps.append(item[1].strip())
        elif line.strip() and number > 0:
            break
    bare = [re.sub(r"^\d{1,2}[.)、]\s*", "", step)[:MOST_CHARS] for step in steps]
    return tuple(step for step in bare if not _DONE.match(step))[:MOST_STEPS]


def revise_plan(
    plan: Plan, observations: Sequence[Observation], analyser: Analyser, said: str
) -> Plan | None:
    """Revise a plan after results; None when nothing of it changes.

    Args:
        plan: As it was.
        observations: The results since then.
        analyser: Tells words apart.
        said: What the model wrote after them; its own plan counts where it has one.
    """
    steps = read_plan(said)
    is_by_model = steps is not None
    if steps is None:
        steps = tuple(step for step in plan.steps if not _is_done(step, observations, analyser))
    if steps == plan.steps:
        return None
    causes = [row for one in observations for row in one.rows]
    return replace(
        plan,
        steps=steps,
        number=plan.number + 1,
        causes=tuple(sorted(causes, key=lambda row: -row[1])),
        reason=", ".join(dict.fromkeys(one.tool for one in observations)),
        is_by_model=is_by_model,
    )


def _is_done(step: str, observations: Sequence[Observation], analyser: Analyser) -> bool:
    words = analyser.words(step)
    if not words:
        return True
    for one in observations:
        if not one.has_found:
            continue
        texts = [one.title, one.text, *(evidence.section_text for evidence in one.evidence)]
        terms = set(analyser.index_terms("\n".join(texts)))
        held = sum(any(term in terms for term in analyser.index_terms(word)) for word in words)
        if held >= DONE_SHARE * len(words):
            return True
    return False
