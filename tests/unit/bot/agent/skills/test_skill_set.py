import os
from collections.abc import AsyncIterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from sqlalchemy import select

from bot.agent.audit import AuditLog, audit_entries, load_audit_key
from bot.agent.skills.journal import EVENT, AuditJournal
from bot.agent.skills.kinds import BUILDERS, list_built_in
from bot.agent.skills.skill_set import SkillSet
from core.clock import SystemClock
from core.database import Database
from core.settings import load_settings
from tests.unit.bot.agent.skills.bench import ANN, SkillBench, call_as, make_claims, open_bench

SETTINGS = """
    [databases.erp]
    url = "sqlite:///erp.sqlite"

    [mail]
    host = "127.0.0.1"
    sender = "zhixing@nimbus.example"
"""


def describe(name: str, more: str = "") -> str:
    return f"""
    name: {name}
    kind: sql
    description: Counts what is in the books.
    title: {{en: Count}}
    database: erp
    query: SELECT count(*) AS n FROM claims
    {more}
    """


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SkillBench]:
    make_claims(tmp_path / "erp.sqlite")
    async with open_bench(tmp_path, SETTINGS) as opened:
        yield opened


async def test_files_come_change_and_go(bench: SkillBench) -> None:
    await bench.skills.refresh()
    assert not bench.skills.skills
    await bench.load(describe("count_claims"))
    assert [*bench.skills.skills] == ["count_claims"]
    await bench.load(describe("count_claims", "max_rows: 5"))
    await bench.load(describe("count_all"))
    assert [*bench.skills.skills] == ["count_all"]
    (bench.folder / "skill.yaml").unlink()
    await bench.skills.refresh()
    assert not bench.skills.skills
    assert [[*one] for one in bench.noted] == [
        ["count_claims"], ["count_claims"], ["count_all"], []
    ]  # fmt: skip
    assert bench.noted[0] != bench.noted[1]


async def test_what_did_not_change_is_not_read_again(bench: SkillBench) -> None:
    await bench.load(describe("count_claims"))
    before = bench.skills.skills["count_claims"]
    await bench.skills.refresh()
    bench.write("other.yaml", describe("count_more"))
    await bench.skills.refresh()
    assert bench.skills.skills["count_claims"] is before
    assert len(bench.noted) == 2


async def test_a_bad_file_keeps_the_last_good_skill_and_is_reported(bench: SkillBench) -> None:
    await bench.load(describe("count_claims"))
    good = bench.skills.skills["count_claims"]
    await bench.load("name: [broken\n")
    assert bench.skills.skills["count_claims"] is good
    assert "skill.yaml:" in str(bench.skills.problems[0])
    await bench.load(describe("count_claims", "max_rows: 5"))
    assert not bench.skills.problems
    assert bench.skills.skills["count_claims"] is not good


async def test_one_bad_file_does_not_keep_others_out(bench: SkillBench) -> None:
    bench.write("a.yaml", "nonsense")
    bench.write("b.yml", describe("count_claims"))
    bench.write("notes.txt", "no skill")
    bench.write(".hidden.yaml", "no skill")
    await bench.skills.refresh()
    assert [*bench.skills.skills] == ["count_claims"]
    assert len(bench.skills.problems) == 1


async def test_a_change_that_keeps_size_and_time_is_seen(bench: SkillBench) -> None:
    await bench.load(describe("count_claims"))
    path = bench.folder / "skill.yaml"
    before = path.stat()
    path.write_text(path.read_text().replace("count_claims", "count_dreams"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    await bench.skills.refresh()
    assert [*bench.skills.skills] == ["count_dreams"]


async def test_two_files_can_not_share_a_name(bench: SkillBench) -> None:
    bench.write("a.yaml", describe("count_claims", "max_rows: 5"))
    bench.write("b.yaml", describe("count_claims"))
    await bench.skills.refresh()
    assert bench.skills.skills["count_claims"].definition.model_dump()["max_rows"] == 5
    assert "'count_claims' is the name in 'a.yaml' already" in str(bench.skills.problems[0])


async def test_as_a_mapping_it_has_what_writes_alone(bench: SkillBench) -> None:
    bench.write("a.yaml", describe("count_claims"))
    bench.write(
        "b.yaml",
        """
        name: send_email
        kind: email
        description: Drafts an e-mail to somebody.
        title: {en: Mail}
        """,
    )
    await bench.skills.refresh()
    assert [*bench.skills] == ["send_email"]
    assert bench.skills.get("count_claims") is None
    assert bench.skills.get("nothing") is None
    assert bench.skills["send_email"].name == "send_email"
    assert [one.name for one in bench.skills.list_tools()] == ["count_claims"]


async def test_who_may_use_what_is_told_by_principals(bench: SkillBench) -> None:
    await bench.load(describe("count_claims", 'visible_to: ["group:company/finance", "user:x"]'))
    skills = bench.skills
    assert not skills.may_use("count_claims", call_as(ANN).principals)
    assert skills.may_use("count_claims", call_as("finn.cash").principals)
    assert not skills.may_use("no_such_skill", call_as("finn.cash").principals)


async def test_what_can_not_be_kept_in_the_journal_does_not_count(bench: SkillBench) -> None:
    class Broken:
        async def note(self, skills: Mapping[str, str]) -> None:
            raise RuntimeError(f"disk full, {len(skills)} skills")

    bench.write("a.yaml", describe("count_claims"))
    skills = SkillSet(bench.folder, bench.parts, BUILDERS, journal=Broken())
    with pytest.raises(RuntimeError):
        await skills.refresh()
    assert not skills.skills
    with pytest.raises(RuntimeError):
        await skills.refresh()


async def test_code_is_read_at_the_start_only(bench: SkillBench) -> None:
    await bench.skills.refresh()
    text = """
    name: own_code
    kind: python
    entry: whatever
    description: Does what a package says.
    title: {en: Own}
    """
    assert "are read at the start; restart" in await bench.load_problem(text)
    assert not entry_points(group="zhixing.skills")


async def test_the_journal_writes_what_changed_into_the_audit_log_once(
    database: Database, tmp_path: Path
) -> None:
    journal = AuditJournal(database, tmp_path, SystemClock())
    await journal.note({})
    for skills in ({"a": "1"}, {"a": "1"}, {"a": "2", "b": "1"}):
        await journal.note(skills)
    await AuditJournal(database, tmp_path, SystemClock()).note({"a": "2", "b": "1"})
    await journal.note({})
    log = AuditLog(database, SystemClock(), load_audit_key(tmp_path))
    entries = await log.load()
    assert [one.event for one in entries] == [EVENT] * 3
    assert [one.details["changed"] for one in entries] == [["a"], ["a", "b"], ["a", "b"]]
    assert (await log.verify()).broken_at is None
    count = await database.read(
        lambda connection: len(connection.execute(select(audit_entries)).all())
    )
    assert count == 3


async def test_our_own_files_are_good(bench: SkillBench, tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    skills = SkillSet(tmp_path / "none", bench.parts, BUILDERS, built_in=list_built_in(settings))
    await skills.refresh()
    assert not skills.problems
    assert [*skills] == ["send_email"]


async def test_a_file_of_ones_own_takes_the_place_of_ours(
    bench: SkillBench, tmp_path: Path
) -> None:
    settings = load_settings(tmp_path, {})
    bench.write(
        "mail.yaml",
        """
        name: send_email
        kind: email
        description: Drafts an e-mail to somebody of ours.
        title: {en: Mail}
        allowed_domains: [nimbus.example]
        """,
    )
    skills = SkillSet(bench.folder, bench.parts, BUILDERS, built_in=list_built_in(settings))
    await skills.refresh()
    assert not skills.problems
    assert skills.skills["send_email"].definition.description.endswith("of ours.")
