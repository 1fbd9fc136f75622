"""The projects of a company's ticket system: those that its skills send tickets to."""

from pathlib import Path

from bot.agent.skills.definition import TicketSkillFile
from bot.agent.skills.skill_file import SUFFIXES, SkillFileError, load_skill_file
from core.errors import SettingsError
from playground.jira.board import Project

SKILLS = "skills"
# For companies that name none.
HELP = ("HELP", "服务台 Help desk")


def read_projects(folder: Path) -> list[Project]:
    """Return the projects that a company's ticket skills name, and the help desk.

    Raises:
        SettingsError: A skill file is not of its form.
    """
    names = dict([HELP])
    folder = folder / SKILLS
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.suffix not in SUFFIXES:
            continue
        try:
            definition = load_skill_file(path).definition
        except SkillFileError as error:
            raise SettingsError(str(error)) from error
        if isinstance(definition, TicketSkillFile):
            for name, queue in definition.queues.items():
                names.setdefault(queue.project, name)
            if definition.others:
                names.setdefault(definition.others.project, definition.others.project)
    return [Project(key=key, name=name) for key, name in names.items()]
