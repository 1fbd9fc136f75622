from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent

import pytest

from bot.agent.actions import ActionState
from tests.unit.bot.agent.skills.bench import ANN, SkillBench, call_as, open_bench

CODE = """
    from bot.agent.actions import ActionState
    from bot.agent.tools import ToolResult
    from bot.agent.write_skill import SkillResult


    class Greeter:
        def __init__(self, definition, parts):
            self.name = definition.name

        async def run(self, arguments, caller):
            return ToolResult(text=f"{caller.person.name}, {arguments['word']}!")


    class Bell:
        def __init__(self, definition, parts):
            pass

        def normalise(self, parameters):
            return {"times": parameters["times"]}

        async def run(self, parameters, *, idempotency_key):
            return SkillResult(state=ActionState.DONE, text=f"rang {parameters['times']}")


    def broken(definition, parts):
        raise RuntimeError("not today")
"""
SKILL = """
    name: {name}
    kind: python
    entry: {entry}
    description: Does what a package of ours says.
    title: {{en: Own}}
    {more}
"""


@pytest.fixture
async def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SkillBench]:
    packages = tmp_path / "packages"
    info = packages / "zhixing_test_skills-1.0.dist-info"
    info.mkdir(parents=True)
    (packages / "zhixing_test_skills.py").write_text(dedent(CODE))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zhixing-test-skills\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[zhixing.skills]\ngreet = zhixing_test_skills:Greeter\n"
        "ring = zhixing_test_skills:Bell\nbroken = zhixing_test_skills:broken\n"
    )
    monkeypatch.syspath_prepend(str(packages))
    async with open_bench(tmp_path) as opened:
        yield opened


async def test_a_package_can_bring_a_look_up(bench: SkillBench) -> None:
    more = "parameters: {word: {description: What to say, required: true}}"
    tool = await bench.load_tool(SKILL.format(name="greet_me", entry="greet", more=more))
    assert (await tool.run({"word": "早"}, call_as(ANN))).text == "安妮, 早!"


async def test_a_package_can_bring_an_action(bench: SkillBench) -> None:
    more = (
        "writes_outside: true\n"
        "    parameters: {times: {type: integer, description: How often, maximum: 3}}"
    )
    action = await bench.load_action(SKILL.format(name="ring_bell", entry="ring", more=more))
    result = await action.run(action.normalise({"times": 2}), idempotency_key="k")
    assert (result.state, result.text) == (ActionState.DONE, "rang 2")
    assert await action.find_outcome({}, idempotency_key="k") is None


@pytest.mark.parametrize(
    ("entry", "more", "said"),
    [
        ("broken", "", "can't be loaded: RuntimeError('not today')"),
        ("gone", "", "there are ['broken', 'greet', 'ring']"),
        ("ring", "", "write `writes_outside: true`"),
        ("greet", "writes_outside: true", "has no `normalise` and `run`"),
    ],
)
async def test_what_a_package_does_not_bring_is_told(
    bench: SkillBench, entry: str, more: str, said: str
) -> None:
    told = await bench.load_problem(SKILL.format(name="own_code", entry=entry, more=more))
    assert said in told


async def test_code_is_not_read_again(bench: SkillBench) -> None:
    await bench.load_tool(
        SKILL.format(
            name="greet_me", entry="greet", more="parameters: {word: {description: What to say}}"
        )
    )
    await bench.load(SKILL.format(name="greet_me", entry="ring", more="writes_outside: true"))
    assert "restart" in str(bench.skills.problems[0])
    [tool] = bench.skills.list_tools()
    assert (await tool.run({"word": "早"}, call_as(ANN))).text == "安妮, 早!"
