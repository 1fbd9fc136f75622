"""Homes of small companies that are synced once and copied for each test."""

import os
from pathlib import Path

import pytest

from tests.unit.bot.office import PUBLIC_PAGES, SECRET_PAGES, Office, build_office, copy_office


@pytest.fixture
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the embedder `none` and nothing else of the environment."""
    set_environment(monkeypatch)


def set_environment(patch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("ZHIXING_", "OPENAI_")) or name == "DATABASE_URL":
            patch.delenv(name)
    patch.setenv("ZHIXING_EMBEDDER", "none")


@pytest.fixture(scope="session")
def synced_office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """Return a company with a folder that only HR may read."""
    with pytest.MonkeyPatch.context() as patch:
        set_environment(patch)
        return build_office(tmp_path_factory.mktemp("office"), {**PUBLIC_PAGES, **SECRET_PAGES})


@pytest.fixture(scope="session")
def synced_office_without_secrets(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """Return the same company without that folder."""
    with pytest.MonkeyPatch.context() as patch:
        set_environment(patch)
        return build_office(tmp_path_factory.mktemp("open-office"), PUBLIC_PAGES)


@pytest.fixture
def office(synced_office: Office, tmp_path: Path, words_only: None) -> Office:  # noqa: ARG001
    """Return a copy of the company that the test may change."""
    return copy_office(synced_office, tmp_path)


@pytest.fixture
def open_office(
    synced_office_without_secrets: Office,
    tmp_path: Path,
    words_only: None,  # noqa: ARG001
) -> Office:
    """Return a copy of the company that has no secret folder."""
    return copy_office(synced_office_without_secrets, tmp_path / "open")
