import pytest

from tests.contracts.embedder import EmbedderContract
from tests.fakes.tiny_embedder import TinyEmbedder


class TestTinyEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> TinyEmbedder:
        return TinyEmbedder()


async def test_texts_that_share_words_are_nearer() -> None:
    tiny = TinyEmbedder()
    asked = await tiny.embed_query("磁盘 disk")
    near, far = await tiny.embed_passages(["the disk is full 磁盘", "annual leave 年假"])
    assert asked @ near > asked @ far
