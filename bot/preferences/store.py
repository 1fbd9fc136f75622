"""Choices of people and channels of one platform, as they are at this moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from sqlalchemy import RowMapping, Table, select
from sqlalchemy.engine import Connection

from bot.preferences.tables import channel_choices, person_choices
from core.database import Database
from core.tables import insert_into

LanguageChoice = Literal["auto", "zh", "en"]


class ReplyMode(StrEnum):
    """What is answered in a channel.

    `default` is what the settings say; `threads` also answers what follows in a thread the
    assistant was called into; `questions` also answers questions nobody called it for.
    """

    DEFAULT = "default"
    MENTIONS = "mentions"
    THREADS = "threads"
    QUESTIONS = "questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelChoice:
    """How a channel wants to be answered.

    Attributes:
        bases: Knowledge bases and sources that are searched there; empty = all.
        has_private_answers: Tell askers privately what more they may read.
        language: Of the assistant's own words; answers are in the language of the question.
        people_to_call: Accounts that are named when somebody asks for a human.
    """

    bases: tuple[str, ...] = ()
    reply_mode: ReplyMode = ReplyMode.DEFAULT
    has_private_answers: bool = True
    language: LanguageChoice = "auto"
    people_to_call: tuple[str, ...] = ()


class Preferences:
    """Reads and keeps choices."""

    def __init__(self, database: Database, *, platform: str) -> None:
        self._database = database
        self._platform = platform

    async def load_language(self, account: str) -> LanguageChoice:
        """Return which language somebody wants the assistant's own words in."""
        key = {"platform": self._platform, "account": account}
        row = await self._database.read(lambda connection: _find(connection, person_choices, key))
        return "auto" if row is None else _read_language(row["language"])

    async def save_language(self, account: str, language: LanguageChoice) -> None:
        """Keep which language somebody wants."""
        key = {"platform": self._platform, "account": account}
        await self._database.write(
            lambda connection: _put(connection, person_choices, key, {"language": language})
        )

    async def load_channel(self, channel: str) -> ChannelChoice:
        """Return how a channel wants to be answered; the defaults when nobody has chosen."""
        key = {"platform": self._platform, "channel": channel}
        row = await self._database.read(lambda connection: _find(connection, channel_choices, key))
        if row is None:
            return ChannelChoice()
        return ChannelChoice(
            bases=tuple(row["bases"]),
            reply_mode=ReplyMode(row["reply_mode"]),
            has_private_answers=row["has_private_answers"],
            language=_read_language(row["language"]),
            people_to_call=tuple(row["people_to_call"]),
        )

    async def save_channel(self, channel: str, choice: ChannelChoice, *, changed_by: str) -> None:
        """Keep how a channel wants to be answered."""
        key = {"platform": self._platform, "channel": channel}
        values = {
            "bases": list(choice.bases),
            "reply_mode": choice.reply_mode.value,
            "has_private_answers": choice.has_private_answers,
            "language": choice.language,
            "people_to_call": list(choice.people_to_call),
            "changed_by": changed_by,
        }
        await self._database.write(
            lambda connection: _put(connection, channel_choices, key, values)
        )


def _find(connection: Connection, table: Table, key: dict[str, str]) -> RowMapping | None:
    query = select(table).where(*(table.c[name] == value for name, value in key.items()))
    return connection.execute(query).mappings().one_or_none()


def _put(
    connection: Connection, table: Table, key: dict[str, str], values: Mapping[str, object]
) -> None:
    statement = insert_into(connection, table).values(**key, **values)
    connection.execute(
        statement.on_conflict_do_update(index_elements=[table.c[name] for name in key], set_=values)
    )


def _read_language(text: str) -> LanguageChoice:
    match text:
        case "zh" | "en":
            return text
        case _:
            return "auto"
