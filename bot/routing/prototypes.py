"""Labelled examples as prototypes: how much a message is like those of each route.

Every example pulls towards its own route, as strongly as it takes for all of them together to tell
the routes apart (kernel ridge regression). The scores become probabilities by one temperature,
fitted on messages that are no prototypes, as they are for whichever embedder is in use.
Source: Guo et al., On Calibration of Modern Neural Networks, https://arxiv.org/abs/1706.04599
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bot.routing import Route
from bot.routing.examples import Example, Part
from bot.routing.features import Features, build_features

ROUTES = tuple(Route)
# Chosen on the calibration part, for meaning and words, and for words alone.
_SMOOTHING = 3.0
_SMOOTHING_WORDS = 0.5
_TEMPERATURES = np.geomspace(0.02, 2.0, 80)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prototypes:
    """Fitted examples. Immutable.

    Attributes:
        centre: What all examples have in common, (dimension,); no columns = words alone.
        weights: (columns, routes), routes in the order of `ROUTES`.
        temperature: Of the scores.
    """

    centre: Features
    weights: Features
    temperature: float

    @property
    def reads_meaning(self) -> bool:
        """Whether vectors count, not words alone."""
        return self.centre.size > 0

    def judge(self, text: str, vector: Features) -> dict[Route, float]:
        """Return how likely each route is; the sum is 1.

        Args:
            text: As it was asked.
            vector: Its embedding as a question; ignored where words alone count.
        """
        rows = _build_rows([text], vector.reshape(1, -1), self.centre)
        chances = _soften(rows @ self.weights, self.temperature)[0]
        return dict(zip(ROUTES, map(float, chances), strict=True))


def fit_prototypes(
    examples: Sequence[Example], vectors: Mapping[str, Features] | None
) -> Prototypes:
    """Fit examples, and their confidence on the calibration part.

    Args:
        examples: Of both parts; others are ignored.
        vectors: Their texts embedded as questions; None = words alone.
    """
    known = [one for one in examples if one.part is Part.EXAMPLES]
    held = [one for one in examples if one.part is Part.CALIBRATION]
    known_vectors = _stack(known, vectors)
    centre = known_vectors.mean(axis=0, dtype=np.float32)
    rows = _build_rows([one.text for one in known], known_vectors, centre)
    targets = np.full((len(known), len(ROUTES)), -1 / (len(ROUTES) - 1), np.float32)
    targets[np.arange(len(known)), _number(known)] = 1
    smoothing = _SMOOTHING if centre.size else _SMOOTHING_WORDS
    # All in the space of examples: far fewer than there are columns.
    pulls = np.linalg.solve(rows @ rows.T + smoothing * np.eye(len(known)), targets)
    weights = (rows.T @ pulls).astype(np.float32)
    scores = _build_rows([one.text for one in held], _stack(held, vectors), centre) @ weights
    return Prototypes(
        centre=centre, weights=weights, temperature=_fit_temperature(scores, _number(held))
    )


def list_fitted(examples: Sequence[Example]) -> list[Example]:
    """Return those whose vectors `fit_prototypes` needs."""
    return [one for one in examples if one.part is not Part.TEST]


def _number(examples: Sequence[Example]) -> list[int]:
    return [ROUTES.index(one.route) for one in examples]


def _stack(examples: Sequence[Example], vectors: Mapping[str, Features] | None) -> Features:
    if vectors is None:
        return np.empty((len(examples), 0), np.float32)
    return np.stack([vectors[one.text] for one in examples])


def _build_rows(texts: Sequence[str], vectors: Features, centre: Features) -> Features:
    words = build_features(texts)
    if not centre.size:
        return words
    meaning = vectors - centre
    meaning /= np.maximum(np.linalg.norm(meaning, axis=1, keepdims=True), 1e-6)
    return np.hstack([meaning, words])


def _fit_temperature(scores: Features, right: Sequence[int]) -> float:
    """Return the temperature under which the right routes are likeliest."""
    rows = np.arange(len(right))

    def loss(temperature: float) -> float:
        chances = _soften(scores, temperature)[rows, right]
        return -float(np.log(np.maximum(chances, 1e-9)).mean())

    return min(map(float, _TEMPERATURES), key=loss)


def _soften(scores: Features, temperature: float) -> Features:
    raised = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    shares: Features = raised / raised.sum(axis=1, keepdims=True)
    return shares
