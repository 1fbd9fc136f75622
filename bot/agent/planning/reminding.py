"""Reminders that depend on how far something has come, as records and pages tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot.agent.caller import Caller
from bot.agent.name_index import NameIndex
from bot.agent.planning.drafting import SEND_EMAIL, Draft, Search
from bot.agent.planning.email_words import read_email_request
from bot.agent.planning.parts import Condition
from bot.agent.planning.progress import (
    PlaceReader,
    Step,
    StepLine,
    find_step,
    has_reached,
    read_steps,
)
from bot.agent.planning.requests import find_request
from bot.agent.records.answering import RecordAnswer
from bot.agent.records.vocabulary import Vocabulary, load_vocabulary
from bot.rag.language import Language
from knowledge.documents import Hit
from knowledge.people import PersonId

_BODY: Mapping[Language, tuple[str, str, str]] = {
    "zh": (
        "{names}，您好：",
        "{key} 目前在 {step}，请您留意处理一下，谢谢。",
        "关于 {key}：请留意",
    ),
    "en": (
        "Hello {names},",
        "{key} is at {step}. Could you please have a look?",
        "{key}: a reminder",
    ),
}
_MANAGER, _STEP = "manager", "step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a condition.

    Attributes:
        is_met: None = it could not be told.
        draft: What is to be done, when the condition is met and somebody was found.
        line: What a page says of the step, for the person to check.
    """

    is_met: bool | None
    step: Step | None
    line: StepLine | None = None
    draft: Draft | None = None


class Reminders:
    """Drafts a reminder where the condition for it holds."""

    def __init__(self, search: Search, *, vocabulary: Vocabulary | None = None) -> None:
        self._search = search
        self._vocabulary = vocabulary or load_vocabulary()

    async def judge(
        self,
        answer: RecordAnswer,
        condition: Condition,
        request: str,
        caller: Caller,
        language: Language,
    ) -> Judged:
        """Tell whether the condition holds for the one row that was found, and draft if so."""
        step = None if answer.row is None else find_step(answer.row, answer.reading.table)
        if step is None or answer.row is None:
            return Judged(is_met=None, step=None)
        lines = await self._explain(step, answer, caller)
        places = PlaceReader(
            vocabulary=self._vocabulary,
            names=NameIndex.of(caller.directory),
            people=caller.directory.people,
        )
        reached = has_reached(condition.place, step, lines, places)
        line = lines.get(step.value)
        if reached is None:
            return Judged(is_met=None, step=step, line=line)
        if reached is condition.is_negated:
            return Judged(is_met=False, step=step, line=line)
        people = _find_people(request, step, lines, condition.place, places, caller)
        key = str(answer.row[answer.reading.table.key.name])
        cited = () if line is None else (line.hit,)
        draft = _build_draft(people, key, step, caller, language, cited)
        if draft.parameters and _name(request, places.names):
            # Whom the person named is their own choice.
            draft = replace(draft, from_pages=draft.from_pages - {"to"})
        return Judged(is_met=True, step=step, line=line, draft=draft)

    async def explain_step(
        self, answer: RecordAnswer, part: str, caller: Caller
    ) -> StepLine | None:
        """Return what a page says of the step a row is at, when a question is about that step."""
        step = None if answer.row is None else find_step(answer.row, answer.reading.table)
        if step is None or not step.is_code or _STEP not in self._vocabulary.read_name(part):
            return None
        return (await self._explain(step, answer, caller)).get(step.value)

    async def _explain(
        self, step: Step, answer: RecordAnswer, caller: Caller
    ) -> dict[str, StepLine]:
        if not step.is_code:
            return {}
        words = f"{' '.join(step.values)} {answer.reading.table.name.replace('_', ' ')}"
        found = await self._search(words, caller.reader.audience_readable)
        return read_steps(step, found.evidence)


def _find_people(
    words: str,
    step: Step,
    lines: Mapping[str, StepLine],
    place: str,
    places: PlaceReader,
    caller: Caller,
) -> Sequence[PersonId]:
    """Return who is to be reminded: who is named, else who handles the step."""
    request = find_request(words)
    who = "" if request is None else read_email_request(words, request).who
    if named := _name(words, places.names):
        return named
    line = lines.get(step.value)
    if places.speaks_of(place, who or words):
        there = (one for one in lines.values() if places.is_at(place, one.text))
        line = next(there, line)
    if line is None:
        return ()
    manager = caller.person.manager if caller.person else None
    found = _name(line.text, places.names)
    if not found and manager and places.speaks_of(_MANAGER, line.text):
        return (manager,)
    return found


def _name(text: str, names: NameIndex) -> tuple[PersonId, ...]:
    found = (one.people[0] for one in names.find(text) if len(one.people) == 1)
    return tuple(dict.fromkeys(found))


def _build_draft(
    people: Sequence[PersonId],
    key: str,
    step: Step,
    caller: Caller,
    language: Language,
    cited: tuple[Hit, ...],
) -> Draft:
    known = [caller.directory.people[one] for one in people]
    addresses = [one.email for one in known if one.email]
    if not addresses:
        return Draft(skill=SEND_EMAIL, parameters={}, missing="recipient")
    greeting, body, subject = _BODY[language]
    names = ("、" if language == "zh" else ", ").join(one.name for one in known)
    sender = caller.person.name if caller.person else ""
    text = "\n\n".join(
        filter(
            None,
            (greeting.format(names=names), body.format(key=key, step=step.value), sender),
        )
    )
    return Draft(
        skill=SEND_EMAIL,
        parameters={"to": [*addresses], "cc": [], "subject": subject.format(key=key), "body": text},
        # The person named neither the number nor where it stands.
        from_pages=frozenset({"to", "subject", "body"}),
        cited=cited,
    )
