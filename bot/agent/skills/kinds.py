"""Which code builds which kind of skill, and what all kinds stand on.

What takes long to load is imported when the first skill of its kind is built.
"""
# ruff: noqa: PLC0415

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from bot.agent.skills.building import Builder, Built, SkillParts
from bot.agent.skills.definition import BaseSkill, SqlSkill
from bot.agent.skills.entry_point import build_entry_point
from bot.agent.skills.http import build_http
from bot.agent.skills.http_call import HostList, SafeCaller
from bot.agent.skills.jira import JiraTracker
from bot.agent.skills.mail import build_mail
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.ticket import build_ticket
from bot.agent.skills.trackers import Tracker
from bot.agent.skills.webhook import WebhookTracker
from core.clock import Clock
from core.pacing import Timing
from core.readonly_database import ReadOnlyDatabase, open_readonly_database
from core.settings import Settings

_BUILT_IN = Path(__file__).with_name("built_in")

RECORDS = "records"
"""What a skill of the kind sql is built by when it names a table instead of a statement."""


def _build_query(file: SkillFile, parts: SkillParts) -> Built:
    from bot.agent.skills.sql import build_query

    return build_query(file, parts)


def _build_records(file: SkillFile, parts: SkillParts) -> Built:
    from bot.agent.records.from_skills import build_records

    return build_records(file, parts)


BUILDERS: Mapping[str, Builder] = {
    "sql": _build_query,
    RECORDS: _build_records,
    "http": build_http,
    "email": build_mail,
    "ticket": build_ticket,
    "python": build_entry_point,
}


def name_builder(definition: BaseSkill) -> str:
    """Return what a skill is built by, as in `BUILDERS`."""
    if isinstance(definition, SqlSkill) and definition.table:
        return RECORDS
    return str(getattr(definition, "kind", ""))


@asynccontextmanager
async def open_skill_parts(
    settings: Settings, clock: Clock, *, timing: Timing | None = None
) -> AsyncIterator[SkillParts]:
    """Prepare what skills stand on; nothing is connected before it is used.

    Raises:
        SettingsError: A database, a ticket system or a host is not written as it should be.
    """
    skills = settings.skills
    hosts = HostList(allowed=frozenset(skills.hosts), private=frozenset(skills.private_hosts))
    databases: dict[str, ReadOnlyDatabase] = {}
    trackers: dict[str, Tracker] = {}
    async with AsyncExitStack() as stack:
        http = SafeCaller(hosts=hosts)
        stack.push_async_callback(http.close)
        for name, source in settings.databases.items():
            databases[name] = open_readonly_database(name, source, home=settings.home)
            stack.push_async_callback(databases[name].close)
        for name, tracker in settings.trackers.items():
            if tracker.kind == "jira":
                trackers[name] = JiraTracker(name, tracker)
            else:
                trackers[name] = WebhookTracker(name, tracker, clock)
            stack.push_async_callback(trackers[name].close)
        yield SkillParts(
            home=settings.home,
            clock=clock,
            skills=skills,
            mail=settings.mail,
            http=http,
            databases=databases,
            trackers=trackers,
            timing=timing or Timing(),
        )


def list_built_in(settings: Settings) -> list[Path]:
    """Return the skill files of our own that these settings allow to be used."""
    return sorted(_BUILT_IN.glob("*.yaml")) if settings.mail.is_configured else []


def list_secrets(settings: Settings) -> list[str]:
    """Return every secret that a system we ask could repeat to us."""
    return [
        *(one.get_secret_value() for one in settings.skills.secrets.values()),
        *(one.token.get_secret_value() for one in settings.trackers.values()),
        settings.mail.password.get_secret_value(),
    ]
