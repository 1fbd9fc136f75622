"""`zhixing doctor` asks every configured source and says what to mend."""

from collections.abc import AsyncIterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from bot.commands.context import CommandContext
from bot.commands.doctor import Finding, check_all
from core.clock import FixedClock, parse_moment
from core.settings import SETTINGS_FILE
from playground.confluence.server import ConfluenceServer, Flavour, serve_confluence
from playground.confluence.wiki import load_wiki
from playground.notion.server import NotionServer, serve_notion
from playground.notion.workspace import Workspace

TODAY = parse_moment("2026-10-15")
WIKI = """
[sources.wiki]
kind = "confluence"
url = "{url}"
flavour = "{flavour}"
email = "{email}"
token = "{token}"
spaces = {spaces}
"""
NOTES = """
[sources.notes]
kind = "notion"
base_url = "{url}"
token = "{token}"
access_file = "{access_file}"
roots = {roots}
max_calls_per_s = 0
"""


class Clinic:
    """Stand-ins of the sample company and a home folder to be looked at."""

    def __init__(self, wiki: ConfluenceServer, notion: NotionServer, home: Path) -> None:
        self.wiki, self.notion, self.home = wiki, notion, home
        self.access_file = home / "access.json"
        notion.workspace.write_access(self.access_file)

    async def find(self, part: str, settings: str) -> Finding:
        """Return what the doctor says of one part."""
        (self.home / SETTINGS_FILE).write_text(settings, encoding="utf-8")
        found = await check_all(CommandContext(home=self.home, now=TODAY))
        return next(one for one in found if one.part == part)

    async def look_at_wiki(self, **changes: str) -> Finding:
        values = {
            "url": self.wiki.base_url,
            "flavour": self.wiki.flavour,
            "email": self.wiki.settings().get("email", ""),
            "token": str(self.wiki.settings()["token"]),
            "spaces": "[]",
        }
        return await self.find("source wiki", WIKI.format(**{**values, **changes}))

    async def look_at_notes(self, **changes: str) -> Finding:
        values = {
            "url": self.notion.base_url,
            "token": self.notion.token,
            "access_file": str(self.access_file),
            "roots": "[]",
        }
        return await self.find("source notes", NOTES.format(**{**values, **changes}))


@pytest.fixture
async def clinic(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Clinic]:
    flavour: Flavour = getattr(request, "param", "cloud")
    monkeypatch.setenv("ZHIXING_EMBEDDER", "none")
    with as_file(files("playground") / "sample_company") as company:
        wiki = load_wiki(company, FixedClock(TODAY))
        workspace = Workspace.load(company)
    async with (
        serve_confluence(wiki, flavour=flavour) as site,
        serve_notion(workspace) as notion,
    ):
        yield Clinic(site, notion, tmp_path)


@pytest.mark.parametrize("clinic", ["cloud", "data_center"], indirect=True)
async def test_a_wiki_that_is_set_up_rightly_names_its_spaces(clinic: Clinic) -> None:
    found = await clinic.look_at_wiki(spaces='["HB", "TECH"]')
    assert found.is_well, found.said
    assert found.said.endswith("spaces HB, TECH")
    assert clinic.wiki.calls.total <= 8


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"token": "wrong"}, "token"),
        ({"spaces": '["HB", "NOPE"]'}, "'NOPE' is not there"),
    ],
)
async def test_what_is_wrong_with_a_wiki_is_said(
    clinic: Clinic, changes: dict[str, str], remedy: str
) -> None:
    found = await clinic.look_at_wiki(**changes)
    assert not found.is_well
    assert remedy in found.said


async def test_a_login_page_in_place_of_data_is_named(clinic: Clinic) -> None:
    clinic.wiki.faults.login_page = True
    found = await clinic.look_at_wiki()
    assert not found.is_well
    assert "login" in found.said


@pytest.mark.parametrize("clinic", ["cloud", "data_center"], indirect=True)
async def test_spaces_whose_readers_or_pages_are_not_shown_are_named(clinic: Clinic) -> None:
    clinic.wiki.faults.refuse = {"permissions", "getSpacePermissionSets"}
    clinic.wiki.wiki.hidden |= {
        one.page_id for one in clinic.wiki.wiki.pages.values() if one.space == "HB"
    }
    found = await clinic.look_at_wiki(spaces='["HB", "TECH"]')
    assert not found.is_well
    assert "'HB' shows no page to this account" in found.said
    assert "space 'TECH' can't be read" in found.said
    assert "space_readers" in found.said


async def test_a_notion_that_is_set_up_rightly_says_how_much_it_shares(clinic: Clinic) -> None:
    found = await clinic.look_at_notes()
    assert found.is_well, found.said
    assert "pages and databases are shared" in found.said


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"token": "wrong"}, "NOTION_TOKEN"),
        ({"roots": '["0123456789abcdef0123456789abcdef"]'}, "is not shared with the integration"),
        ({"access_file": ""}, "no access_file is set"),
        ({"access_file": "/nowhere/access.json"}, "closes all pages to everybody"),
    ],
)
async def test_what_is_wrong_with_a_notion_is_said(
    clinic: Clinic, changes: dict[str, str], remedy: str
) -> None:
    found = await clinic.look_at_notes(**changes)
    assert not found.is_well
    assert remedy in found.said


async def test_a_notion_that_shares_nothing_says_how_to_share(clinic: Clinic) -> None:
    clinic.notion.workspace.hidden |= set(clinic.notion.workspace.objects)
    found = await clinic.look_at_notes()
    assert not found.is_well
    assert "Connections" in found.said
