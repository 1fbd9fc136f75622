"""Skills that installed packages bring, under the entry-point group `zhixing.skills`.

An entry point is a function of `(definition, parts)` that returns a `Lookup`, or an `Act` for what
changes something. Code is loaded once: changing the file of such a skill takes a restart.
"""

from importlib.metadata import entry_points

from bot.agent.skills.building import Act, Built, Lookup, SkillParts
from bot.agent.skills.definition import PythonSkill
from bot.agent.skills.skill_file import SkillFile

GROUP = "zhixing.skills"


def build_entry_point(file: SkillFile, parts: SkillParts) -> Built:
    """Build a skill from installed code.

    Raises:
        SkillFileError: No package brings an entry point of this name, or it can't be loaded.
    """
    definition = file.read_as(PythonSkill)
    found = {one.name: one for one in entry_points(group=GROUP)}
    if definition.entry not in found:
        raise file.fail(
            f"no installed package brings {definition.entry!r} under the entry points {GROUP!r}; "
            f"there are {sorted(found)}",
            "entry",
        )
    try:
        made: object = found[definition.entry].load()(definition, parts)
    except Exception as error:  # whatever foreign code does, it is told where it was asked for
        raise file.fail(f"{definition.entry!r} can't be loaded: {error!r}", "entry") from error
    if definition.is_write:
        if not isinstance(made, Act):
            raise file.fail(f"{definition.entry!r} has no `normalise` and `run`", "entry")
        return Built(
            act=made, fields={name: one.title for name, one in definition.parameters.items()}
        )
    if isinstance(made, Act) or not isinstance(made, Lookup):
        raise file.fail(
            f"{definition.entry!r} is no look-up; if it changes something, write "
            "`writes_outside: true`",
            "entry",
        )
    return Built(lookup=made)
