"""The sample company through its stand-ins: texts, rights and people follow every change."""

import asyncio
import json
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from bot.bootstrap import open_product
from bot.commands.context import CommandContext, store_clock
from core.clock import FixedClock, parse_moment
from core.errors import SettingsError
from core.settings import Settings, load_settings
from knowledge.people import PersonId
from knowledge.readers import resolve_reader
from knowledge.stores import PassageFilter
from playground.company import CompanyReport, load_changes, play_company
from playground.staff import Staff

TODAY = parse_moment("2026-10-15T09:00:00+08:00")


@pytest.fixture
def company() -> Iterator[Path]:
    with as_file(files("playground") / "sample_company") as folder:
        yield folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(tmp_path / "home", {"ZHIXING_EMBEDDER": "none"})


async def bring_in(settings: Settings, company: Path, *, steps: int = 0) -> CompanyReport:
    changes = company / "changes_dev.json"
    return await play_company(settings, FixedClock(TODAY), company, changes=changes, steps=steps)


async def find_texts(settings: Settings, asker: str, question: str) -> str:
    """Return what a person finds, as one text."""
    async with open_product(settings, FixedClock(TODAY)) as product:
        reader = await resolve_reader(product.state.registry, as_=asker, in_=None)
        where = PassageFilter(access=reader.asker_readable)
        found = await product.retriever.search(question, where)
        return "\n".join(hit.text for hit in found.hits)


async def test_a_company_comes_in_whole_and_each_change_after_it(
    settings: Settings, company: Path
) -> None:
    report = await bring_in(settings, company, steps=100)
    first = report.to_json()
    steps = first["steps"]
    changes = load_changes(company / "changes_dev.json")
    assert [step["id"] for step in steps] == [change["id"] for change in changes]
    assert first["documents"]["failed"] == 0
    assert first["documents"]["added"] == first["documents"]["seen"] > 20
    for change, step in zip(changes, steps, strict=True):
        expected = change["expected_sync"]
        assert bool(step["documents"]["held"]) is (
            "hold_deletions" in expected and change["op"].startswith("notion")
        )
        assert not step["failures"]
        assert bool(step["documents"]["removed"]) is ("delete" in expected)
        if "reindex" in expected:
            assert step["passages"]["added"] > 0
    assert "calls to notion" in report.describe()


async def test_who_loses_the_right_finds_nothing_any_more(company: Path, tmp_path: Path) -> None:
    changes = load_changes(company / "changes_dev.json")
    place, question = next(
        (place, question)
        for place, change in enumerate(changes)
        for question in change["questions"]
        if question["before"]["behaviour"] == "answer"
        and question["after"]["behaviour"] == "refuse_no_access"
    )
    asker, words = question["asker"], question["turns"][-1]
    secrets = question["after"]["must_not"]
    found = []
    for steps in (place, place + 1):
        home = load_settings(tmp_path / str(steps), {"ZHIXING_EMBEDDER": "none"})
        await bring_in(home, company, steps=steps)
        found.append(await find_texts(home, asker, words))
    assert [any(secret in text for secret in secrets) for text in found] == [True, False]


async def test_the_clock_of_the_last_change_is_kept(settings: Settings, company: Path) -> None:
    await bring_in(settings, company, steps=1)
    [change, *_] = load_changes(company / "changes_dev.json")
    context = CommandContext(home=settings.home, now=None)
    assert context.clock.now() == parse_moment(change["at"])
    earlier = CommandContext(home=settings.home, now=TODAY)
    assert earlier.clock.now() == TODAY


def test_time_goes_on_where_none_is_stored(tmp_path: Path) -> None:
    assert CommandContext(home=tmp_path, now=None).clock.now() > TODAY
    store_clock(tmp_path, TODAY)
    assert CommandContext(home=tmp_path, now=None).clock.now() == TODAY


async def test_a_change_nobody_knows_is_named(
    settings: Settings, company: Path, tmp_path: Path
) -> None:
    odd = {"id": "x9", "at": "2026-10-16T10:00:00+08:00", "op": "wiki.explode", "payload": {}}
    path = tmp_path / "changes.json"
    await asyncio.to_thread(path.write_text, json.dumps({"changes": [odd]}))
    with pytest.raises(SettingsError, match=r"x9.*wiki\.explode"):
        await play_company(settings, FixedClock(TODAY), company, changes=path, steps=1)


@pytest.mark.parametrize("text", ["", "[]", '{"changes": [{}]}'])
def test_a_file_that_is_no_list_of_changes_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "changes.json"
    path.write_text(text)
    with pytest.raises(SettingsError, match="not a list of changes"):
        load_changes(path)


def test_a_missing_folder_is_named(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"people\.json"):
        asyncio.run(play_company(settings, FixedClock(TODAY), tmp_path / "absent"))


def test_people_join_leave_and_are_switched_off(company: Path, tmp_path: Path) -> None:
    for name in ("people.json", "groups.json"):
        (tmp_path / name).write_text((company / name).read_text("utf-8"), "utf-8")
    staff = Staff(tmp_path)
    group = json.loads((tmp_path / "groups.json").read_text("utf-8"))[0]["id"]
    person = PersonId(json.loads((tmp_path / "people.json").read_text("utf-8"))[0]["id"])

    def members() -> list[str]:
        found: list[str] = json.loads((tmp_path / "groups.json").read_text("utf-8"))[0]["members"]
        return found

    payload = {"group": group, "user": person}
    assert staff.apply_change({"op": "group.add_member", "payload": payload})
    assert members().count(person) == 1
    assert staff.apply_change({"op": "group.remove_member", "payload": payload})
    assert person not in members()
    assert staff.apply_change({"op": "user.deactivate", "payload": {"user": person}})
    assert not json.loads((tmp_path / "people.json").read_text("utf-8"))[0]["active"]
    assert not staff.apply_change({"op": "notion.access", "payload": {}})
    with pytest.raises(SettingsError, match="nobody"):
        staff.apply_change({"op": "user.deactivate", "payload": {"user": "nobody"}})
