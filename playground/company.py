"""A company in a folder, brought in through the real connectors from stand-ins on loopback.

The folder holds what its wiki, its Notion and its directory say, and, in a file of its own, what
changes there afterwards; a sync follows each change, as the scheduler would run one.
"""

import json
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.bootstrap import Product, open_product, open_source
from bot.commands.context import store_clock
from bot.commands.progress import TerminalProgress
from bot.commands.sync import describe, follow_rights, read_source
from bot.index_switch import prepare_index
from core.clock import Clock
from core.errors import SettingsError
from core.settings import Settings
from core.source_settings import ConfluenceSettings, NotionSettings
from knowledge.directory_import import GROUP_SOURCE, import_directory
from knowledge.source import Source
from knowledge.sync_report import SyncReport
from playground.company_records import prepare_records
from playground.confluence.changes import apply_change as change_wiki
from playground.confluence.server import ConfluenceServer, Flavour, serve_confluence
from playground.confluence.wiki import load_wiki
from playground.notion.changes import apply_change as change_notion
from playground.notion.server import NotionServer, serve_notion
from playground.notion.workspace import Workspace
from playground.staff import Staff

WIKI, NOTION = "confluence", "notion"
COMPANY_FOLDER = "company"
ACCESS_FILE = "notion_access.json"


@dataclass(slots=True)
class SteppedClock:
    """A clock that moves from change to change; before the first it is the given one."""

    clock: Clock
    moment: datetime | None = None

    def now(self) -> datetime:
        """Return the moment of the last change in UTC."""
        return self.clock.now() if self.moment is None else self.moment


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What one change came to: the calls it took, by source, and what the syncs did."""

    change: str
    operation: str
    calls: Mapping[str, int]
    report: SyncReport

    def to_json(self) -> dict[str, Any]:
        """Return it as printed."""
        return {
            "id": self.change,
            "op": self.operation,
            "api_calls": dict(self.calls),
            **self.report.to_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyReport:
    """The first sync of a company, and one step a change."""

    steps: Sequence[StepReport]

    def to_json(self) -> dict[str, Any]:
        """Return the first sync's figures, and those of each change."""
        first, *later = [step.to_json() for step in self.steps]
        return {**first, "steps": later}

    def describe(self) -> str:
        """Say it in words."""
        lines = []
        for step in self.steps:
            calls = ", ".join(f"{count} calls to {name}" for name, count in step.calls.items())
            lines += [f"{step.change} {step.operation}: {calls}".strip(), describe(step.report)]
        return "\n".join(lines)


class Company:
    """The stand-ins of one company, the product that reads them, and the clock of both."""

    def __init__(
        self,
        *,
        product: Product,
        sources: Sequence[Source],
        wiki: ConfluenceServer,
        notion: NotionServer,
        staff: Staff,
        clock: SteppedClock,
    ) -> None:
        self._product = product
        self._sources = sources
        self._wiki = wiki
        self._notion = notion
        self._staff = staff
        self._clock = clock

    @property
    def product(self) -> Product:
        """The product that reads the stand-ins."""
        return self._product

    @property
    def wiki_url(self) -> str:
        """Where people look at the wiki and edit it, as long as it is served."""
        return f"{self._wiki.base_url}/ui"

    @property
    def notion_url(self) -> str:
        """Where people look at the notes and edit them, as long as they are served."""
        return f"{self._notion.base_url}/"

    async def sync(self, *, change: str = "", operation: str = "first sync") -> StepReport:
        """Bring directory, texts and rights in step; counts the calls that took."""
        self._wiki.calls.reset()
        self._notion.calls.reset()
        await import_directory(self._product.state.directory, self._staff.folder)
        total = SyncReport()
        for source in self._sources:
            total.add(await read_source(self._product, source))
            total.alarms += (await follow_rights(self._product, source)).alarms
        calls = {WIKI: self._wiki.calls.total, NOTION: self._notion.calls.total}
        return StepReport(change=change, operation=operation, calls=calls, report=total)

    async def play(self, change: Mapping[str, Any]) -> StepReport:
        """Let a change happen, and sync.

        Raises:
            SettingsError: The change names something that is not there, or nobody knows it.
        """
        applied = [
            change_wiki(self._wiki.wiki, change),
            change_notion(self._notion.workspace, change),
            self._staff.apply_change(change),
        ]
        operation = str(change["op"])
        if not any(applied):
            raise SettingsError(f"change {change['id']!r} has the unknown operation {operation!r}")
        self._notion.workspace.write_access(self._staff.folder / ACCESS_FILE)
        self._clock.moment = _read_moment(change)
        return await self.sync(change=str(change["id"]), operation=operation)


@asynccontextmanager
async def open_company(
    settings: Settings,
    clock: Clock,
    folder: Path,
    *,
    flavour: Flavour = "cloud",
    wiki_port: int = 0,
    notion_port: int = 0,
    leads_here: bool = False,
) -> AsyncIterator[Company]:
    """Serve a company's folder on loopback and open the product on it.

    Args:
        settings: All but those of the stand-ins.
        clock: What time it is before the first change.
        folder: The company's.
        flavour: Of its wiki.
        wiki_port: 0 = a free one.
        notion_port: The same.
        leads_here: Whether the addresses of notes lead to the stand-in instead of notion.so.

    Raises:
        SettingsError: A file of the folder is missing or not of its form.
    """
    staff = Staff(_copy_staff(folder, settings.home / COMPANY_FOLDER))
    settings = prepare_records(settings, folder, staff.folder)
    stepped = SteppedClock(clock)
    workspace = Workspace.load(folder)
    workspace.write_access(staff.folder / ACCESS_FILE)
    async with (
        serve_confluence(load_wiki(folder, stepped), flavour=flavour, port=wiki_port) as wiki,
        serve_notion(workspace, port=notion_port) as notion,
    ):
        notion.leads_here = leads_here
        sections = build_sections(wiki, notion, staff.folder / ACCESS_FILE)
        ours = settings.model_copy(update={"sources": {**settings.sources, **sections}})
        async with open_product(ours, stepped) as product:
            with TerminalProgress() as progress:
                await prepare_index(product, progress)
            # Rules name people and groups, so these come first.
            await import_directory(product.state.directory, staff.folder)
            sources = [open_source(name, one, product.state) for name, one in sections.items()]
            try:
                yield Company(
                    product=product,
                    sources=sources,
                    wiki=wiki,
                    notion=notion,
                    staff=staff,
                    clock=stepped,
                )
            finally:
                for source in sources:
                    await source.close()


def build_sections(
    wiki: ConfluenceServer, notion: NotionServer, access_file: Path
) -> dict[str, ConfluenceSettings | NotionSettings]:
    """Return the settings of both sources, as zhixing.toml would have them."""
    return {
        WIKI: ConfluenceSettings.model_validate(wiki.settings(group_source=GROUP_SOURCE)),
        NOTION: NotionSettings(
            base_url=notion.base_url,
            token=SecretStr(notion.token),
            access_file=str(access_file),
            keep_history=True,
            max_calls_per_s=0,
        ),
    }


async def play_company(
    settings: Settings,
    clock: Clock,
    folder: Path,
    *,
    changes: Path | None = None,
    steps: int = 0,
    flavour: Flavour = "cloud",
) -> CompanyReport:
    """Bring a company in, then play its first changes with a sync after each.

    The clock of the last step is stored in the home folder, for the questions that come after.

    Raises:
        SettingsError: A file is missing or not of its form.
    """
    planned = load_changes(changes)[:steps] if changes else []
    async with open_company(settings, clock, folder, flavour=flavour) as company:
        reports = [await company.sync()]
        for change in planned:
            reports.append(await company.play(change))
            store_clock(settings.home, _read_moment(change))
    return CompanyReport(steps=reports)


def load_changes(path: Path) -> list[Mapping[str, Any]]:
    """Return a file's changes in the order in which they happen.

    Raises:
        SettingsError: The file is missing, or not of its form.
    """
    try:
        changes = json.loads(path.read_text(encoding="utf-8"))["changes"]
        return sorted(changes, key=lambda change: (_read_moment(change), str(change["id"])))
    except OSError as error:
        raise SettingsError(f"{str(path)!r} can't be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"{str(path)!r} is not a list of changes ({error!r}); it is JSON like "
            '{"changes": [{"id", "at", "op", "payload"}]}'
        ) from error


def _read_moment(change: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(str(change["at"]))


def _copy_staff(folder: Path, target: Path) -> Path:
    """Copy the directory's files to where changes may alter them."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("people.json", "groups.json", "channels.json"):
        try:
            shutil.copy(folder / name, target / name)
        except OSError as error:
            raise SettingsError(
                f"{str(folder / name)!r} can't be read: {error.strerror}; a company's folder holds "
                "people.json, groups.json and channels.json"
            ) from error
    return target
