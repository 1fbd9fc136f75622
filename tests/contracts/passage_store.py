"""What every passage store promises. Subclass it, and give the fixture `open_store`.

`open_store(shape)` opens the index of that shape in one place that is new for each test; calling it
again opens the same index once more. The fixture closes what it has opened.
"""

import pytest

from knowledge.stores import PassageStore
from tests.contracts.passage_store_filters import PassageFilterContract
from tests.contracts.passage_store_search import PassageSearchContract
from tests.contracts.passage_store_writes import PassageWriteContract
from tests.contracts.passages import SHAPE, OpenStore


class PassageStoreContract(PassageSearchContract, PassageFilterContract, PassageWriteContract):
    """All parts of the contract, each on an empty index with vectors."""

    @pytest.fixture
    async def store(self, open_store: OpenStore) -> PassageStore:
        return await open_store(SHAPE)
