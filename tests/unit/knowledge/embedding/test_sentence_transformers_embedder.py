import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from core.errors import SettingsError
from knowledge.embedding.sentence_transformers import (
    SentenceTransformersEmbedder,
    load_sentence_transformer,
)
from tests.contracts.embedder import EmbedderContract

INSTALLED = find_spec("sentence_transformers") is not None
needs_models = pytest.mark.skipif(
    not INSTALLED, reason="sentence-transformers is not installed (extra `models`)"
)
VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "disk", "is", "full", "short", "word",
    "passage", "much", "longer", "query", ":",
    *"报销需要在三十天内提交发票抬头必须是公司全称流程说明怎么",
]  # fmt: skip


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a tiny BERT with random weights: real library, no download."""
    import torch  # noqa: PLC0415 - only with the extra
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers import BertConfig, BertModel, BertTokenizer  # noqa: PLC0415

    torch.manual_seed(11)
    parts = tmp_path_factory.mktemp("bert")
    vocabulary = parts / "vocab.txt"
    vocabulary.write_text("\n".join(dict.fromkeys(VOCABULARY)), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(parts)
    config = BertConfig(
        vocab_size=len(dict.fromkeys(VOCABULARY)), hidden_size=32, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=64, max_position_embeddings=128,
    )  # fmt: skip
    BertModel(config).save_pretrained(parts)
    # The library adds mean pooling to a plain encoder by itself.
    model = SentenceTransformer(str(parts))
    model.max_seq_length = 128
    folder = tmp_path_factory.mktemp("model")
    model.save(str(folder))
    return folder


@pytest.mark.models
@needs_models
class TestLocalModel(EmbedderContract):
    @pytest.fixture
    async def embedder(self, model_folder: Path) -> AsyncIterator[SentenceTransformersEmbedder]:
        loaded = await load_sentence_transformer(str(model_folder))
        yield loaded
        await loaded.close()


@pytest.mark.models
@needs_models
async def test_prefixes_change_vectors_and_name(model_folder: Path) -> None:
    plain = await load_sentence_transformer(str(model_folder))
    prefixed = await load_sentence_transformer(str(model_folder), query_prefix="query: ")
    assert plain.name != prefixed.name
    one, other = await plain.embed_query("disk"), await prefixed.embed_query("disk")
    assert not np.allclose(one, other)


@pytest.mark.models
@needs_models
async def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="absent"):
        await load_sentence_transformer(str(tmp_path / "absent"))


async def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # The interpreter's own switch for "this module cannot be imported".
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SettingsError, match=r"zhixing\[models\]"):
        await load_sentence_transformer("BAAI/bge-m3")
