"""What the inbox forgets by itself."""

from datetime import datetime, timedelta

from sqlalchemy import delete
from sqlalchemy.engine import Connection

from bot.inbox.tables import chat_events, chat_questions, chat_slots
from core.database import Database

EVENTS_KEPT_FOR = timedelta(days=2)
QUESTIONS_KEPT_FOR = timedelta(days=30)


async def purge_inbox(database: Database, now: datetime) -> int:
    """Delete events and questions that are older than they may be; returns how many."""
    old_events = delete(chat_events).where(chat_events.c.at <= now - EVENTS_KEPT_FOR)
    old_questions = delete(chat_questions).where(
        chat_questions.c.accepted_at <= now - QUESTIONS_KEPT_FOR,
    )

    old_slots = delete(chat_slots).where(chat_slots.c.starts_at <= now - EVENTS_KEPT_FOR)

    def purge(connection: Connection) -> int:
        connection.execute(old_slots)
        return connection.execute(old_events).rowcount + connection.execute(old_questions).rowcount

    return await database.write(purge)
