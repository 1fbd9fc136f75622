"""A sync by hand takes over rights too: restrictions, and members of the source's own groups."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.bootstrap import open_product
from bot.commands.sync import sync_sources
from core.clock import SystemClock
from core.settings import ConfluenceSettings, Settings, load_settings
from knowledge.directory_import import import_directory
from knowledge.documents import DocumentId
from playground.confluence.editor import WikiEditor
from playground.confluence.server import ConfluenceServer, serve_confluence
from playground.confluence.wiki import Wiki
from tests.unit.bot.office import OPS, write_directory

PAGE, SECRET = DocumentId("wiki:1"), DocumentId("wiki:2")


class Site:
    """A wiki with a space for `staff`, and a home that reads it."""

    def __init__(self, server: ConfluenceServer, settings: Settings, people: Path) -> None:
        self.edit = WikiEditor(server.wiki)
        self.settings = settings
        self.people = people
        self.section = ConfluenceSettings.model_validate(server.settings())

    async def sync(self) -> None:
        async with open_product(self.settings, SystemClock()) as product:
            await import_directory(product.state.directory, self.people)
        await sync_sources(self.settings, SystemClock(), {"wiki": self.section})

    async def readable(self) -> set[DocumentId]:
        """Return which pages the colleague may read."""
        async with open_product(self.settings, SystemClock()) as product:
            reader = await product.resolve_reader(as_=OPS)
            records = await product.state.ledger.load_documents([PAGE, SECRET])
            return {
                key
                for key, one in records.items()
                if one.access_no in reader.asker_readable.numbers
            }


@pytest.fixture
async def site(tmp_path: Path, words_only: None) -> AsyncIterator[Site]:  # noqa: ARG001
    edit = WikiEditor(Wiki())
    edit.add_person(OPS)
    edit.add_space("HB", "Handbook", groups=["staff"])
    edit.add_page("HB", "Open", "<p>Nine to five</p>", page_id="1")
    edit.add_page("HB", "Closed", "<p>Bands</p>", page_id="2")
    edit.restrict("2", groups=["hr"])
    async with serve_confluence(edit.wiki) as server:
        write_directory(tmp_path)
        people = tmp_path / "people.json"
        accounts = [
            {**one, "confluence_account_id": f"acc:{one['id']}"}
            for one in json.loads(people.read_text(encoding="utf-8"))
        ]
        people.write_text(json.dumps(accounts), encoding="utf-8")
        yield Site(server, load_settings(tmp_path / "home"), tmp_path)


async def test_members_of_the_sources_groups_read_right_after_the_first_sync(site: Site) -> None:
    site.edit.add_member("staff", OPS)
    await site.sync()
    assert await site.readable() == {PAGE}
    site.edit.add_member("hr", OPS)
    await site.sync()
    assert await site.readable() == {PAGE, SECRET}
    site.edit.remove_member("hr", OPS)
    await site.sync()
    assert await site.readable() == {PAGE}


async def test_a_restriction_holds_with_the_next_sync_by_hand(site: Site) -> None:
    site.edit.add_member("staff", OPS)
    await site.sync()
    assert await site.readable() == {PAGE}
    # Leaves no trace in what has changed: neither a version nor a moment.
    site.edit.restrict("1", groups=["hr"])
    await site.sync()
    assert await site.readable() == set()
