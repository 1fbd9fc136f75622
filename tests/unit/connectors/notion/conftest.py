from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.database import Database
from tests.unit.connectors.notion.office import Office, open_office


@pytest.fixture
async def office(database: Database, tmp_path: Path) -> AsyncIterator[Office]:
    """Return an empty workspace, a source of it and an index."""
    async with open_office(database, tmp_path) as opened:
        yield opened
