"""What people do to their questions afterwards: edit them, delete them."""

from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from bot.inbox.questions import Question, QuestionState
from bot.inbox.store import Inbox, build_question
from bot.inbox.tables import chat_questions
from core.database import Database

_questions = chat_questions.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A message that was changed.

    Attributes:
        event_id: Of the delivery.
        ts: The message.
        text: What it says now; None = it was deleted.
    """

    event_id: str
    channel: str
    ts: str
    text: str | None


class Amendments:
    """Applies changes to questions of the inbox."""

    def __init__(self, database: Database, inbox: Inbox) -> None:
        self._database = database
        self._inbox = inbox

    async def apply(self, amendment: Amendment) -> Question | None:
        """Write a change down.

        Returns:
            The question, when it was answered and this process is to answer it anew or withdraw
            its answer. None when there is nothing to do, or when whoever works on the question
            will see the change before finishing it.

        Raises:
            ServiceUnavailableError: It was not written down; the event must not be acknowledged.
        """
        return await self._database.write(partial(self._apply, amendment=amendment))

    def _apply(self, connection: Connection, amendment: Amendment) -> Question | None:
        if not self._inbox.add_event(connection, event_id=amendment.event_id):
            return None
        is_it = (
            (_questions.platform == self._inbox.platform)
            & (_questions.channel == amendment.channel)
            & (_questions.ts == amendment.ts)
        )
        query = select(chat_questions).where(is_it).with_for_update()
        row = connection.execute(query).mappings().first()
        # Slack also tells of links that were unfurled, with the text as it was.
        if row is None or row["is_withdrawn"] or row["text"] == amendment.text:
            return None
        question = build_question(row)
        is_answered = question.state is QuestionState.DONE
        question = replace(
            question,
            text=question.text if amendment.text is None else amendment.text,
            is_withdrawn=amendment.text is None,
            is_refreshed=question.is_refreshed or is_answered,
            revision=question.revision + 1,
        )
        values = {
            "text": question.text,
            "is_withdrawn": question.is_withdrawn,
            "is_refreshed": question.is_refreshed,
            "revision": question.revision,
        }
        connection.execute(update(chat_questions).where(is_it).values(values))
        if not is_answered:
            return None
        attempts = question.attempts + 1
        self._inbox.own(connection, question.question_id, attempts)
        taken = replace(question, attempts=attempts, state=QuestionState.ACCEPTED)
        if taken.is_withdrawn:
            return taken
        return self._inbox.give_turn(connection, taken, may_refuse=False)
