"""What docs/skills.md shows can be used as it stands there."""

import re
from pathlib import Path

from tests.unit.bot.agent.skills.bench import open_bench

DOCS = Path(__file__).parents[5] / "docs" / "skills.md"
HEAD = "name: shown_{number}\ntitle: {{en: Shown}}\ndescription: Shown in the documentation.\n"
MAIL = '[mail]\nhost = "127.0.0.1"\nsender = "zhixing@company.example"\n'
ENVIRONMENT = {
    "ERP_URL": "sqlite:///erp.sqlite",
    "STOCK_TOKEN": "secret-1",
    "JIRA_TOKEN": "secret-2",
}


async def test_every_example_is_a_good_skill(tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)
    settings = "\n".join([MAIL, *(block for kind, block in blocks if kind == "toml")])
    skills = [block for kind, block in blocks if kind == "yaml" and "kind:" in block]
    async with open_bench(tmp_path, settings, ENVIRONMENT) as bench:
        for number, block in enumerate(skills):
            head = "" if "name:" in block else HEAD.format(number=number)
            actions = ("create", "comment", "find") if "action: create" in block else ("create",)
            for action in actions:
                shown = block.replace("action: create", f"action: {action}")
                bench.folder.mkdir(exist_ok=True)
                path = bench.folder / f"{number}.yaml"
                path.write_text(head + shown, encoding="utf-8")
                await bench.skills.refresh()
                assert not bench.skills.problems, (shown, bench.skills.problems)
        assert len(bench.skills.skills) == len(skills) == 3
