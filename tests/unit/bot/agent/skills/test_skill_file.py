import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.unit.bot.agent.skills.bench import SkillBench, make_claims, open_bench

SETTINGS = """
    [databases.erp]
    url = "sqlite:///erp.sqlite"

    [skills]
    hosts = ["api.nimbus.example"]
    secret_variables = ["ERP_TOKEN"]

    [mail]
    host = "127.0.0.1"
    sender = "zhixing@nimbus.example"
"""
HEAD = """\
name: some_skill
description: Does something that a test needs.
title: {zh: 试, en: Try}
"""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SkillBench]:
    make_claims(tmp_path / "erp.sqlite")
    async with open_bench(tmp_path, SETTINGS, {"ERP_TOKEN": "secret-token"}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("body", "place", "said"),
    [
        ("kind: magic\n", "4:1", "'magic' is no kind; write one of sql, http, email"),
        ("\n", "1:1", "`kind` is missing; write one of"),
        ("kind: sql\ndatabase: erp\n", "1:1", "either `query` or `table`"),
        ("kind: sql\nquery: SELECT 1\n", "1:1", "`database` is missing; add it"),
        ("kind: sql\ndatabase: nope\nquery: SELECT 1\n", "5:1", r"no section \[databases.nope\]"),
        ("kind: sql\ndatabase: erp\nquery: SELECT 1; DROP TABLE x\n", "6:1", "exactly one"),
        ("kind: sql\ndatabase: erp\nquery: DELETE FROM claims\n", "6:1", "write one SELECT"),
        ("kind: sql\ndatabase: erp\nquery: SELECT :who\n", "6:1", ":who, which is no parameter"),
        ("kind: sql\ndatabase: erp\nquery: SELECT FROM WHERE\n", "6:1", "not valid SQL"),
        ("kind: sql\ndatabase: erp\nquery: \"SELECT ' :x '\"\n", "6:1", "colon before 'x'"),
        (
            "kind: sql\ndatabase: erp\nquery: SELECT * FROM claims\nrows: {full: [finance]}\n",
            "7:15",
            "'finance' is no principal; write public, members, group:SOURCE/ID",
        ),
        (
            "kind: sql\ndatabase: erp\nquery: SELECT * FROM claims\nrows:\n  own: owner\n"
            "  reports_too: true\n",
            "9:3",
            "`rows.reports_too` is no key",
        ),
        (
            "kind: sql\ndatabase: erp\nquery: SELECT * FROM claims, steps\nrows: {own: owner}\n",
            "7:1",
            "reads 2 tables; write the rights of each under `rows_of`",
        ),
        (
            "kind: sql\ndatabase: erp\nquery: SELECT * FROM claims, steps\n"
            "rows_of: {claims: {own: owner}}\n",
            "7:1",
            "reads 'steps' too; say who sees its rows",
        ),
        ("kind: email\nconfirm: false\n", "5:1", "always confirmed"),
        (
            "kind: http\nmethod: POST\nurl: https://api.nimbus.example/x\nconfirm: false\n",
            "7:1",
            "always confirmed",
        ),
        ("kind: http\nurl: https://evil.example/x\n", "5:1", "is not listed; add it to skills"),
        ("kind: http\nurl: ftp://api.nimbus.example/x\n", "5:1", "should match pattern"),
        ("kind: http\nurl: http://me:pw@api.nimbus.example/\n", "5:1", "can't carry a user"),
        ("kind: http\nurl: https://{host}/x\n", "1:1", "{host} is no parameter"),
        ("kind: http\nurl: https://api.nimbus.example:81/x\n", "5:1", "is not listed"),
        ("kind: http\nurl: https://api.nimbus.example/x?a=1\n", "5:1", "write what follows"),
        (
            "kind: http\nurl: https://api.nimbus.example/x\nheaders:\n  A: Bearer ${NOPE}\n",
            "7:3",
            r"uses \$\{NOPE\}; add it to skills.secret_variables",
        ),
        ("kind: ticket\ntracker: jira\nqueues: {IT: {project: IT}}\n", "5:1", "trackers.jira"),
        ("kind: python\nentry: nobody_has_this\n", "5:1", "no installed package brings"),
        ("kind: sql\ndatabase: it\ntable: claims\n", "5:1", r"no \[databases.it\]"),
        ("kind: email\ntimeout_s: 100\n", "5:1", "25 s at most"),
        ('kind: email\nto: "{who}"\n', "1:1", "uses {who}, which is no parameter"),
        (
            "kind: email\nparameters:\n  asker: {description: x}\n",
            "1:1",
            "'asker' is filled in by code",
        ),
        (
            "kind: email\nparameters:\n  size:\n    type: lots\n    description: x\n",
            "7:5",
            "`parameters.size.type`",
        ),
        ("kind: email\nvisible_to: members\n", "5:1", "`visible_to`"),
    ],
)
async def test_a_mistake_is_told_by_line_and_column(
    bench: SkillBench, body: str, place: str, said: str
) -> None:
    bench.folder.mkdir()
    (bench.folder / "skill.yaml").write_text(HEAD + body, encoding="utf-8")
    await bench.skills.refresh()
    [problem] = bench.skills.problems
    told = str(problem).removeprefix(f"{bench.folder}/")
    assert told.startswith(f"skill.yaml:{place}: ")
    assert re.search(said, told), told
    assert not bench.skills.skills


async def test_several_mistakes_are_counted_and_the_first_is_told(bench: SkillBench) -> None:
    told = await bench.load_problem("nom: x\nkind: email\ntitle: {}\n")
    assert told.startswith("skill.yaml:1:1: `")
    assert told.endswith("(and 2 more mistakes)")


@pytest.mark.parametrize("text", ["- a list\n", "just words\n", "", "a: [\n", "a: 1\na: 2\n"])
async def test_what_is_no_mapping_is_refused(bench: SkillBench, text: str) -> None:
    assert (await bench.load_problem(text)).startswith("skill.yaml:")


async def test_a_file_that_is_no_text_is_refused(bench: SkillBench) -> None:
    bench.folder.mkdir()
    (bench.folder / "skill.yaml").write_bytes(b"\xff\xfe\x00")
    await bench.skills.refresh()
    assert "not UTF-8" in str(bench.skills.problems[0])
