"""All skills: read from a folder, read again when a file changes, offered to whom they are for.

A file that turns bad keeps the skill it was before, and is reported.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from bot.agent.skills.building import Builder, SkillParts
from bot.agent.skills.definition import PythonSkill
from bot.agent.skills.guarded import Mask, Skill, SkillAction, SkillTool, guard
from bot.agent.skills.journal import Journal
from bot.agent.skills.kinds import name_builder
from bot.agent.skills.skill_file import SUFFIXES, SkillFileError, load_skill_file
from bot.agent.write_skill import WriteSkill
from core.marked_yaml import Mark
from core.readonly_database import ReadOnlyDatabase
from knowledge.access import Principal

MOST_FILES = 500
_Stamp = tuple[int, int, int, int]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """What one file is, or was when it was last good.

    Attributes:
        skill: None = it has never been good.
        problem: Why the file as it is now is not used.
    """

    stamp: _Stamp
    skill: Skill | None
    problem: SkillFileError | None


class SkillSet(Mapping[str, WriteSkill]):
    """The skills of one home folder; as a mapping, those that write, for `Confirmation`.

    Whoever is about to use one calls `refresh` first: that costs a look at the folder.
    """

    def __init__(
        self,
        folder: Path,
        parts: SkillParts,
        builders: Mapping[str, Builder],
        *,
        journal: Journal | None = None,
        built_in: Sequence[Path] = (),
        mask: Mask = str,
    ) -> None:
        """Prepare; nothing is read before `refresh`.

        Args:
            folder: Where the files lie, one skill each; may be missing.
            parts: What the kinds stand on.
            builders: By kind; `records` for tables.
            journal: Keeps in the audit log which skills there are.
            built_in: Files of our own; one in the folder with the same name of skill wins.
            mask: Hides secrets in what comes back.
        """
        self._folder = folder
        self._parts = parts
        self._builders = dict(builders)
        self._journal = journal
        self._is_open = False
        self._built_in = tuple(built_in)
        self._mask = mask
        self._entries: Mapping[Path, _Entry] = {}
        self._skills: Mapping[str, Skill] = {}
        self._problems: tuple[SkillFileError, ...] = ()
        self._lock = asyncio.Lock()

    def __getitem__(self, name: str) -> WriteSkill:
        skill = self._skills[name]
        if not isinstance(skill, SkillAction):
            raise KeyError(name)
        return skill

    def __iter__(self) -> Iterator[str]:
        return (name for name, one in self._skills.items() if isinstance(one, SkillAction))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def skills(self) -> Mapping[str, Skill]:
        """Every skill by name, whoever it is for."""
        return self._skills

    @property
    def databases(self) -> Mapping[str, ReadOnlyDatabase]:
        """The databases skills may read, by name."""
        return self._parts.databases

    @property
    def problems(self) -> tuple[SkillFileError, ...]:
        """What is wrong with files as they are now, in the order of the files."""
        return self._problems

    async def refresh(self) -> None:
        """Read what has changed in the folder since the last time.

        Raises:
            ServiceUnavailableError: The change can't be written down; it does not count yet.
        """
        async with self._lock:
            stamps = await asyncio.to_thread(self._look)
            is_start, self._is_open = not self._is_open, True
            if stamps == {path: one.stamp for path, one in self._entries.items()}:
                return
            entries = await asyncio.to_thread(self._load, stamps, is_start=is_start)
            skills, problems = _assemble(entries)
            self._report(problems)
            if self._journal is not None:
                await self._journal.note({name: _hash(one) for name, one in skills.items()})
            self._entries, self._skills, self._problems = entries, skills, problems

    def list_tools(self) -> list[SkillTool]:
        """Return the skills that look something up, by name, whoever they are for."""
        return [one for _, one in sorted(self._skills.items()) if isinstance(one, SkillTool)]

    def list_actions(self) -> list[SkillAction]:
        """Return the skills that do something, by name, whoever they are for."""
        return [one for _, one in sorted(self._skills.items()) if isinstance(one, SkillAction)]

    def get_title(self, name: str, *, is_chinese: bool) -> str:
        """Return what people call a skill; empty when there is none of this name."""
        found = self._skills.get(name)
        return found.definition.title.say(is_chinese=is_chinese) if found else ""

    def list_labels(self, name: str, *, is_chinese: bool) -> dict[str, str]:
        """Return what people call the values of an action, in the order they are shown in."""
        found = self._skills.get(name)
        if not isinstance(found, SkillAction):
            return {}
        return {field: one.say(is_chinese=is_chinese) for field, one in found.fields.items()}

    def is_traceable(self, name: str) -> bool:
        """Tell whether the other side of an action can be asked what became of it."""
        found = self._skills.get(name)
        return isinstance(found, SkillAction) and found.is_traceable

    def list_deciders(self, name: str) -> tuple[Principal, ...]:
        """Return who has to agree to a skill instead of its asker; nobody = the asker alone."""
        found = self._skills.get(name)
        return found.definition.deciders if found else ()

    def may_use(self, name: str, principals: frozenset[Principal]) -> bool:
        """Tell whether somebody with these principals may use a skill; unknown ones nobody may."""
        found = self._skills.get(name)
        return found is not None and not principals.isdisjoint(found.definition.visible_to)

    def _look(self) -> dict[Path, _Stamp]:
        """Return the files there are, those of the folder first."""
        found: dict[Path, _Stamp] = {}
        paths = []
        if self._folder.is_dir():
            paths = sorted(
                path
                for path in self._folder.iterdir()
                if path.suffix in SUFFIXES and not path.name.startswith(".")
            )
        for path in (*paths[:MOST_FILES], *self._built_in):
            try:
                state = path.stat()
            except OSError:
                # Gone since the folder was listed.
                continue
            found[path] = (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
        return found

    def _load(self, stamps: Mapping[Path, _Stamp], *, is_start: bool) -> dict[Path, _Entry]:
        return {
            path: self._load_one(path, stamp, is_start=is_start) for path, stamp in stamps.items()
        }

    def _load_one(self, path: Path, stamp: _Stamp, *, is_start: bool) -> _Entry:
        before = self._entries.get(path)
        if before is not None and before.stamp == stamp:
            return before
        kept = before.skill if before else None
        try:
            file = load_skill_file(path)
            was_code = kept is not None and isinstance(kept.definition, PythonSkill)
            if not is_start and (was_code or isinstance(file.definition, PythonSkill)):
                raise file.fail("skills of the kind python are read at the start; restart", "kind")
            builder = self._builders.get(name_builder(file.definition))
            if builder is None:
                raise file.fail(f"nothing builds {name_builder(file.definition)!r} here", "kind")
            skill = guard(file, builder(file, self._parts), self._mask)
        except SkillFileError as error:
            return _Entry(stamp=stamp, skill=kept, problem=error)
        return _Entry(stamp=stamp, skill=skill, problem=None)

    def _report(self, problems: Sequence[SkillFileError]) -> None:
        known = {str(one) for one in self._problems}
        for problem in problems:
            if str(problem) not in known:
                _log.error("skill_file_bad", file=str(problem.path), reason=str(problem))


def _assemble(
    entries: Mapping[Path, _Entry],
) -> tuple[dict[str, Skill], tuple[SkillFileError, ...]]:
    """Return the skills by name, the first file of a name winning, and what is wrong."""
    skills: dict[str, Skill] = {}
    owners: dict[str, Path] = {}
    problems = []
    for path, entry in entries.items():
        if entry.problem is not None:
            problems.append(entry.problem)
        if entry.skill is None:
            continue
        name = entry.skill.name
        if name not in skills:
            skills[name], owners[name] = entry.skill, path
        elif path.parent == owners[name].parent:
            reason = f"`name`: {name!r} is the name in {owners[name].name!r} already; take another"
            problems.append(SkillFileError(path, Mark(line=1, column=1), reason))
    return skills, tuple(problems)


def _hash(skill: Skill) -> str:
    if isinstance(skill, SkillAction):
        return skill.definition_hash
    return hashlib.sha256(skill.definition.model_dump_json().encode()).hexdigest()
