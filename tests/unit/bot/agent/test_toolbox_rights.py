"""Tools never tell what the asker, or somebody who listens, may not see: traps for each of them."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bot.agent.caller import Caller, build_caller
from bot.agent.toolbox.get_page import GetPage
from bot.agent.toolbox.look_up_person import LookUpPerson
from bot.agent.toolbox.reading import PageReading
from bot.agent.toolbox.search_docs import SearchDocs
from bot.agent.toolbox.versions import CompareVersions, ListVersions
from bot.agent.tools import Tool, ToolResult
from bot.bootstrap import Product
from bot.search_query import SearchQuery
from core.errors import ToolRetryError
from knowledge.people import PersonId
from knowledge.readers import resolve_reader
from tests.unit.bot.office import (
    FORMER,
    GUEST,
    HOTEL_QUESTION,
    HR,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
)

SECRET = "files:hr/薪酬带宽.md"
OPEN = "files:handbook/差旅制度.md"
MIXED, ROOM_OF_HR = "c-mixed", "c-hr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    product: Product
    search: SearchDocs
    page: GetPage
    versions: ListVersions
    changes: CompareVersions

    async def call(
        self, tool: Tool, as_: str | None, *, in_: str | None = None, **arguments: Any
    ) -> ToolResult:
        return await tool.run(arguments, await self.caller(as_, in_=in_))

    async def caller(self, as_: str | None, *, in_: str | None = None) -> Caller:
        state = self.product.state
        reader = await resolve_reader(state.registry, as_=as_, in_=in_)
        directory = (await state.registry.readership()).directory
        return build_caller(reader, directory, state.clock.now())


@pytest.fixture
def changed_office(office: Office) -> Office:
    """Return a company whose secret page has two versions."""
    page = office.files / "hr" / "薪酬带宽.md"
    page.write_text(page.read_text(encoding="utf-8").replace(SALARY, "39,500"), encoding="utf-8")
    assert office.run("sync", office.files).exit_code == 0
    return office


@pytest.fixture
async def box(changed_office: Office) -> AsyncIterator[Box]:
    async with changed_office.open() as product:
        reading = PageReading(store=product.store, ledger=product.state.ledger)
        yield Box(
            product=product,
            search=SearchDocs(product.retriever, {}),
            page=GetPage(reading, product.analyser),
            versions=ListVersions(reading),
            changes=CompareVersions(reading),
        )


def everything(result: ToolResult) -> str:
    """All that a result says, whichever part of it says it."""
    rows = json.dumps([dict(one) for one in result.rows], ensure_ascii=False)
    pieces = [result.text, rows, *result.notes]
    for one in result.evidence:
        pieces += [one.section_text, one.hit.title, one.hit.document_id]
        pieces += [hit.text for hit in one.passages]
    return "\n".join(pieces)


async def test_a_search_finds_what_the_asker_may_read(box: Box) -> None:
    found = await box.call(box.search, HR, query=SALARY_QUESTION)
    assert found.has_found
    assert "39,500" in everything(found)
    assert not found.is_for_asker_alone, "nobody else listens"


@pytest.mark.parametrize("person", [OPS, GUEST, FORMER])
async def test_a_search_shows_nothing_of_pages_the_asker_may_not_read(
    box: Box, person: str
) -> None:
    found = await box.call(box.search, person, query=SALARY_QUESTION)
    assert not found.has_found
    said = everything(found)
    for kept in ("39,500", SALARY, "薪酬带宽", SECRET):
        assert kept not in said


async def test_a_search_in_a_room_keeps_apart_what_is_for_the_asker_alone(box: Box) -> None:
    shared = await box.call(box.search, HR, in_=MIXED, query=HOTEL_QUESTION)
    alone = await box.call(box.search, HR, in_=MIXED, query=SALARY_QUESTION)
    among_us = await box.call(box.search, HR, in_=ROOM_OF_HR, query=SALARY_QUESTION)
    assert alone.has_found
    assert alone.is_for_asker_alone
    assert not among_us.is_for_asker_alone
    assert shared.is_for_asker_alone
    assert shared.evidence[0].hit.document_id == OPEN, "what all may read comes first"
    as_others = await box.call(box.search, OPS, in_=MIXED, query=HOTEL_QUESTION)
    count = len(as_others.evidence)
    assert [one.hit.passage_id for one in shared.evidence[:count]] == [
        one.hit.passage_id for one in as_others.evidence
    ]


async def test_a_search_stays_within_the_scope_of_the_question(box: Box) -> None:
    ops_only = box.search.within(SearchQuery(words="", spaces=frozenset({"ops"})))
    found = await box.call(ops_only, HR, query=HOTEL_QUESTION)
    assert all(one.hit.space == "ops" for one in found.evidence)
    with_space = await box.call(box.search, HR, query=HOTEL_QUESTION, space="handbook")
    assert {one.hit.space for one in with_space.evidence} == {"handbook"}


@pytest.mark.parametrize("name", ["page", "versions", "changes"])
@pytest.mark.parametrize("reference", [SECRET, "薪酬带宽"])
@pytest.mark.parametrize("person", [OPS, GUEST, FORMER])
async def test_a_page_one_may_not_read_is_told_as_one_that_does_not_exist(
    box: Box, name: str, reference: str, person: str
) -> None:
    tool: Tool = getattr(box, name)
    with pytest.raises(ToolRetryError) as refused:
        await box.call(tool, person, page=reference)
    with pytest.raises(ToolRetryError) as unknown:
        await box.call(tool, person, page="没有这个页面")
    assert str(refused.value).replace(reference, "X") == str(unknown.value).replace(
        "没有这个页面", "X"
    )


async def test_a_page_is_read_by_section_and_version(box: Box) -> None:
    now = await box.call(box.page, HR, page=SECRET, section="L5")
    assert "52,000" in now.evidence[0].section_text
    assert "Headings: L4; L5" in now.text
    before = await box.call(box.page, HR, page=SECRET, section="L4", version="1")
    assert SALARY in before.evidence[0].section_text
    assert "replaced on" in before.text
    with pytest.raises(ToolRetryError, match="known are v1, v2"):
        await box.call(box.page, HR, page=SECRET, version="9")


async def test_versions_are_listed_and_compared(box: Box) -> None:
    listed = await box.call(box.versions, HR, page=SECRET)
    assert [row["version"] for row in listed.rows] == ["v2", "v1"]
    assert listed.evidence
    changed = await box.call(box.changes, HR, page=SECRET)
    assert "[-38,000-]{+39,500+}" in changed.text
    same = await box.call(box.changes, HR, page=SECRET, old="2", new="2")
    assert "no difference" in same.text


@pytest.mark.parametrize("name", ["page", "versions", "changes"])
async def test_pages_read_in_a_room_are_marked_for_the_asker_alone(box: Box, name: str) -> None:
    tool: Tool = getattr(box, name)
    assert (await box.call(tool, HR, in_=MIXED, page=SECRET)).is_for_asker_alone
    assert not (await box.call(tool, HR, in_=ROOM_OF_HR, page=SECRET)).is_for_asker_alone
    assert not (await box.call(tool, HR, in_=MIXED, page=OPEN)).is_for_asker_alone


@pytest.mark.parametrize(
    "wanted", ["莫岚", "Mo Lan", "mo lan", HR, "mo.lan@nimbus.example", "HR lead"]
)
async def test_a_colleague_is_found_by_any_name(box: Box, wanted: str) -> None:
    found = await box.call(LookUpPerson(), OPS, person=wanted)
    [row] = found.rows
    assert (row["name"], row["email"]) == ("莫岚", "mo.lan@nimbus.example")


async def test_groups_are_told_only_to_those_who_are_in_them(box: Box) -> None:
    def groups(result: ToolResult) -> object:
        return result.rows[0].get("groups")

    tool = LookUpPerson()
    assert groups(await box.call(tool, "su.qin", person=HR)) == ["Staff", "人事 HR"]
    assert groups(await box.call(tool, OPS, person=HR)) == ["Staff"]
    in_a_room = await box.call(tool, "su.qin", in_=MIXED, person=HR)
    assert groups(in_a_room) == ["Staff"]


async def test_guests_and_people_who_left_get_no_directory(box: Box) -> None:
    tool = LookUpPerson()
    offered = {
        person: tool.is_offered_to(await box.caller(person))
        for person in (HR, OPS, GUEST, FORMER, None)
    }
    assert offered == {HR: True, OPS: True, GUEST: False, FORMER: False, None: True}


async def test_of_people_who_left_nothing_but_that_is_told(box: Box) -> None:
    found = await box.call(LookUpPerson(), OPS, person="Old Timer")
    assert dict(found.rows[0]) == {"id": FORMER, "name": "Old Timer", "left": True}
    nobody = await box.call(LookUpPerson(), OPS, person="Nobody Here")
    assert not nobody.has_found


async def test_the_directory_is_not_read_out_to_strangers(box: Box) -> None:
    caller = await box.caller(OPS, in_=MIXED)
    with_stranger = replace(caller, listeners=(*caller.listeners, frozenset()))
    arguments: Mapping[str, Any] = {"person": HR}
    assert not (await LookUpPerson().run(arguments, caller)).is_for_asker_alone
    assert (await LookUpPerson().run(arguments, with_stranger)).is_for_asker_alone


async def test_a_line_upwards_ends_where_it_turns_in_a_circle(box: Box) -> None:
    caller = await box.caller(OPS)
    people = caller.directory.people
    content = caller.directory.content
    circle = {OPS: PersonId(HR), HR: PersonId("su.qin"), "su.qin": PersonId(OPS)}
    changed = tuple(replace(one, manager=circle.get(one.person_id)) for one in content.people)
    assert len(changed) == len(people)
    directory = type(caller.directory)(
        replace(content, people=changed), version=9, contractors_are_members=True
    )
    found = await LookUpPerson().run({"person": OPS}, replace(caller, directory=directory))
    assert found.rows[0]["manager"] == "莫岚 (Mo Lan)"
    assert found.rows[0]["line"] == ["莫岚 (Mo Lan)", "苏沁 (Su Qin)"]
    assert found.rows[0]["reports"] == ["苏沁 (Su Qin)"]
