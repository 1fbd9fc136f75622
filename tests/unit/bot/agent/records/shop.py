"""A wholesaler's tables, its people, and what they may see."""

import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pydantic import SecretStr

from bot.agent.caller import Caller, build_caller
from bot.agent.records.answering import RecordAnswer, RecordAnswerer
from bot.agent.records.policy import RowPolicy
from bot.agent.records.store import RecordStore
from core.readonly_database import open_readonly_database
from core.skill_settings import DatabaseSource
from knowledge.access import NOTHING, Principal
from knowledge.people import (
    Channel,
    ChannelId,
    DirectoryContent,
    DirectorySnapshot,
    Employment,
    Group,
    Person,
    PersonId,
    Visibility,
)
from knowledge.readers import Reader

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=timezone(timedelta(hours=8)))
BUYER, CLERK, BOSS, VISITOR = "an.li", "tom.reed", "eva.holm", "gast"

_SQL = """
CREATE TABLE staff (id TEXT PRIMARY KEY, name TEXT, name_en TEXT, department TEXT, manager_id TEXT
  REFERENCES staff(id), hired_on TEXT, status TEXT);
CREATE TABLE suppliers (id TEXT PRIMARY KEY, name TEXT, name_en TEXT, country TEXT, rating INTEGER);
CREATE TABLE orders (id TEXT PRIMARY KEY, supplier_id TEXT REFERENCES suppliers(id), buyer_id TEXT
  REFERENCES staff(id), total_eur REAL, ordered_on TEXT, shipped_at TEXT, status TEXT);
CREATE TABLE trips (id TEXT PRIMARY KEY, traveller_id TEXT REFERENCES staff(id), cost_eur REAL,
  submitted_on TEXT, status TEXT);
CREATE TABLE trip_steps (id INTEGER PRIMARY KEY, trip_id TEXT REFERENCES trips(id), step TEXT);
INSERT INTO staff VALUES
  ('an.li', '李安', 'An Li', 'Purchasing', 'eva.holm', '2024-03-01', 'active'),
  ('tom.reed', 'Tom Reed', 'Tom Reed', 'Warehouse', 'eva.holm', '2025-02-10', 'active'),
  ('eva.holm', 'Eva Holm', 'Eva Holm', 'Purchasing', NULL, '2020-01-07', 'active'),
  ('nia.ford', 'Nia Ford', 'Nia Ford', 'Warehouse', 'tom.reed', '2019-06-01', 'left');
INSERT INTO suppliers VALUES
  ('S1', '北山纸业', 'Northhill Paper', 'CN', 5),
  ('S2', 'Varga Boxes', 'Varga Boxes', 'HU', 3),
  ('S3', '南湖胶带', 'Southlake Tape', 'CN', 4);
INSERT INTO orders VALUES
  ('O-101', 'S1', 'an.li', 1200, '2026-01-15', '2026-01-20', 'delivered'),
  ('O-102', 'S1', 'an.li', 800, '2026-04-02', '2026-04-05', 'delivered'),
  ('O-103', 'S2', 'eva.holm', 4000.5, '2026-04-20', '2026-04-30', 'delivered'),
  ('O-104', 'S2', 'an.li', 50, '2026-05-11', NULL, 'pending'),
  ('O-105', 'S3', 'eva.holm', 700, '2025-12-30', NULL, 'cancelled'),
  ('O-106', 'S3', 'an.li', 900, '2026-05-18', NULL, 'pending');
INSERT INTO trips VALUES
  ('T-1', 'an.li', 310, '2026-04-11', 'paid'),
  ('T-2', 'an.li', 95.5, '2026-05-04', 'pending'),
  ('T-3', 'tom.reed', 480, '2026-04-12', 'pending'),
  ('T-4', 'eva.holm', 77, '2026-04-13', 'pending');
INSERT INTO trip_steps VALUES (1, 'T-1', 'BOOKED'), (2, 'T-3', 'BOOKED'), (3, 'T-4', 'CHECKED');
"""
_STAFF, _PURCHASING, _ACCOUNTS = (
    Principal("group:shop/staff"),
    Principal("group:shop/purchasing"),
    Principal("group:shop/accounts"),
)
POLICIES = {
    "staff": RowPolicy(full=frozenset({_STAFF})),
    "suppliers": RowPolicy(full=frozenset({_STAFF})),
    "orders": RowPolicy(full=frozenset({_PURCHASING})),
    "trips": RowPolicy(full=frozenset({_ACCOUNTS}), own="traveller_id", has_reports=True),
    "trip_steps": RowPolicy(
        full=frozenset({_ACCOUNTS}), own="traveller_id", has_reports=True, via="trips"
    ),
}


def build_directory() -> DirectorySnapshot:
    """Return everybody; Eva is the boss of An and Tom."""
    people = (
        Person(person_id=PersonId(BUYER), name="李安", name_en="An Li", manager=PersonId(BOSS)),
        Person(person_id=PersonId(CLERK), name="Tom Reed", manager=PersonId(BOSS)),
        Person(person_id=PersonId(BOSS), name="Eva Holm"),
        Person(person_id=PersonId(VISITOR), name="Gast", employment=Employment.GUEST),
        Person(person_id=PersonId("nia.ford"), name="Nia Ford", is_active=False),
    )

    def group(name: str, *members: str) -> Group:
        ids = frozenset(map(PersonId, members))
        return Group(source="shop", group_id=name, name=name, members=ids)

    groups = (
        group("staff", BUYER, CLERK, BOSS, "nia.ford"),
        group("purchasing", BUYER, BOSS),
        group("accounts"),
    )
    content = DirectoryContent(people=people, groups=groups)
    return DirectorySnapshot(content, version=1, contractors_are_members=True)


def build_shop_caller(person: str | None, *, listeners: tuple[str, ...] = ()) -> Caller:
    """Return somebody who asks, alone or in a channel with others; None = the operator."""
    directory = build_directory()
    asker = None if person is None else directory.people[PersonId(person)]
    channel = None
    if listeners:
        channel = Channel(
            channel_id=ChannelId("c"),
            platform="slack",
            native_id="C",
            name="c",
            visibility=Visibility.PRIVATE,
            members=frozenset(map(PersonId, listeners)),
        )
    reader = Reader(
        asker=asker,
        is_operator=person is None,
        asker_readable=NOTHING,
        channel=channel,
        audience_readable=NOTHING,
        is_private=channel is None,
    )
    return build_caller(reader, directory, NOW)


def open_shop(folder: Path) -> RecordStore:
    """Return the tables in a file of its own."""
    path = folder / "shop.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(_SQL)
    connection.close()
    settings = DatabaseSource(url=SecretStr(f"sqlite:///{path.name}"))
    return RecordStore(
        database=open_readonly_database("shop", settings, home=folder),
        policies=POLICIES,
        tools={name: f"query_{name}" for name in POLICIES},
    )


async def ask_shop(store: RecordStore, question: str, caller: Caller) -> RecordAnswer:
    """Ask a question that has to be understood."""
    answerer = RecordAnswerer(store)
    understood = await answerer.understand(question, caller)
    assert understood is not None, question
    return await answerer.answer(understood, caller)
