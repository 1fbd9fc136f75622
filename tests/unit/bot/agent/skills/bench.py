"""A few people, a database of claims, and skills out of files, all real but for the company."""

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from textwrap import dedent
from typing import Any

from pydantic import JsonValue

from bot.agent.caller import Caller, build_caller
from bot.agent.skills.building import SkillParts
from bot.agent.skills.guarded import SkillAction, SkillTool, build_mask
from bot.agent.skills.kinds import BUILDERS, list_secrets, open_skill_parts
from bot.agent.skills.skill_set import SkillSet
from core.clock import FixedClock
from core.settings import load_settings
from knowledge.access import NOTHING
from knowledge.people import (
    Channel,
    DirectoryContent,
    DirectorySnapshot,
    Employment,
    Group,
    Person,
    PersonId,
    Visibility,
)
from knowledge.readers import Reader
from tests.fakes.http_server import FakeTime

NOW = datetime(2026, 10, 15, 9, 30, tzinfo=timezone(timedelta(hours=8)))
BOSS, ANN, BEN, GUEST = "ella.boss", "ann.lee", "ben.wu", "gast.eins"
FINANCE = "finn.cash"

_PEOPLE = (
    Person(person_id=PersonId(BOSS), name="艾拉", email="ella@nimbus.example"),
    Person(
        person_id=PersonId(ANN), name="安妮", email="ann@nimbus.example", manager=PersonId(BOSS)
    ),
    Person(person_id=PersonId(BEN), name="本", email="ben@nimbus.example", manager=PersonId(BOSS)),
    Person(person_id=PersonId(FINANCE), name="费恩", email="finn@nimbus.example"),
    Person(person_id=PersonId(GUEST), name="Gast", employment=Employment.GUEST),
    Person(person_id=PersonId("old.timer"), name="Old", is_active=False),
)
DIRECTORY = DirectorySnapshot(
    DirectoryContent(
        people=_PEOPLE,
        groups=(
            Group(
                source="company",
                group_id="finance",
                name="Finance",
                members=frozenset({PersonId(FINANCE)}),
            ),
        ),
    ),
    version=1,
    contractors_are_members=True,
)


def call_as(person: str | None, *others: str, is_operator: bool = False) -> Caller:
    """Return whoever asks; others listen in a channel."""
    asker = DIRECTORY.people[PersonId(person)] if person else None
    channel = None
    if others:
        members = frozenset(PersonId(one) for one in (*others, *([person] if person else [])))
        channel = Channel(
            channel_id="c1",  # type: ignore[arg-type]
            platform="slack",
            native_id="C1",
            name="room",
            visibility=Visibility.PRIVATE,
            members=members,
        )
    reader = Reader(
        asker=asker,
        is_operator=is_operator,
        asker_readable=NOTHING,
        channel=channel,
        audience_readable=NOTHING,
        is_private=channel is None,
    )
    return build_caller(reader, DIRECTORY, NOW)


@dataclass(slots=True)
class SkillBench:
    """A folder of skill files, and the skills it gives."""

    folder: Path
    parts: SkillParts
    skills: SkillSet
    noted: list[dict[str, str]] = field(default_factory=list)

    def write(self, name: str, text: str) -> Path:
        """Write a skill file."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / name
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    async def load(self, text: str, *, name: str = "skill.yaml") -> None:
        """Write a skill file and read it."""
        self.write(name, text)
        await self.skills.refresh()

    async def load_tool(self, text: str) -> SkillTool:
        """Write the file of a skill that looks something up, which must be good."""
        await self.load(text)
        assert not self.skills.problems, self.skills.problems
        [tool] = self.skills.list_tools()
        return tool

    async def load_action(self, text: str) -> SkillAction:
        """Write the file of a skill that does something, which must be good."""
        await self.load(text)
        assert not self.skills.problems, self.skills.problems
        [action] = self.skills.list_actions()
        return action

    async def load_problem(self, text: str) -> str:
        """Write a bad file; returns what is said of it, without the folder."""
        await self.load(text)
        [problem] = self.skills.problems
        assert not self.skills.skills
        return str(problem).removeprefix(f"{self.folder}/")


@dataclass(slots=True)
class _Notes:
    noted: list[dict[str, str]]

    async def note(self, skills: Mapping[str, str]) -> None:
        self.noted.append(dict(skills))


@asynccontextmanager
async def open_bench(
    home: Path, settings: str = "", environment: Mapping[str, str] | None = None
) -> AsyncIterator[SkillBench]:
    """Open a bench over a home folder with these settings."""
    (home / "zhixing.toml").write_text(dedent(settings), encoding="utf-8")
    loaded = load_settings(home, environment or {})
    noted: list[dict[str, str]] = []
    timing = FakeTime().timing()
    async with open_skill_parts(loaded, FixedClock(NOW), timing=timing) as parts:
        folder = home / loaded.skills.folder
        skills = SkillSet(
            folder,
            parts,
            BUILDERS,
            journal=_Notes(noted),
            mask=build_mask(list_secrets(loaded)),
        )
        yield SkillBench(folder, parts, skills, noted)


def make_claims(path: Path) -> None:
    """Make a database of claims."""
    with sqlite3.connect(path) as connection:
        connection.executescript(
            f"""
            CREATE TABLE employees (id TEXT PRIMARY KEY, name TEXT, mail TEXT);
            CREATE TABLE claims (id TEXT PRIMARY KEY, owner TEXT, amount REAL, status TEXT);
            CREATE TABLE steps (claim_id TEXT, step TEXT, secret TEXT);
            INSERT INTO employees VALUES ('{ANN}', '安妮', 'ann@nimbus.example'),
              ('{BEN}', '本', 'ben@nimbus.example'), ('{BOSS}', '艾拉', 'ella@nimbus.example');
            INSERT INTO claims VALUES ('C1', '{ANN}', 100, 'open'), ('C2', '{ANN}', 50, 'paid'),
              ('C3', '{BEN}', 700, 'open'), ('C4', '{BOSS}', 4000, 'open');
            INSERT INTO steps VALUES ('C1', 'manager', 'ann-note'), ('C3', 'finance', 'ben-note'),
              ('C4', 'finance', 'boss-note');
            """
        )
    connection.close()


def values(rows: Any, name: str) -> list[JsonValue]:
    """Return a column of rows."""
    return [row[name] for row in rows]
