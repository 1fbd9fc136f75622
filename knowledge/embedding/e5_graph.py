"""The transformer of multilingual-e5-small as an ONNX graph.

A plain BERT: 12 layers, attention then feed-forward, each followed by a layer norm of the sum. The
big matrices are kept as 8-bit blocks of 128 weights (22 MB) and multiplied by onnxruntime's
blockwise kernel, which also rounds the activations to 8 bits a block. On two cores that is a third
faster than fp32 (85 MB) and moves a vector by a cosine of 0.0002; the 4-bit source itself is
rounded sixteen times more coarsely than these 8 bits.

Word vectors are looked up outside: in the graph their table would be 384 MB of floats. Every row of
a batch has the same length, so no mask is needed.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from knowledge.embedding.e5_weights import E5Weights

INPUT_WORDS = "words"
INPUT_POSITIONS = "positions"
OUTPUT = "means"
_OPTIMISED = "com.microsoft"  # onnxruntime's own fused operators
_BLOCK = 128
_BITS = 8
_ROUNDED_ACTIVATIONS = 4  # accuracy_level: int8 products
_MIDDLE = 128  # of an unsigned byte: weight 0


def build_encoder(weights: E5Weights) -> bytes:
    """Build the serialised model.

    Its inputs are `words` (texts, tokens, hidden) and `positions` (1, tokens, hidden), float32; its
    output `means` (texts, hidden) is the mean of the last layer over the tokens, not normalised.
    """
    graph = _Graph(weights)
    state = graph.normalise(INPUT_WORDS, INPUT_POSITIONS, "emb.ln")
    for layer in range(weights.shape.layers):
        state = graph.layer(state, f"l{layer}.")
    serialised: bytes = graph.finish(state).SerializeToString()
    return serialised


class _Graph:
    """Collects nodes and constants."""

    def __init__(self, weights: E5Weights) -> None:
        self._weights = weights
        self._shape = weights.shape
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def layer(self, state: str, prefix: str) -> str:
        hidden, wide = self._shape.hidden, self._shape.feed_forward
        queries, keys, values = (
            self._multiply(state, prefix + part, rows=hidden) for part in ("q", "k", "v")
        )
        seen = self._node(
            "MultiHeadAttention", [queries, keys, values], prefix + "seen",
            domain=_OPTIMISED, num_heads=self._shape.heads,
        )  # fmt: skip
        attended = self._multiply(seen, prefix + "ao", rows=hidden)
        state = self.normalise(state, attended, prefix + "aln")
        inner = self._multiply(state, prefix + "fi", rows=wide)
        inner = self._node("Gelu", [inner], prefix + "gelu", domain=_OPTIMISED)
        outer = self._multiply(inner, prefix + "fo", rows=hidden)
        return self.normalise(state, outer, prefix + "oln")

    def normalise(self, state: str, added: str, name: str) -> str:
        scale = self._constant(name + ".w", self._weights.vector(name + ".w"))
        shift = self._constant(name + ".b", self._weights.vector(name + ".b"))
        return self._node(
            "SkipLayerNormalization", [state, added, scale, shift], name + ".sum",
            domain=_OPTIMISED, epsilon=self._shape.epsilon,
        )  # fmt: skip

    def finish(self, state: str) -> ModelProto:
        axis = self._constant("token.axis", np.array([1], np.int64))
        self._node("ReduceMean", [state, axis], OUTPUT, keepdims=0)
        hidden = self._shape.hidden
        graph = helper.make_graph(
            self._nodes,
            "e5",
            [
                _value(INPUT_WORDS, ["texts", "tokens", hidden]),
                _value(INPUT_POSITIONS, [1, "tokens", hidden]),
            ],
            [_value(OUTPUT, ["texts", hidden])],
            self._constants,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(_OPTIMISED, 1)],
            ir_version=9,
        )

    def _multiply(self, state: str, name: str, *, rows: int) -> str:
        matrix = self._weights.matrix(name + ".w", rows=rows)
        quantised, scales = quantise_blocks(matrix)
        inputs = [
            state,
            self._constant(name + ".w", quantised),
            self._constant(name + ".scale", scales),
            "",
            "",
            self._constant(name + ".b", self._weights.vector(name + ".b")),
        ]
        return self._node(
            "MatMulNBits", inputs, name + ".product", domain=_OPTIMISED,
            K=matrix.shape[1], N=rows, bits=_BITS, block_size=_BLOCK,
            accuracy_level=_ROUNDED_ACTIVATIONS,
        )  # fmt: skip

    def _constant(self, name: str, values: NDArray[np.generic]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(
        self,
        kind: str,
        inputs: Sequence[str],
        output: str,
        *,
        domain: str = "",
        **options: float,
    ) -> str:
        node = helper.make_node(kind, inputs, [output], domain=domain)
        node.attribute.extend(
            helper.make_attribute(name, value) for name, value in sorted(options.items())
        )
        self._nodes.append(node)
        return output


def quantise_blocks(
    matrix: NDArray[np.float32],
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Round a matrix (rows, columns) to bytes.

    Returns:
        Bytes (rows, blocks, 128) with 128 for zero, and one scale a block (rows, blocks).
    """
    blocks = matrix.reshape(matrix.shape[0], -1, _BLOCK)
    scales = np.abs(blocks).max(axis=-1) / np.float32(_MIDDLE - 1)
    steps = np.where(scales > 0, scales, np.float32(1))[..., None]
    return (np.rint(blocks / steps) + _MIDDLE).astype(np.uint8), scales


def _value(name: str, shape: list[str | int]) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
