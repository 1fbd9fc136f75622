import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.errors import SettingsError
from knowledge.embedding.bundled import BundledEmbedder, E5Model, load_e5_model
from knowledge.embedding.e5_engine import NativeEngine, OnnxEngine
from knowledge.embedding.e5_graph import quantise_blocks
from knowledge.embedding.e5_weights import E5Weights, load_packaged_weights
from tests.contracts.embedder import EmbedderContract

PASSAGES = [
    "When the disk is full, delete old container images and rotate the logs.",
    "磁盘写满时，先清理旧镜像，再轮转日志。",
    "Travel expenses are paid back within thirty days.",
    "差旅费用在三十天内报销。",
    "The company was founded in 1998 by three engineers from Tianjin. " * 12,
]


@pytest.fixture(scope="module")
def onnx_model() -> E5Model:
    return load_e5_model(2, start_engine=lambda weights, n: OnnxEngine(weights, threads=n))


@pytest.fixture(scope="module")
def native_model(onnx_model: E5Model) -> E5Model:
    return replace(onnx_model, engine=NativeEngine(threads=1))


@pytest.fixture
async def embedder(onnx_model: E5Model) -> AsyncIterator[BundledEmbedder]:
    started = BundledEmbedder(load=lambda _: onnx_model)
    yield started
    await started.close()


@pytest.fixture
async def native(native_model: E5Model) -> AsyncIterator[BundledEmbedder]:
    started = BundledEmbedder(load=lambda _: native_model)
    yield started
    await started.close()


class TestOnOnnxruntime(EmbedderContract):
    pass


class TestOnItsOwnEngine(EmbedderContract):
    @pytest.fixture
    def embedder(self, native: BundledEmbedder) -> BundledEmbedder:
        return native


async def test_both_engines_make_the_same_vectors(
    embedder: BundledEmbedder, native: BundledEmbedder
) -> None:
    fast, slow = await embedder.embed_passages(PASSAGES), await native.embed_passages(PASSAGES)
    cosines = np.sum(fast * slow, axis=1)
    assert cosines.mean() >= 0.999
    assert cosines.min() >= 0.998
    one, other = await embedder.embed_query("磁盘满了"), await native.embed_query("磁盘满了")
    assert float(one @ other) >= 0.998


async def test_text_too_long_is_cut_alike_by_both_engines(
    embedder: BundledEmbedder, native: BundledEmbedder
) -> None:
    long_text = "每个部门都要在月底之前提交预算。 " * 120
    assert embedder.count_tokens(long_text) > 600
    one = await embedder.embed_passages([long_text])
    other = await native.embed_passages([long_text])
    assert float(one[0] @ other[0]) >= 0.998


async def test_a_question_is_nearer_to_its_answer_in_either_language(
    embedder: BundledEmbedder,
) -> None:
    disk_en, disk_zh, travel_en, travel_zh, _ = await embedder.embed_passages(PASSAGES)
    for question in ("磁盘满了怎么办?", "What to do when the disk is full?"):
        asked = await embedder.embed_query(question)
        assert asked @ disk_en > asked @ travel_en
        assert asked @ disk_zh > asked @ travel_zh


async def test_questions_and_passages_are_told_apart(embedder: BundledEmbedder) -> None:
    query = await embedder.embed_query("disk full")
    passage = await embedder.embed_passages(["disk full"])
    assert not np.allclose(query, passage[0], atol=1e-3)


async def test_the_event_loop_runs_on_while_passages_are_embedded(
    embedder: BundledEmbedder,
) -> None:
    await embedder.embed_query("warm")
    work = asyncio.create_task(embedder.embed_passages(PASSAGES * 8))
    turns = 0
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10


async def test_invisible_characters_do_not_change_a_vector(embedder: BundledEmbedder) -> None:
    vectors = await embedder.embed_passages(["clean the disk", "clean \u200b the\u2028disk\x01"])
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)


async def test_the_fallback_is_taken_when_onnxruntime_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The interpreter's own switch for "this module cannot be imported".
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    embedder = BundledEmbedder()
    vector = await embedder.embed_query("disk full")
    assert vector.shape == (384,)
    await embedder.close()


def test_weights_of_another_layout_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"GGUF" + bytes(200))
    with pytest.raises(SettingsError, match="unknown layout"):
        E5Weights(path)


def test_truncated_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(b"E5S1" + (1).to_bytes(4, "little") + bytes(10))
    with pytest.raises(SettingsError, match="end after"):
        E5Weights(path)


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="absent"):
        E5Weights(tmp_path / "absent.bin")


def test_rows_of_the_word_table_come_out_in_the_order_of_the_ids() -> None:
    weights = load_packaged_weights()
    rows = weights.word_rows(np.array([[5, 9], [9, 5]]))
    assert rows.shape == (2, 2, 384)
    np.testing.assert_array_equal(rows[0, 0], rows[1, 1])
    assert not np.array_equal(rows[0, 0], rows[0, 1])


def test_rounding_to_bytes_stays_within_half_a_step() -> None:
    matrix = np.random.default_rng(7).normal(size=(6, 256)).astype(np.float32)
    matrix[2, :128] = 0.0
    quantised, scales = quantise_blocks(matrix)
    restored = (quantised.astype(np.float32) - 128) * scales[..., None]
    error = np.abs(restored.reshape(matrix.shape) - matrix)
    assert (error <= scales.repeat(128, axis=1) * 0.5001 + 1e-7).all()
