import pytest

from knowledge.embedding.none import NoEmbedder
from knowledge.embedding.token_estimate import estimate_tokens
from tests.contracts.embedder import EmbedderContract


class TestWordsOnly(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> NoEmbedder:
        return NoEmbedder()


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("   \n", 0, 0),
        ("报销需要在三十天内提交", 6, 11),
        ("Travel expenses are paid back within thirty days.", 8, 14),
        ("请在 Jira 提交 issue", 5, 10),
    ],
)
def test_estimate_is_near_what_a_tokeniser_counts(text: str, low: int, high: int) -> None:
    assert low <= estimate_tokens(text) <= high
