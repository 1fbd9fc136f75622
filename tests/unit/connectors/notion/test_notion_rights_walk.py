"""Random walks over everything that changes rights, compared with a plain reckoning of them."""

import random

import pytest

from knowledge.people import PersonId
from knowledge.stores import PassageFilter
from playground.notion.editor import rich_text
from tests.unit.connectors.notion.office import ANNA, ANNA_ONLY, BEN, STAFF, Office

SALES = {"inherit": False, "users": [], "groups": ["sales"]}
NOBODY_AT_ALL = {"inherit": False, "users": [], "groups": []}
INHERIT = {"inherit": True, "users": [], "groups": []}
ENTRIES = [STAFF, ANNA_ONLY, SALES, NOBODY_AT_ALL, INHERIT, None]
READERS = {"staff": {ANNA, BEN}, "sales": {BEN}}


class World:
    """Pages, a row and synced text; every page holds a word of its own."""

    def __init__(self, office: Office) -> None:
        self.office = office
        edit = office.editor
        self.roots = [edit.add_page("Rootone"), edit.add_page("Roottwo")]
        self.pages = [edit.add_page(f"Title{n}", self.roots[n % 2]) for n in range(3)]
        self.pages.append(edit.add_page("Title3", self.pages[0]))
        database, source = edit.add_database("Table", self.roots[0])
        self.row = edit.add_page("Rowtitle", source)
        self.documents = [*self.roots, *self.pages, self.row, database]
        self.words = {page: f"word{n}xq" for n, page in enumerate([*self.pages, self.row])}
        for page in self.pages:
            edit.add_text(page, self.words[page])
        note = {"id": "n", "type": "rich_text", "rich_text": rich_text(self.words[self.row])}
        office.workspace.update_page(self.row, {"properties": {"Note": note}})
        office.workspace.objects[source]["properties"]["Note"] = {
            "id": "n", "name": "Note", "type": "rich_text", "rich_text": {},
        }  # fmt: skip
        original = edit.add_block(self.pages[1], "synced_block", {"synced_from": None})
        self.words[original] = "syncedxq"
        edit.add_text(original, self.words[original])
        self.original = original
        for page in (self.pages[2], self.roots[1]):
            copy = {"synced_from": {"type": "block_id", "block_id": original}}
            edit.add_block(page, "synced_block", copy)
        for root in self.roots:
            office.grant(root, STAFF)

    def readers(self, object_id: str | None) -> set[PersonId]:
        while object_id:
            entry = self.office.workspace.access.get(object_id)
            if entry and not entry["inherit"]:
                groups = [READERS[one] for one in entry["groups"]]
                return {PersonId(one) for one in entry["users"]}.union(*groups)
            object_id = self.office.workspace.parent_of(object_id)
        return set()

    def home_of(self, word: str) -> str:
        owner = next(key for key, one in self.words.items() if one == word)
        return self.pages[1] if owner == self.original else owner

    def step(self, chance: random.Random) -> None:
        match chance.randrange(4):
            case 0 | 1:
                self.office.grant(chance.choice(self.documents), chance.choice(ENTRIES))
            case 2:
                self.office.editor.move_page(
                    chance.choice(self.pages[1:3]), chance.choice(self.roots)
                )
            case _:
                self.office.editor.add_text(chance.choice(self.pages), "more text")


@pytest.mark.parametrize("seed", range(3))
async def test_no_walk_lets_anybody_read_what_the_rules_deny(office: Office, seed: int) -> None:
    world, chance = World(office), random.Random(seed)
    for _ in range(10):
        office.clock.forward(minutes=chance.choice([1, 40]))
        report = await office.sync()
        assert report.failures == {}
        for person in (ANNA, BEN):
            where = PassageFilter(access=await office.readable(person))
            for word in world.words.values():
                found = await office.bench.retriever.search(word, where, limit=20)
                hits = {hit.document_id.partition(":")[2] for hit in found.hits if word in hit.text}
                home = world.home_of(word)
                allowed = person in world.readers(home)
                assert allowed or not hits
                assert all(person in world.readers(one) for one in hits)
                assert (home in hits) is allowed
        world.step(chance)
