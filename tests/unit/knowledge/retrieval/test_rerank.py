import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.errors import SettingsError
from knowledge.documents import Hit
from knowledge.retrieval.rerank import CACHED_PAIRS, CrossEncoderReranker, rerank
from tests.unit.knowledge.retrieval.hit_samples import make_hit

INSTALLED = find_spec("sentence_transformers") is not None
needs_models = pytest.mark.skipif(
    not INSTALLED, reason="sentence-transformers is not installed (extra `models`)"
)
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "disk", "is", "full", "leave",
              "annual", *"磁盘满了怎么办年假有几天"]  # fmt: skip
TEXTS = ["the disk is full", "annual leave", "磁盘满了", "年假有几天"]


class CountingReranker:
    """Scores a text by how often it says the question; keeps the protocol."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def score(self, question: str, texts: Sequence[str]) -> list[float]:
        await asyncio.sleep(0)
        self.asked.append((question, tuple(texts)))
        return [float(text.count(question)) for text in texts]


def hits_of(*texts: str) -> list[Hit]:
    return [make_hit(f"p{n}", 9.0 - n, text=text) for n, text in enumerate(texts)]


def ids(hits: Sequence[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


async def test_candidates_are_ordered_by_the_reranker() -> None:
    hits = hits_of("none", "disk", "disk disk")
    ranked = await rerank(CountingReranker(), "disk", hits, candidates=3)
    assert ids(ranked) == ["p2", "p1", "p0"]
    assert [hit.score for hit in ranked] == [2.0, 1.0, 0.0]
    assert ranked[0].scores["reranked"] == 2.0


async def test_what_is_beyond_the_candidates_follows_in_its_order() -> None:
    hits = hits_of("none", "disk", "disk disk disk", "disk disk disk disk")
    ranked = await rerank(CountingReranker(), "disk", hits, candidates=2)
    assert ids(ranked) == ["p1", "p0", "p2", "p3"]
    scores = [hit.score for hit in ranked]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert "reranked" not in ranked[2].scores


async def test_ties_are_broken_by_id() -> None:
    hits = [make_hit("b", 2.0, text="disk"), make_hit("a", 1.0, text="disk")]
    assert ids(await rerank(CountingReranker(), "disk", hits, candidates=5)) == ["a", "b"]


async def test_headings_are_read_with_the_text() -> None:
    reranker = CountingReranker()
    hit = replace(make_hit("a", text="it is full"), heading_path=("Server", "磁盘"))
    await rerank(reranker, "磁盘", [hit], candidates=5)
    assert reranker.asked == [("磁盘", ("Server\n磁盘\nit is full",))]


async def test_no_hits_are_not_scored() -> None:
    reranker = CountingReranker()
    assert await rerank(reranker, "disk", [], candidates=5) == []
    assert not reranker.asked


@pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")
def test_without_the_library_the_setting_is_refused_with_the_remedy() -> None:
    with pytest.raises(SettingsError, match=r"'some/model'.*zhixing\[models\]"):
        CrossEncoderReranker("some/model")


STAND_IN = """
class CrossEncoder:
    def __init__(self, model):
        if model == "missing":
            raise OSError("no such folder")
        self.read = []

    def predict(self, pairs, *, batch_size, show_progress_bar):
        self.read.append(list(pairs))
        return [len(set(question) & set(text)) for question, text in pairs]
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a library of the same name on the path that reads pairs without a model."""
    (tmp_path / "sentence_transformers.py").write_text(STAND_IN, encoding="utf-8")
    known = sys.modules.pop("sentence_transformers", None)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("sentence_transformers", None)
    if known is not None:
        sys.modules["sentence_transformers"] = known


@pytest.mark.usefixtures("library")
async def test_pairs_are_read_once_and_scores_keep_the_order_of_the_texts() -> None:
    reranker = CrossEncoderReranker("a/model")
    assert reranker.name == "a/model"
    assert await reranker.score("磁盘", ["磁", "磁盘满", "无", "磁"]) == [1.0, 2.0, 0.0, 1.0]
    assert await reranker.score("磁盘", ["无", "盘", "磁"]) == [0.0, 1.0, 1.0]
    assert await reranker.score("无", ["无"]) == [1.0]
    assert await reranker.score("无", []) == []
    assert reranker._model.read == [
        [("磁盘", "磁"), ("磁盘", "磁盘满"), ("磁盘", "无")],
        [("磁盘", "盘")],
        [("无", "无")],
    ]


@pytest.mark.usefixtures("library")
async def test_scores_pushed_out_of_the_cache_meanwhile_are_no_error() -> None:
    reranker = CrossEncoderReranker("a/model")
    await reranker.score("ab", ["a"])
    many = [f"text {n}" for n in range(CACHED_PAIRS)]
    slow, _ = await asyncio.gather(
        reranker.score("ab", ["a", "abc"]), reranker.score("other", many)
    )
    assert slow == [1.0, 2.0]
    assert len(reranker._cache) == CACHED_PAIRS
    assert await reranker.score("ab", ["a", "abc"]) == [1.0, 2.0]


@pytest.mark.usefixtures("library")
def test_a_model_that_cannot_be_loaded_is_refused_with_the_remedy() -> None:
    with pytest.raises(SettingsError, match=r"'missing' can't be loaded.*folder that holds one"):
        CrossEncoderReranker("missing")


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a tiny cross-encoder with random weights: real library, no download."""
    import torch  # noqa: PLC0415 - only with the extra
    from transformers import (  # noqa: PLC0415
        BertConfig,
        BertForSequenceClassification,
        BertTokenizer,
    )

    torch.manual_seed(11)
    folder = tmp_path_factory.mktemp("cross-encoder")
    words = list(dict.fromkeys(VOCABULARY))
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64, num_labels=1,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.models
@needs_models
class TestCrossEncoder:
    @pytest.fixture
    def reranker(self, model_folder: Path) -> CrossEncoderReranker:
        return CrossEncoderReranker(str(model_folder))

    async def test_there_is_one_score_a_text_in_order(self, reranker: CrossEncoderReranker) -> None:
        together = await reranker.score("disk", [*TEXTS, TEXTS[0]])
        assert len(together) == len(TEXTS) + 1
        assert together[0] == together[-1]
        for text, score in zip(TEXTS, together, strict=False):
            assert await reranker.score("disk", [text]) == [pytest.approx(score, abs=1e-5)]

    async def test_no_texts_have_no_scores(self, reranker: CrossEncoderReranker) -> None:
        assert await reranker.score("disk", []) == []

    async def test_what_was_scored_is_remembered_by_question_and_text(
        self, reranker: CrossEncoderReranker
    ) -> None:
        first = await reranker.score("disk", TEXTS)
        assert await reranker.score("disk", TEXTS) == first
        assert await reranker.score("annual leave", TEXTS) != first

    async def test_calls_at_the_same_time_do_not_mix(self, model_folder: Path) -> None:
        questions = ["disk", "annual leave", "磁盘", "年假"]
        alone = CrossEncoderReranker(str(model_folder))
        expected = [await alone.score(question, TEXTS) for question in questions]
        together = CrossEncoderReranker(str(model_folder))
        found = await asyncio.gather(*(together.score(one, TEXTS) for one in questions))
        for scores, other in zip(found, expected, strict=True):
            assert scores == pytest.approx(other, abs=1e-5)

    async def test_it_orders_hits(self, reranker: CrossEncoderReranker) -> None:
        ranked = await rerank(reranker, "disk", hits_of(*TEXTS), candidates=10)
        scores = [hit.score for hit in ranked]
        assert scores == sorted(scores, reverse=True)

    def test_a_folder_without_a_model_is_refused_with_the_remedy(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match=r"can't be loaded"):
            CrossEncoderReranker(str(tmp_path))
