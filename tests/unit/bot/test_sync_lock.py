from pathlib import Path

import pytest

from bot.commands.sync import hold_sync
from core.errors import ServiceUnavailableError


async def test_a_second_sync_of_the_same_home_is_told_to_wait(tmp_path: Path) -> None:
    async with hold_sync(tmp_path / "home"):
        with pytest.raises(ServiceUnavailableError, match="another sync is running"):
            async with hold_sync(tmp_path / "home"):
                pass
        async with hold_sync(tmp_path / "other"):
            pass
    async with hold_sync(tmp_path / "home"):
        pass
