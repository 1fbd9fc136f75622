"""Asks a traced question once more, with other settings, and compares; nothing is ever done by it.

A replay ends in an answer and a trace. It keeps no turn, and a draft of an action is shown by its
kind alone: only chats turn drafts into actions that can be confirmed.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from admin.refusals import PageRefusal
from admin.timeline import SearchTable
from admin.viewers import Viewer
from bot.assembly import ConversationGround, build_conversation
from bot.bootstrap import Product
from bot.conversation import Conversation, ConversationParts
from bot.trace import Trace, TraceStore
from core.clock import parse_moment
from core.errors import SettingsError
from core.messages import Answer
from core.settings import RetrievalSettings
from knowledge.documents import Hit
from knowledge.readers import Reader

Mode = Literal["hybrid", "words", "vectors"]
MODES: tuple[Mode, ...] = ("hybrid", "words", "vectors")
ROWS_COMPARED = 20
TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """What is changed.

    Attributes:
        retrieval: Stages and sizes.
        with_model: Let the chat model write and plan, where there is one.
        as_of: Pages as they were then; None = as they are.
    """

    retrieval: RetrievalSettings
    with_model: bool
    as_of: datetime | None

    def describe(self, usual: RetrievalSettings) -> str:
        """Say what is not as usual, for the audit log."""
        before, after = usual.model_dump(), self.retrieval.model_dump()
        changed = [f"{key}={after[key]}" for key in after if after[key] != before[key]]
        changed += [] if self.with_model else ["without model"]
        changed += [f"as of {self.as_of.isoformat()}"] if self.as_of else []
        return ", ".join(changed) or "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """An answer and where its trace is."""

    answer: Answer
    trace: Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A passage in both searches: its place among those shown, from 1; None = not there."""

    hit: Hit
    before: int | None
    after: int | None
    fate_before: str
    fate_after: str

    @property
    def steps(self) -> int | None:
        """How many places it went up; negative = down; None = it was in one of them only."""
        return None if self.before is None or self.after is None else self.before - self.after


class ReplayTraces(TraceStore):
    """Keeps the one trace of a replay as what it is: the viewer's, of somebody's question."""

    def __init__(self, store: TraceStore, original: Trace, viewer: Viewer) -> None:
        self._store = store
        self._original = original
        self._viewer = viewer
        self.kept: Trace | None = None

    async def save(self, trace: Trace) -> None:
        """Keep it under the viewer's name; words of somebody else's stay theirs."""
        self.kept = replace(
            trace,
            asker=self._viewer.asker,
            replay_of=self._original.trace_id,
            is_foreign=not self._original.is_own(self._viewer.asker),
        )
        await self._store.save(self.kept)


def read_settings(form: Mapping[str, str], usual: RetrievalSettings) -> ReplaySettings:
    """Read the form of a replay; what it leaves out stays as usual.

    Raises:
        PageRefusal: A value is out of range or none at all.
    """
    changes: dict[str, object] = {
        key: form[key].strip()
        for key in ("recall_terms", "recall_vector", "candidates", "limit", "fusion")
        if form.get(key, "").strip()
    }
    changes["sufficiency"] = form.get("sufficiency") == "on"
    if form.get("mode") == "words":
        changes["recall_vector"] = 0
        changes["recall_foreign"] = 0
    elif form.get("mode") == "vectors":
        changes["recall_terms"] = 0
        changes["rescore"] = False
    try:
        retrieval = RetrievalSettings.model_validate({**usual.model_dump(), **changes})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise PageRefusal("bad_value", field=".".join(map(str, first["loc"]))) from error
    as_of = form.get("as_of", "").strip()
    try:
        moment = parse_moment(as_of) if as_of else None
    except SettingsError as error:
        raise PageRefusal("bad_date", value=as_of) from error
    return ReplaySettings(
        retrieval=retrieval, with_model=form.get("with_model") == "on", as_of=moment
    )


class Replays:
    """Runs replays, one at a time."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self._place = asyncio.Semaphore(1)

    async def run(
        self,
        original: Trace,
        question: str,
        viewer: Viewer,
        reader: Reader,
        settings: ReplaySettings,
    ) -> Replayed:
        """Ask once more.

        Args:
            original: What is replayed.
            question: As it was understood: it stands on its own.
            viewer: Who wants it, and keeps the trace.
            reader: Under whose rights.
            settings: What is changed.

        Raises:
            PageRefusal: It took too long, or its trace was not kept.
        """
        product = self._product
        traces = ReplayTraces(product.state.traces, original, viewer)
        parts = self._build(traces, settings)
        try:
            async with asyncio.timeout(TIMEOUT_S), self._place:
                answer = await Conversation(parts).ask(question, reader)
        except TimeoutError as error:
            raise PageRefusal("replay_slow", seconds=int(TIMEOUT_S)) from error
        finally:
            await parts.memory.close()
            if parts.router is not product.conversation.parts.router:
                await parts.router.close()
        if traces.kept is None:
            raise PageRefusal("replay_lost")
        return Replayed(answer=answer, trace=traces.kept)

    def _build(self, traces: TraceStore, settings: ReplaySettings) -> ConversationParts:
        product, state = self._product, self._product.state
        ground = ConversationGround(
            settings=state.settings,
            clock=state.clock,
            database=state.database,
            directory=state.directory,
            registry=state.registry,
            ledger=state.ledger,
            traces=traces,
            analyser=product.analyser,
            embedder=product.embedder,
            store=product.store,
            retriever=product.retriever.with_settings(settings.retrieval),
            model=product.model if settings.with_model else None,
            # Rewrites follow-ups; what is replayed stands on its own.
            light_model=None,
            skills=product.skills,
        )
        parts = replace(build_conversation(ground).parts, as_of=settings.as_of)
        # The running one has read its examples already, but may ask a model.
        running = product.conversation.parts.router
        return replace(parts, router=running) if settings.with_model else parts


def compare_searches(before: SearchTable | None, after: SearchTable | None) -> tuple[Moved, ...]:
    """Return the best passages of either search, in the order of the later one. Pure."""
    old = {} if before is None else {row.hit.passage_id: row for row in before.rows}
    new = {} if after is None else {row.hit.passage_id: row for row in after.rows}
    old_places = {passage_id: place for place, passage_id in enumerate(old, 1)}
    new_places = {passage_id: place for place, passage_id in enumerate(new, 1)}
    ids = [*list(new)[:ROWS_COMPARED], *(one for one in list(old)[:ROWS_COMPARED])]
    return tuple(
        Moved(
            hit=(new.get(one) or old[one]).hit,
            before=old_places.get(one),
            after=new_places.get(one),
            fate_before=old[one].fate if one in old else "",
            fate_after=new[one].fate if one in new else "",
        )
        for one in dict.fromkeys(ids)
    )
