"""No sequence of changes lets somebody read what the wiki itself would not show them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from connectors.confluence.connecting import connect
from connectors.confluence.source import ConfluenceSource
from core.settings import ConfluenceSettings
from knowledge.access import AccessRule
from knowledge.documents import Document
from knowledge.people import DirectorySnapshot
from knowledge.source import AccessChanged, Change, Upserted
from playground.confluence.editor import WikiEditor
from playground.confluence.server import Flavour, serve_confluence
from playground.confluence.wiki import Wiki
from tests.fakes.http_server import FakeTime
from tests.unit.connectors.confluence.conftest import (
    Bench,
    MovingClock,
    build_wiki,
    snapshot,
)
from tests.unit.connectors.confluence.test_confluence_includes import include

PEOPLE = ("ann", "bo", "cy", "dan")
GROUPS = ("staff", "finance")
PAGES = ("1", "2", "3", "4", "5")
Step = Callable[[WikiEditor], None]


def restrict(page: str, users: set[str], groups: set[str]) -> Step:
    return lambda edit: edit.restrict(page, users=sorted(users), groups=sorted(groups))


def move(page: str, parent: str) -> Step:
    def step(edit: WikiEditor) -> None:
        target = edit.wiki.pages[parent]
        if page != parent and page not in edit.wiki.ancestors_of(target):
            edit.move(page, parent)

    return step


def join(group: str, person: str) -> Step:
    return lambda edit: edit.add_member(group, person)


def leave(group: str, person: str) -> Step:
    return lambda edit: edit.remove_member(group, person)


def view(space: str, users: set[str], groups: set[str]) -> Step:
    return lambda edit: edit.set_view(space, users=sorted(users), groups=sorted(groups))


def show(page: str, other: str) -> Step:
    def step(edit: WikiEditor) -> None:
        shown = edit.wiki.pages[other]
        edit.edit(page, f"<p>own {page}</p>{include(shown.title, shown.space)}")

    return step


people = st.sets(st.sampled_from(PEOPLE), max_size=2)
groups = st.sets(st.sampled_from(GROUPS), max_size=1)
pages = st.sampled_from(PAGES)
steps = st.one_of(
    st.builds(restrict, pages, people, groups),
    st.builds(move, pages, pages),
    st.builds(join, st.sampled_from(GROUPS), st.sampled_from(PEOPLE)),
    st.builds(leave, st.sampled_from(GROUPS), st.sampled_from(PEOPLE)),
    st.builds(view, st.sampled_from(("HR", "FIN")), people, groups),
    st.builds(show, pages, pages),
)


def principals(wiki: Wiki, person: str) -> frozenset[str]:
    member = {f"group:wiki/{name}" for name, who in wiki.groups.items() if person in who}
    return frozenset({f"user:{person}", "public", "members", *member})


def admits(rule: AccessRule, wiki: Wiki, person: str) -> bool:
    return rule.admits(cast("frozenset[object]", principals(wiki, person)))  # type: ignore[arg-type]


def check(wiki: Wiki, documents: dict[str, Document]) -> None:
    for native, document in documents.items():
        page = wiki.pages[native]
        for person in PEOPLE:
            may = wiki.can_read(person, page)
            assert admits(document.access, wiki, person) == may, (native, person)
            for part in document.content.parts:
                if part.included_rule is None or part.included_from is None:
                    continue
                inner = wiki.pages[part.included_from.partition(":")[2]]
                seen = may and admits(part.included_rule, wiki, person)
                assert not seen or wiki.can_read(person, inner), (native, inner.page_id, person)


async def replay(flavour: Flavour, moves: list[list[Step]], *, afresh: bool) -> None:
    clock = MovingClock()
    edit = build_wiki(clock)
    async with serve_confluence(edit.wiki, flavour=flavour) as server:
        values = TypeAdapter(ConfluenceSettings).validate_python(server.settings())

        async def load() -> DirectorySnapshot:
            return snapshot(edit.wiki)

        api = connect("wiki", values, clock, timing=FakeTime().timing())
        source = ConfluenceSource("wiki", values, clock=clock, load_directory=load, api=api)
        bench = Bench(
            wiki=edit.wiki, edit=edit, clock=clock, server=server, open=lambda **_: source
        )
        try:
            await bench.sync(source)
            check(edit.wiki, bench.documents)
            for group in moves:
                for step in group:
                    step(edit)
                clock.forward(minutes=1)
                await run_once(bench, source, afresh=afresh)
                check(edit.wiki, bench.documents)
        finally:
            await source.close()


async def run_once(bench: Bench, source: ConfluenceSource, *, afresh: bool) -> None:
    """List everything, or follow the changes and look at rights."""
    run = await bench.sync(source, afresh=afresh)
    update_rules(bench, run.changes)
    if not afresh:
        run = await bench.rights(source)
        update_rules(bench, run.changes)


def update_rules(bench: Bench, changes: Sequence[Change]) -> None:
    """Put documents under the rules that a run without texts has found."""
    for change in changes:
        if isinstance(change, AccessChanged):
            native = change.document_id.partition(":")[2]
            old = bench.documents[native]
            read_anew = any(
                isinstance(one, Upserted) and one.document_id == change.document_id
                for one in changes
            )
            if not read_anew:
                bench.documents[native] = replace_access(old, change.rule)


def replace_access(document: Document, rule: AccessRule) -> Document:
    values = {name: getattr(document, name) for name in document.__dataclass_fields__}
    return Document(**{**values, "access": rule})


@pytest.mark.parametrize("flavour", ["cloud", "data_center"])
@pytest.mark.parametrize("mode", ["listing", "rights run"])
@settings(max_examples=15)
@given(moves=st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=4))
def test_readers_are_those_of_the_wiki_after_every_change(
    flavour: Flavour, mode: str, moves: list[list[Step]]
) -> None:
    asyncio.run(replay(flavour, moves, afresh=mode == "listing"))


async def test_a_page_below_a_narrower_parent_is_not_widened_by_its_own_list(
    bench: Bench,
) -> None:
    bench.edit.restrict("4", users=["ann", "bo"])
    bench.edit.restrict("3", users=["ann"])
    run = await bench.sync(bench.open())
    rule = run.documents["4"].access
    assert [person for person in PEOPLE if admits(rule, bench.wiki, person)] == ["ann"]


async def test_an_unreadable_ancestor_closes_everything_below_it(bench: Bench) -> None:
    bench.wiki.hidden.add("3")
    run = await bench.sync(bench.open())
    rule = run.documents["4"].access
    assert not [person for person in PEOPLE if admits(rule, bench.wiki, person)]


async def test_folders_between_pages_do_not_close_them(bench: Bench) -> None:
    if bench.server.flavour != "cloud":
        pytest.skip("only Cloud has folders")
    bench.wiki.folders["900"] = "3"
    bench.edit.move("2", "900", space="HR")
    run = await bench.sync(bench.open())
    assert run.documents["2"].access == run.documents["3"].access


async def test_an_account_of_nobody_we_know_admits_nobody(bench: Bench) -> None:
    bench.edit.restrict("2", users=["a stranger"])
    run = await bench.sync(bench.open())
    rule = run.documents["2"].access
    assert not [person for person in PEOPLE if admits(rule, bench.wiki, person)]


async def test_what_is_shown_without_login_is_for_members_unless_said_otherwise(
    bench: Bench,
) -> None:
    bench.wiki.spaces["HR"].is_anonymous = True
    run = await bench.sync(bench.open())
    assert admits(run.documents["2"].access, bench.wiki, "dan")
    bench.known.clear()
    run = await bench.sync(bench.open(anonymous_is_members=False), afresh=True)
    assert not admits(run.documents["2"].access, bench.wiki, "dan")


async def test_groups_may_be_those_of_the_directory(bench: Bench) -> None:
    run = await bench.sync(bench.open(group_source="company"))
    assert run.documents["2"].access == AccessRule.of(["group:company/staff"])


async def test_a_rights_run_costs_calls_by_the_listing_and_reads_no_text(bench: Bench) -> None:
    source = bench.open()
    for number in range(150):
        bench.edit.add_page("HR", f"P{number}", "<p>x</p>", page_id=str(6000 + number), parent="2")
    await bench.sync(source)
    bench.edit.restrict("2", users=["bo"])
    bench.server.calls.reset()
    run = await bench.rights(source)
    assert len(run.ids(AccessChanged)) == 151
    assert not run.ids(Upserted)
    assert bench.server.calls.total <= 12
    assert not (await bench.rights(source)).ids(AccessChanged)
