"""Parameters that kinds have by themselves, for files that name none of their own."""

from collections.abc import Collection, Mapping

from bot.agent.skills.definition import Parameter
from bot.agent.skills.skill_file import SkillFile


def choose_parameters(
    file: SkillFile, standard: Mapping[str, Parameter], needed: Collection[str]
) -> Mapping[str, Parameter]:
    """Return what has to be filled in: the file's own parameters, or else the standard ones.

    Args:
        file: What was written.
        standard: What the other side takes.
        needed: What it can't do without.

    Raises:
        SkillFileError: Something that is needed is neither a parameter nor a text of the file.
    """
    definition = file.definition
    given = definition.parameters
    if not given:
        return {name: one for name, one in standard.items() if name not in definition.templates}
    for name in sorted(needed):
        if name not in given and name not in definition.templates:
            raise file.fail(
                f"nothing says what {name!r} is; add it under `parameters`, or as a text",
                "parameters",
            )
    return given
