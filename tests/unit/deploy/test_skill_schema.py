from pathlib import Path

from bot.agent.skills.skill_file import build_file_schema

SCHEMA = Path(__file__).parents[3] / "deploy" / "skill.schema.json"


def test_the_schema_for_editors_is_that_of_the_code() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == build_file_schema(), (
        "run `zhixing skills schema > deploy/skill.schema.json`"
    )
