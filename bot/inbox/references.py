"""Questions of chats as an operator looks for them: by the reference people were given."""

import re
from dataclasses import dataclass

from sqlalchemy import select

from bot.inbox.questions import Question, QuestionState
from bot.inbox.store import build_question
from bot.inbox.tables import chat_questions
from core.database import Database

REFERENCE_CHARS = 12
_REFERENCE = re.compile(r"[0-9a-f]{8,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatQuestion:
    """A question and the platform it was put on."""

    platform: str
    question: Question

    def to_json(self) -> dict[str, object]:
        """Return it for `--json`."""
        question = self.question
        return {
            "question_id": question.question_id,
            "platform": self.platform,
            "channel": question.channel,
            "account": question.account,
            "at": question.accepted_at.isoformat(),
            "question": question.text,
            "state": question.state.value,
            "outcome": question.outcome,
            "attempts": question.attempts,
            "failure": question.failure,
        }

    def describe(self) -> str:
        """Put it into words."""
        question = self.question
        is_done = question.state is QuestionState.DONE
        lines = [
            f"question {question.question_id}  {question.accepted_at:%Y-%m-%d %H:%M:%S} UTC",
            f"asked by {question.account} in {self.platform} {question.channel}: {question.text}",
            f"{question.outcome if is_done else 'still open'}, taken up {question.attempts} times",
        ]
        return "\n".join([*lines, *([f"failed: {question.failure}"] if question.failure else [])])


def build_reference(question: Question) -> str:
    """Return what people may quote to an operator."""
    return question.question_id[:REFERENCE_CHARS]


async def find_by_reference(database: Database, reference: str) -> ChatQuestion | None:
    """Return the question of a reference, or of a whole id; None when there is no such one."""
    wanted = reference.strip().lower()
    if not _REFERENCE.fullmatch(wanted):
        return None
    column = chat_questions.c.question_id
    query = select(chat_questions).where(column.startswith(wanted)).limit(2)
    rows = await database.read(lambda one: one.execute(query).mappings().all())
    if len(rows) != 1:
        return None
    return ChatQuestion(platform=rows[0]["platform"], question=build_question(rows[0]))
