"""Rules of the code base that no other tool checks."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 400
PACKAGES = (
    "core",
    "knowledge",
    "connectors",
    "scheduler",
    "bot",
    "evaluation",
    "playground",
    "admin",
    "tests",
)
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_too_long_to_take_in(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_every_package_is_named_in_the_project_file() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = settings["tool"]["setuptools"]["packages"]
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in MODULES
        if path.relative_to(ROOT).parts[0] != "tests"
    }
    assert sorted(listed) == sorted(found)
