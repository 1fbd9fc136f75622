"""A trace as somebody may see it: passages are read again under the viewer's rights of today."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.trace import Trace, describe_missing
from bot.trace_steps import UNDERSTAND
from core.credentials import mask_credentials
from core.logging import MASK
from knowledge.access import ReadableClasses
from knowledge.documents import Hit, PassageId, Status
from knowledge.ledger import Ledger
from knowledge.readers import Reader
from knowledge.retrieval.lock import check_hits
from knowledge.stores import PassageFilter, PassageStore

SNIPPET_LENGTH = 100
HIDDEN = "(rests on what is not readable for you, or gone)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceView:
    """A trace with the passages the viewer may read; the others are only counted."""

    trace: Trace
    hits: Mapping[str, Hit]

    @property
    def steps(self) -> list[Mapping[str, object]]:
        """The steps; a rewritten question that rests on what the viewer may not read is hidden."""
        steps = list_steps(self.trace.payload)
        if is_understanding_readable(steps, self.hits):
            return steps
        return [{**one, "note": HIDDEN} if tells_understanding(one) else one for one in steps]

    def to_json(self) -> dict[str, object]:
        """Return everything for `--json`."""
        return {
            "trace_id": self.trace.trace_id,
            "at": self.trace.at.isoformat(),
            "asker": self.trace.asker,
            "place": self.trace.place,
            "question": self.trace.question,
            "outcome": self.trace.outcome,
            "steps": self.steps,
            "passages": {
                passage_id: {
                    "document_id": hit.document_id,
                    "title": hit.title,
                    "heading_path": list(hit.heading_path),
                    "version": hit.version_number,
                }
                for passage_id, hit in self.hits.items()
            },
        }

    def describe(self) -> str:
        """Put the trace into words."""
        trace = self.trace
        lines = [
            f"{trace.trace_id}  {trace.at:%Y-%m-%d %H:%M:%S} UTC",
            f"asked by {trace.asker or 'the operator'} in {trace.place}: {trace.question}",
            f"outcome: {trace.outcome}",
        ]
        for step in self.steps:
            took = step.get("took_ms")
            time = f"{took:8.1f} ms  " if isinstance(took, int | float) else " " * 13
            lines.append(f"{time}{step.get('step', '?')}  {step.get('note', '')}".rstrip())
            lines += self._describe_rows(step.get("rows"))
        return "\n".join(lines)

    def _describe_rows(self, rows: object) -> Iterator[str]:
        if not isinstance(rows, Sequence) or isinstance(rows, str):
            return
        hidden = 0
        for row in rows:
            passage_id, score = str(row[0]), float(row[1])
            hit = self.hits.get(passage_id)
            if hit is None:
                hidden += 1
                continue
            place = " › ".join((hit.title, *hit.heading_path))
            text = " ".join(mask_credentials(hit.text, MASK).split())[:SNIPPET_LENGTH]
            yield f"{'':13}  {score:8.4f}  {place}: {text}"
        if hidden:
            yield f"{'':13}  {hidden} not readable for you, or gone"


async def build_view(
    store: PassageStore, ledger: Ledger, trace: Trace, reader: Reader
) -> TraceView:
    """Read the trace's passages as the viewer.

    Raises:
        SettingsError: The trace is somebody else's.
    """
    if reader.asker is not None and not trace.is_own(reader.asker.person_id):
        # That somebody has asked is not told either.
        raise describe_missing(trace.trace_id)
    hits = await read_passages(store, ledger, trace, reader.asker_readable)
    return TraceView(trace=trace, hits=hits)


async def read_passages(
    store: PassageStore, ledger: Ledger, trace: Trace, access: ReadableClasses
) -> dict[str, Hit]:
    """Read what a trace names again, by id; what may not be read, or is gone, is left out."""
    where = PassageFilter(access=access, any_time=True, statuses=frozenset(Status))
    found = await store.get(sorted(list_passages(trace.payload)), where)
    shown = await check_hits(ledger, found, access, only_current=False)
    return {hit.passage_id: hit for hit in shown}


def is_understanding_readable(
    steps: Sequence[Mapping[str, object]], hits: Mapping[str, Hit]
) -> bool:
    """Tell whether all that a question was understood by may be read."""
    understanding = [one for one in steps if one.get("step") == UNDERSTAND]
    return list_passages({"steps": understanding}) <= hits.keys()


def tells_understanding(step: Mapping[str, object]) -> bool:
    """Tell whether a step's note has words of the question as it was understood."""
    return str(step.get("step")).startswith((UNDERSTAND, "analyse"))


def list_passages(payload: Mapping[str, object]) -> set[PassageId]:
    """Return the ids of all passages that a trace's payload names."""
    cited = payload.get("cited")
    named: list[object] = list(cited) if isinstance(cited, list) else []
    for step in list_steps(payload):
        for key in ("rows", "fates"):
            entries = step.get(key)
            for entry in entries if isinstance(entries, list) else ():
                named += entry[:1] if isinstance(entry, list) else ()
    return {PassageId(str(one)) for one in named}


def list_steps(payload: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return a trace's steps, in order."""
    steps = payload.get("steps", [])
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
