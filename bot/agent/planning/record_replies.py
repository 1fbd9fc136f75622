"""Replies from records, and questions back where it is not clear which row or person is meant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from bot.agent.caller import Caller, describe_person
from bot.agent.planning.draft_replies import build_draft_reply
from bot.agent.planning.progress import StepLine, find_step
from bot.agent.planning.reminding import Judged
from bot.agent.records.answering import RecordAnswer, UnderstoodQuestion
from bot.agent.records.signs import Sign
from bot.agent.records.vocabulary import load_vocabulary
from bot.rag.replies import Reply, build_reply, join_replies
from bot.texts import Texts
from core.messages import Answer, Outcome

_POINTS = re.compile(r"那[个张份台条位]|这[个张份台条位]|\b(?:that|this|the)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """What a question leaves open; no options = anything of its kind."""

    options: tuple[str, ...]


def find_unclear(understood: UnderstoodQuestion, caller: Caller) -> Unclear | None:
    """Return what has to be asked back; None when the question is clear."""
    reading, question = understood.reading, understood.question
    if reading.unclear:
        people = [person for one in reading.unclear for person in one.people]
        return Unclear(options=tuple(describe_person(person, caller) for person in people))
    query = reading.queries[0]
    is_one = not (query.measures or query.order_by) and question.has(Sign.HOW_MUCH)
    if is_one and not query.filters and _POINTS.search(question.text):
        return Unclear(options=())
    return None


def build_record_reply(answer: RecordAnswer, texts: Texts) -> Reply:
    """Tell what records say; what not everybody who listens may see goes to the asker alone."""
    result = answer.result
    notes = ("from records",)
    if not result.has_found:
        # Worded alike whether there is nothing or nothing that may be seen.
        nothing = Answer(outcome=Outcome.NO_ACCESS, text=result.text, tools=answer.tools)
        if result.is_for_asker_alone:
            nothing = Answer(outcome=Outcome.NO_ACCESS, text=texts.not_found, tools=answer.tools)
        return Reply(answer=nothing, notes=notes)
    if result.is_for_asker_alone:
        alone = Answer(
            outcome=Outcome.NO_ACCESS,
            text=texts.not_found,
            private_answer=result.text,
            tools=answer.tools,
        )
        return Reply(answer=alone, notes=notes)
    told = Answer(outcome=Outcome.ANSWERED, text=result.text, tools=answer.tools)
    return Reply(answer=told, notes=notes)


def build_judged_reply(answer: RecordAnswer, judged: Judged, caller: Caller, texts: Texts) -> Reply:
    """Tell what was found, whether the condition holds, and the draft if it does."""
    told = build_record_reply(answer, texts)
    if told.answer.private_answer is not None or not answer.result.has_found:
        # In a room the draft would show what only the asker may see.
        return told
    line = judged.line
    step = judged.step.value if judged.step else ""
    quoted = (
        quote_line(line)
        if line is not None and caller.reader.audience_readable.admits(line.hit.access_no)
        else None
    )
    parts = [told, *([quoted] if quoted else [])]
    if judged.draft is not None:
        # The page is cited by its line already.
        parts.append(replace(build_draft_reply(judged.draft, texts), cited=()))
        return join_parts(parts)
    said = texts.condition_unmet if judged.is_met is False else texts.condition_unknown
    parts.append(Reply(answer=Answer(outcome=Outcome.ANSWERED, text=said.format(step=step or "?"))))
    return join_parts(parts)


def quote_line(line: StepLine) -> Reply:
    """Quote what a page says of a step."""
    return build_reply(f"{line.text.strip('| ')} [1]", [line.hit])


def name_found(answer: RecordAnswer, part: str) -> str:
    """Return what a further question is about: the step the row is at, or the row or group."""
    if answer.row is not None:
        step = find_step(answer.row, answer.reading.table)
        concepts = load_vocabulary().read_name(part)
        if step is not None and step.is_code and "step" in concepts:
            return step.value
        return str(answer.row[answer.reading.table.key.name])
    if answer.group:
        return answer.group
    values = [value for one in answer.reading.queries[0].filters for value in one.values or ()]
    values += [
        value
        for one in answer.reading.queries[0].filters
        for inner in one.through
        for value in inner.values or ()
    ]
    return str(values[0]) if len(values) == 1 else ""


def join_parts(replies: Sequence[Reply]) -> Reply:
    """Put the replies to the parts of a message under one another.

    What is for the asker alone makes all of it so; a proposal decides the outcome.
    """
    joined = reduce(join_replies, replies)
    tools = tuple(dict.fromkeys(tool for one in replies for tool in one.answer.tools))
    if any(one.answer.citations for one in replies):
        tools = tuple(dict.fromkeys((*tools, "search_docs")))
    proposed = next((one.answer for one in replies if one.answer.proposed_action), None)
    outcome = Outcome.PROPOSED if proposed else Outcome.ANSWERED
    action = proposed.proposed_action if proposed else None
    answer = replace(joined.answer, outcome=outcome, tools=tools, proposed_action=action)
    private = [one.answer.private_answer for one in replies if one.answer.private_answer]
    if private:
        answer = replace(
            answer,
            outcome=Outcome.NO_ACCESS,
            text=replies[0].answer.text,
            citations=(),
            private_answer="\n\n".join(
                one.answer.private_answer or one.answer.text for one in replies
            ),
        )
    return replace(joined, answer=answer)
