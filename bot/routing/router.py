"""The router: rules, then labelled examples with a calibrated confidence, then a light model."""

import asyncio
import math
import re
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

import numpy as np
import structlog

from bot.routing import Route, Routing
from bot.routing.examples import Example, load_examples
from bot.routing.features import Features
from bot.routing.light_model import LightRouter
from bot.routing.prototypes import Prototypes, fit_prototypes, list_fitted
from bot.routing.rules import find_command
from bot.trace_steps import TraceSteps
from core.errors import ZhixingError
from knowledge.embedding import Embedder

SURE = 0.6
"""From this confidence on a choice between ways that search stands (docs/router.md)."""
SURE_OF_SMALL_TALK = 0.9
"""The same for what is answered without a search: an answer that pages hold must not be lost."""
LIKELY_SMALL_TALK = 0.5
"""From this confidence on it is taken for small talk where a search finds nothing."""
PLAUSIBLE = 0.1
"""What a light model calls small talk must be at least this likely by the examples."""
# A number, a code or a title can be looked for, however small the talk sounds.
_NAMED = re.compile(r"\d|[《》「」『』“”\"]")
# A question waits so long for the examples' vectors; until they are there, words alone decide.
_WAIT_S = 2.0
# After the vectors could not be had.
_RETRY_S = 60.0
_AT_ONCE = 4

_log = structlog.get_logger(__name__)


class Router(Protocol):
    """Chooses the way of what rules of small talk don't know."""

    async def route(self, question: str, *, leans_on_earlier: bool) -> Routing:
        """Choose by rules and examples; asks no model.

        Args:
            question: Standing on its own.
            leans_on_earlier: It was understood by an earlier turn, so it is not too vague.
        """
        ...

    async def settle(self, routing: Routing, question: str, steps: TraceSteps) -> Routing:
        """Return a sure choice as it is; of another the way a light model says, if there is one.

        Args:
            routing: What `route` chose.
            question: As `route` read it.
            steps: Takes what the model used.
        """
        ...

    def start(self) -> None:
        """Begin in the background what the first question would wait for."""
        ...

    async def close(self) -> None:
        """Stop what goes on in the background. Safe to call twice."""
        ...


class ExampleRouter:
    """Routes by labelled examples, fitted at first use and kept.

    Vectors of examples are kept in the embedder's cache: those of a new embedder or file are made
    in the background, a few at a time, going on where another process ended.
    """

    def __init__(
        self,
        embedder: Embedder,
        light: LightRouter | None = None,
        *,
        examples: Sequence[Example] | None = None,
    ) -> None:
        """Prepare; nothing is embedded yet.

        Args:
            embedder: Reads questions; with dimension 0 words alone decide.
            light: Asked when the examples are not sure.
            examples: Other ones than the product's.
        """
        self._embedder = embedder
        self._light = light
        self._examples = examples
        self._by_words: Prototypes | None = None
        self._fitting: asyncio.Task[Prototypes | None] | None = None
        self._retry_at = math.inf

    async def route(self, question: str, *, leans_on_earlier: bool) -> Routing:
        """See `Router`."""
        command = find_command(question)
        if command is not None:
            return command
        chances = await self.judge(question)
        if _NAMED.search(question):
            chances = _leave_out(chances, {one for one in Route if not one.needs_search})
        elif leans_on_earlier:
            chances = _leave_out(chances, {Route.CLARIFY})
        return choose(chances)

    async def settle(self, routing: Routing, question: str, steps: TraceSteps) -> Routing:
        """See `Router`."""
        if routing.is_sure or self._light is None:
            return routing
        try:
            route, usage = await self._light.choose(question)
        except ZhixingError as error:
            _log.warning("model_failed", reason=str(error))
            steps.note("route: light model", note="the model failed; the examples decide")
            return routing
        chances = await self.judge(question)
        steps.note("route: light model", note=f"{route}; {usage.describe()}")
        if not route.needs_search and (chances[route] < PLAUSIBLE or _NAMED.search(question)):
            return routing
        return Routing(
            route=route,
            reason="a light model's choice",
            confidence=chances[route],
            by="model",
        )

    async def judge(self, question: str) -> Mapping[Route, float]:
        """Return how likely each way is by the examples alone; the sum is 1."""
        prototypes = await self.prepare()
        if not prototypes.reads_meaning:
            return prototypes.judge(question, np.empty(0, np.float32))
        try:
            vector = await self._embedder.embed_query(question)
        except ZhixingError as error:
            _log.warning("question_not_embedded", reason=str(error))
            return (await self._fit_words()).judge(question, np.empty(0, np.float32))
        return prototypes.judge(question, vector)

    async def prepare(self, *, wait_s: float | None = _WAIT_S) -> Prototypes:
        """Return the fitted examples; by words alone while there are no vectors of them.

        Args:
            wait_s: For the vectors; None = until they are there, or can't be had.
        """
        fitting = self._begin()
        if fitting is None:
            return await self._fit_words()
        await asyncio.wait({fitting}, timeout=wait_s)
        fitted = fitting.result() if fitting.done() else None
        return fitted or await self._fit_words()

    def start(self) -> None:
        """See `Router`."""
        self._begin()

    def _begin(self) -> asyncio.Task[Prototypes | None] | None:
        """Return what fits with vectors; None with words only."""
        if not self._embedder.dimension:
            return None
        if self._fitting is None or (self._fitting.done() and time.monotonic() > self._retry_at):
            self._fitting = asyncio.create_task(self._fit())
        return self._fitting

    async def close(self) -> None:
        """See `Router`."""
        if self._fitting is not None:
            self._fitting.cancel()
            await asyncio.wait({self._fitting})

    async def _fit(self) -> Prototypes | None:
        """Fit with vectors; None when they can't be had."""
        examples = self._load()
        texts = [one.text for one in list_fitted(examples)]
        vectors: dict[str, Features] = {}
        try:
            for start in range(0, len(texts), _AT_ONCE):
                some = texts[start : start + _AT_ONCE]
                found = await asyncio.gather(*map(self._embedder.embed_query, some))
                vectors.update(zip(some, found, strict=True))
            fitted = await asyncio.to_thread(fit_prototypes, examples, vectors)
        except Exception:  # noqa: BLE001 - questions do without
            _log.exception("route_examples_not_embedded", retry_s=_RETRY_S)
            self._retry_at = time.monotonic() + _RETRY_S
            return None
        self._retry_at = math.inf
        return fitted

    async def _fit_words(self) -> Prototypes:
        if self._by_words is None:
            self._by_words = await asyncio.to_thread(fit_prototypes, self._load(), None)
        return self._by_words

    def _load(self) -> Sequence[Example]:
        return load_examples() if self._examples is None else self._examples


def choose(chances: Mapping[Route, float]) -> Routing:
    """Choose a way; in doubt a search rather than small talk."""
    best = max(chances, key=lambda route: chances[route])
    confidence = chances[best]
    if confidence >= (SURE if best.needs_search else SURE_OF_SMALL_TALK):
        return _by_examples(best, "like labelled examples", confidence)
    if best.needs_search:
        return replace(_by_examples(best, "unsure, the likeliest", confidence), is_sure=False)
    searched = _by_examples(Route.FAQ, f"searched, though it may be {best}", chances[Route.FAQ])
    if_nothing = best if confidence >= LIKELY_SMALL_TALK else None
    return replace(searched, is_sure=False, if_nothing=if_nothing)


def _by_examples(route: Route, reason: str, confidence: float) -> Routing:
    return Routing(route=route, reason=reason, confidence=confidence, by="examples")


def _leave_out(chances: Mapping[Route, float], routes: Set[Route]) -> dict[Route, float]:
    left = {one: chance for one, chance in chances.items() if one not in routes}
    total = sum(left.values())
    return {one: chance / total for one, chance in left.items()}
