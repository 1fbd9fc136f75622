"""A company's business tables: a database of its own, and a skill for each table that may be asked.

What the tables are called, who sees which rows and what the tools are named is all read from the
company's folder: business.sql and data_policy.json.
"""

import json
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from core.errors import SettingsError
from core.settings import SETTINGS_FILE, Settings
from core.skill_settings import DatabaseSource
from knowledge.directory_import import GROUP_SOURCE
from playground.jira.projects import SKILLS

DATABASE = "company"
_TABLES, _POLICY = "business.sql", "data_policy.json"


def prepare_records(settings: Settings, folder: Path, target: Path) -> Settings:
    """Build the database, write the skills, and return settings that know of it.

    The home folder's settings file is told of the database once, for the commands that follow. A
    company without tables changes nothing.

    Args:
        settings: Of the home folder.
        folder: The company's.
        target: Where in the home folder the company's own files lie.

    Raises:
        SettingsError: One of the files is not of its form.
    """
    if not (folder / _TABLES).exists():
        return settings
    path = target / "business.sqlite3"
    _build_database(folder / _TABLES, path)
    _write_skills(folder / _POLICY, path, settings.home / settings.skills.folder)
    url = f"sqlite:///{path.relative_to(settings.home)}"
    if DATABASE not in settings.databases:
        with (settings.home / SETTINGS_FILE).open("a", encoding="utf-8") as file:
            file.write(f"\n[databases.{DATABASE}]\nurl = {json.dumps(url)}\n")
    source = DatabaseSource.model_validate({"url": url})
    return settings.model_copy(update={"databases": {**settings.databases, DATABASE: source}})


def copy_skills(folder: Path, settings: Settings) -> None:
    """Copy a company's skill files into the home folder, where they may be changed."""
    target = settings.home / settings.skills.folder
    for file in sorted((folder / SKILLS).glob("*.yaml")):
        target.mkdir(parents=True, exist_ok=True)
        if not (target / file.name).exists():
            shutil.copyfile(file, target / file.name)


def _build_database(script: Path, path: Path) -> None:
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    connection = sqlite3.connect(fresh)
    try:
        connection.executescript(script.read_text(encoding="utf-8"))
    except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{str(script)!r} can't be run: {error}") from error
    finally:
        connection.close()
    fresh.replace(path)


def _write_skills(policy: Path, database: Path, folder: Path) -> None:
    try:
        rights: dict[str, Mapping[str, Any]] = json.loads(policy.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{str(policy)!r} can't be read: {error}") from error
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    for table, one in rights.items():
        tool = str(one.get("tool") or f"query_{table}")
        name = f"query_{table}" if tool in taken else tool
        taken.add(name)
        skill = _describe(name, table, one, _list_columns(database, table))
        text = yaml.safe_dump(skill, allow_unicode=True, sort_keys=False)
        (folder / f"{table}.yaml").write_text(text, encoding="utf-8")


def _describe(
    name: str, table: str, rights: Mapping[str, Any], columns: list[str]
) -> dict[str, object]:
    full = [f"group:{GROUP_SOURCE}/{group}" for group in rights["full"]]
    words = table.replace("_", " ")
    skill: dict[str, object] = {
        "name": name,
        "kind": "sql",
        "title": {"en": words, "zh": words},
        "description": f"Count, sum up or list the company's {words}: {', '.join(columns)}."[:1000],
        "database": DATABASE,
        "table": table,
    }
    row = rights.get("row")
    if not row:
        return {**skill, "visible_to": full}
    rows = {"full": full, "own": row["own"], "reports": bool(row.get("reports"))}
    if row.get("via"):
        rows["via"] = row["via"]
    return {**skill, "rows": rows}


def _list_columns(database: Path, table: str) -> list[str]:
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    finally:
        connection.close()
    if not rows:
        raise SettingsError(f"{_POLICY} names the table {table!r}, which {_TABLES} does not make")
    return [str(row[0]) for row in rows]
