"""What a viewer sees of one trace: all of their own, the outline of others', more once audited."""

from collections.abc import Mapping
from dataclasses import dataclass

from admin.refusals import PageRefusal
from admin.viewers import Viewer, Viewers
from bot.agent.audit import AuditLog
from bot.bootstrap import Product
from bot.trace import Trace, describe_missing
from bot.trace_steps import UNDERSTAND
from bot.trace_view import (
    is_understanding_readable,
    list_passages,
    list_steps,
    read_passages,
)
from knowledge.documents import Hit

LEAST_REASON_CHARS, MOST_REASON_CHARS = 5, 500
# Steps that tell of the question and of scores alone. What others note may rest on what was found.
_OF_THE_QUESTION = (
    UNDERSTAND, "route", "analyse", "recall", "fuse", "lock", "rescore", "named pages", "prefer",
    "rerank", "sufficiency", "cut",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """One trace, as a viewer sees it.

    Attributes:
        has_content: Question, notes and passages are shown; else only the outline.
        has_understanding: The question as it was understood is shown too.
        has_findings: Notes that rest on what was found are shown too.
        hits: Passages the viewer may read today; the others are as if they were not there.
        may_break: The viewer may see the rest by giving a reason.
    """

    trace: Trace
    is_own: bool
    has_content: bool
    has_understanding: bool
    has_findings: bool
    hits: Mapping[str, Hit]
    may_break: bool


def rests_on_question(step: str) -> bool:
    """Tell whether a step's note tells of the question and of scores alone."""
    return step.startswith(_OF_THE_QUESTION)


class Sights:
    """Shows traces."""

    def __init__(
        self, product: Product, viewers: Viewers, audit: AuditLog, *, may_break: bool
    ) -> None:
        self._product = product
        self._viewers = viewers
        self._audit = audit
        self._may_break = may_break

    async def look(self, viewer: Viewer, trace_id: str) -> Sight:
        """Return a trace as the viewer may see it without further ado.

        Raises:
            SettingsError: There is none, or none the viewer may know of.
        """
        trace = await self._get(viewer, trace_id)
        return await self._build(viewer, trace, has_content=trace.is_own(viewer.asker))

    async def break_glass(
        self,
        viewer: Viewer,
        trace_id: str,
        reason: str,
        *,
        event: str = "trace_viewed",
        **more: str,
    ) -> Sight:
        """Return a trace with what somebody else asked, once the audit log tells of it.

        Raises:
            SettingsError: There is none, or none the viewer may know of.
            PageRefusal: It may not be opened, or the reason is none.
        """
        trace = await self._get(viewer, trace_id)
        if trace.is_own(viewer.asker):
            return await self._build(viewer, trace, has_content=True)
        if not self._may_break:
            raise PageRefusal("glass_whole")
        reason = " ".join(reason.split())
        if not LEAST_REASON_CHARS <= len(reason) <= MOST_REASON_CHARS:
            raise PageRefusal("bad_reason", least=LEAST_REASON_CHARS, most=MOST_REASON_CHARS)
        await self._audit.append(
            event,
            viewer=viewer.name,
            trace_id=trace.trace_id,
            asker=trace.asker or "operator",
            reason=reason,
            **more,
        )
        return await self._build(viewer, trace, has_content=True)

    async def reopen(self, viewer: Viewer, trace: Trace) -> Sight:
        """Return a trace whose content the viewer was just given."""
        return await self._build(viewer, trace, has_content=True)

    async def _get(self, viewer: Viewer, trace_id: str) -> Trace:
        state = self._product.state
        trace = await state.traces.get(trace_id)
        is_known = trace.is_own(viewer.asker) or viewer.is_operator
        if not is_known or trace.expires_at <= state.clock.now():
            raise describe_missing(trace_id)
        return trace

    async def _build(self, viewer: Viewer, trace: Trace, *, has_content: bool) -> Sight:
        is_own = trace.is_own(viewer.asker)
        may_break = viewer.is_operator and self._may_break and not is_own
        if not has_content:
            return Sight(
                trace=trace,
                is_own=False,
                has_content=False,
                has_understanding=False,
                has_findings=False,
                hits={},
                may_break=may_break,
            )
        reader = await self._viewers.read_as(viewer)
        product = self._product
        hits = await read_passages(
            product.store, product.state.ledger, trace, reader.asker_readable
        )
        reads_all = reader.is_operator
        return Sight(
            trace=trace,
            is_own=is_own,
            has_content=True,
            has_understanding=reads_all
            or is_understanding_readable(list_steps(trace.payload), hits),
            has_findings=reads_all or (is_own and _is_all_readable(trace, hits)),
            hits=hits,
            may_break=may_break,
        )


def _is_all_readable(trace: Trace, hits: Mapping[str, Hit]) -> bool:
    """Tell whether everything the findings may rest on can still be read."""
    steps = [
        one
        for one in list_steps(trace.payload)
        if one.get("step") == UNDERSTAND or not rests_on_question(str(one.get("step")))
    ]
    payload = {"cited": trace.payload.get("cited"), "steps": steps}
    return list_passages(payload) <= hits.keys()
