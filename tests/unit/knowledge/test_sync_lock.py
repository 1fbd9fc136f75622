from pathlib import Path

import pytest

from core.errors import ServiceUnavailableError
from knowledge.sync_lock import hold_home


async def test_a_second_sync_of_the_same_home_is_told_to_wait(tmp_path: Path) -> None:
    async with hold_home(tmp_path / "home"):
        with pytest.raises(ServiceUnavailableError, match="another sync is running"):
            async with hold_home(tmp_path / "home"):
                pass
        async with hold_home(tmp_path / "other"):
            pass
    async with hold_home(tmp_path / "home"):
        pass
