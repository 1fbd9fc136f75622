"""What unit tests of all packages share."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import create_async_engine

from core.database import Database, open_database

# A busy machine must not fail a test.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

POSTGRESQL = os.environ.get("DATABASE_URL", "")


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param(
            "postgresql",
            marks=pytest.mark.skipif(not POSTGRESQL, reason="DATABASE_URL is not set"),
        ),
    ]
)
async def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """Return the address of an empty database of the test's own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'state.sqlite3'}"
        return
    server = make_url(POSTGRESQL).set(drivername="postgresql+asyncpg")
    name = f"zhixing_test_{uuid4().hex}"
    engine = create_async_engine(server, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(text(f'CREATE DATABASE "{name}"'))
    yield server.set(database=name).render_as_string(hide_password=False)
    async with engine.connect() as connection:
        await connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
    await engine.dispose()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a migrated SQLite file to copy, which is quicker than to migrate."""
    path = tmp_path_factory.mktemp("migrated") / "state.sqlite3"

    async def migrate() -> None:
        await (await open_database(f"sqlite:///{path}")).close()

    asyncio.run(migrate())
    return path


@pytest.fixture
async def database(database_url: str, migrated_file: Path) -> AsyncIterator[Database]:
    """Return an open, migrated, empty database."""
    address = make_url(database_url)
    if address.database and address.get_backend_name() == "sqlite":
        shutil.copy(migrated_file, address.database)
    opened = await open_database(database_url)
    yield opened
    await opened.close()
