"""`zhixing skills`: which skills there are, for whom, and what is wrong with their files."""

import typer

from bot.agent.caller import Caller, build_caller
from bot.agent.skills.guarded import Skill, SkillAction
from bot.agent.skills.skill_file import build_file_schema
from bot.agent.skills.skill_set import SkillSet
from bot.bootstrap import open_skills, open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, JsonOption
from bot.commands.output import print_error, print_json, print_result
from knowledge.readers import resolve_reader

EXIT_PROBLEMS = 1


def register(app: typer.Typer) -> None:
    """Add the commands."""
    skills = typer.Typer(help="What the assistant can look up and do.", no_args_is_help=True)
    app.add_typer(skills, name="skills")

    @skills.command("list")
    def list_(context: typer.Context, as_: AsOption = None, as_json: JsonOption = False) -> None:
        """List the skills somebody may use."""
        found = run(_list(get_context(context), as_))
        if as_json:
            print_json({"skills": [_to_json(one) for one in found]})
        else:
            print_result("\n".join(map(_describe, found)) or "no skills (docs/skills.md)")

    @skills.command()
    def check(context: typer.Context, as_json: JsonOption = False) -> None:
        """Check every skill file; exit 1 when one can't be used, with line and column."""
        count, problems = run(_check(get_context(context)))
        if as_json:
            print_json({"skills": count, "problems": problems})
        else:
            print_result(f"{count} skills can be used")
            for one in problems:
                print_error(one)
        if problems:
            raise typer.Exit(EXIT_PROBLEMS)

    @skills.command()
    def schema() -> None:
        """Print the JSON Schema of skill files, for editors."""
        typer.echo(build_file_schema(), nl=False)


async def _list(context: CommandContext, as_: str | None) -> list[Skill]:
    async with open_state(context.load_settings(), context.clock) as state:
        reader = await resolve_reader(state.registry, as_=as_)
        directory = (await state.registry.readership()).directory
        caller = build_caller(reader, directory, context.clock.now())
        async with open_skills(state) as skills:
            return _list_for(skills, caller)


def _list_for(skills: SkillSet, caller: Caller) -> list[Skill]:
    return [one for _, one in sorted(skills.skills.items()) if one.is_offered_to(caller)]


async def _check(context: CommandContext) -> tuple[int, list[str]]:
    async with (
        open_state(context.load_settings(), context.clock) as state,
        open_skills(state) as skills,
    ):
        return len(skills.skills), [str(one) for one in skills.problems]


def _to_json(skill: Skill) -> dict[str, object]:
    definition = skill.definition
    return {
        "name": skill.name,
        "kind": getattr(definition, "kind", ""),
        "is_write": isinstance(skill, SkillAction),
        "title": definition.title.model_dump(),
        "visible_to": list(definition.visible_to),
        "deciders": list(definition.deciders),
    }


def _describe(skill: Skill) -> str:
    definition = skill.definition
    mark = "confirmed" if isinstance(skill, SkillAction) else "looks up"
    title = " · ".join(filter(None, (definition.title.zh, definition.title.en)))
    people = ", ".join(definition.visible_to)
    return f"{skill.name:24} {mark:10} {title}  ({people})"
