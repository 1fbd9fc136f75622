"""Labelled messages through the router: what it chose, how sure it was, how long it took."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.rag.language import detect_language
from bot.routing import By, Route, Routing
from bot.routing.examples import Part, load_examples
from bot.routing.router import ExampleRouter
from bot.routing.rules import find_small_talk
from bot.trace_steps import TraceSteps
from core.errors import SettingsError
from core.models.metering import running

BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A message and the way it should take."""

    text: str
    route: Route
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """What became of a message.

    Attributes:
        first: By rules or examples.
        final: After the light model, where one was asked.
        likeliest: By the examples, with its confidence; None where rules decided.
        took_ms: For `first`, the embedding of the question included.
        tokens: The light model used.
    """

    labelled: Labelled
    first: Routing
    final: Routing
    likeliest: tuple[Route, float] | None
    took_ms: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Messages of like confidence; `right` is the share whose likeliest way is the right one."""

    count: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterScores:
    """Figures over some messages.

    Attributes:
        confusion: Messages by right and chosen way.
        calibration_error: Expected calibration error of the examples over `bins`; None = no
            message got to them.
        by: Share that rules or examples decided, or the light model was needed for ("unsure").
        lost: Share of messages that need a search and were given none.
        to_agent: Share of messages with the way `faq` that the agent was given.
    """

    questions: int
    accuracy: float
    confusion: dict[str, dict[str, int]]
    calibration_error: float | None
    bins: tuple[Bin, ...]
    by: dict[str, float]
    lost: float | None
    to_agent: float | None
    ms_p50: float
    ms_p95: float
    tokens: int


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: Annotated[str, Field(min_length=1)]
    route: Route
    lang: str = ""


def load_labelled(files: Sequence[Path]) -> list[Labelled]:
    """Read JSON lines with `text`, `route` and perhaps `lang`; the product's own test without any.

    Raises:
        SettingsError: A file can't be read or a line is not valid.
    """
    if files:
        return [one for path in files for one in _load_file(path)]
    return [
        Labelled(text=one.text, route=one.route, lang=one.lang)
        for one in load_examples()
        if one.part is Part.TEST
    ]


async def route_all(labelled: Iterable[Labelled], router: ExampleRouter) -> list[Routed]:
    """Route messages one after the other, each on its own: no earlier turns."""
    return [await _route(one, router) for one in labelled]


async def _route(labelled: Labelled, router: ExampleRouter) -> Routed:
    steps = TraceSteps()
    began = time.perf_counter()
    first = find_small_talk(labelled.text)
    if first is None:
        first = await router.route(labelled.text, leans_on_earlier=False)
    took_ms = (time.perf_counter() - began) * 1000
    likeliest = None
    if first.by == "examples":
        chances = await router.judge(labelled.text)
        best = max(chances, key=lambda route: chances[route])
        likeliest = (best, chances[best])
    with running(steps.meter):
        final = await router.settle(first, labelled.text, steps)
    return Routed(
        labelled=labelled,
        first=first,
        final=final,
        likeliest=likeliest,
        took_ms=took_ms,
        tokens=steps.meter.usage.tokens,
    )


def score(routed: Sequence[Routed]) -> RouterScores:
    """Compute the figures of at least one message."""
    chosen = [(one.labelled.route, one.final.route) for one in routed]
    confusion: dict[str, dict[str, int]] = {}
    for right, route in chosen:
        row = confusion.setdefault(right.value, dict.fromkeys(map(str, Route), 0))
        row[route.value] += 1
    bins = _build_bins(routed)
    judged = sum(one.count for one in bins)
    error = sum(one.count * abs(one.right - one.confidence) for one in bins)
    times = [one.took_ms for one in routed]
    return RouterScores(
        questions=len(routed),
        accuracy=_share(right is route for right, route in chosen) or 0.0,
        confusion=confusion,
        calibration_error=error / judged if judged else None,
        bins=bins,
        by=_share_by(routed),
        lost=_share(not route.needs_search for right, route in chosen if right.needs_search),
        to_agent=_share(route.needs_agent for right, route in chosen if right is Route.FAQ),
        ms_p50=float(np.percentile(times, 50)),
        ms_p95=float(np.percentile(times, 95)),
        tokens=sum(one.tokens for one in routed),
    )


def _build_bins(routed: Sequence[Routed]) -> tuple[Bin, ...]:
    groups: dict[int, list[tuple[float, bool]]] = {}
    for one in routed:
        if one.likeliest is not None:
            route, confidence = one.likeliest
            place = min(BINS - 1, int(confidence * BINS))
            groups.setdefault(place, []).append((confidence, route is one.labelled.route))
    return tuple(
        Bin(
            count=len(group),
            confidence=sum(confidence for confidence, _ in group) / len(group),
            right=sum(is_right for _, is_right in group) / len(group),
        )
        for _, group in sorted(groups.items())
    )


def _share_by(routed: Sequence[Routed]) -> dict[str, float]:
    decided: dict[str, int] = {"rules": 0, "examples": 0, "unsure": 0}
    for one in routed:
        by: By = one.first.by
        decided[by if one.first.is_sure else "unsure"] += 1
    return {name: count / len(routed) for name, count in decided.items()}


def _share(flags: Iterable[bool]) -> float | None:
    found = list(flags)
    return sum(found) / len(found) if found else None


def _load_file(path: Path) -> list[Labelled]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{str(path)!r} can't be read as UTF-8 text: {error}") from error
    found = [_parse(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise SettingsError(f"{str(path)!r} holds no messages; write a JSON object a line")
    return found


def _parse(path: Path, number: int, line: str) -> Labelled:
    try:
        read = _Line.model_validate(json.loads(line))
    except (json.JSONDecodeError, ValidationError) as error:
        raise SettingsError(
            f"{str(path)!r} line {number} is no labelled message: give a JSON object with `text` "
            f"and `route` ({', '.join(Route)})"
        ) from error
    return Labelled(text=read.text, route=read.route, lang=read.lang or detect_language(read.text))
