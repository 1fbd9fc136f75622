"""What a sync run did, in numbers and reasons."""

from dataclasses import dataclass, field

from knowledge.ingest_batch import BatchCounts


@dataclass(slots=True, kw_only=True)
class SyncReport:
    """What a run did; becomes the JSON of `zhixing sync`.

    Attributes:
        held: Documents that are missing at the source and are kept until a person agrees.
        unread: Sources that could not be read at all; why is among the alarms.
        alarms: What a person has to look at: held deletions, listings that failed.
    """

    seen: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    held: int = 0
    rows_added: int = 0
    rows_closed: int = 0
    rows_embedded: int = 0
    seconds: float = 0.0
    failures: dict[str, str] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def count(self, batch: BatchCounts) -> None:
        """Add what a batch did."""
        self.added += batch.added
        self.changed += batch.changed
        self.unchanged += batch.unchanged
        self.rows_added += batch.rows_added
        self.rows_closed += batch.rows_closed
        self.rows_embedded += batch.rows_embedded

    def add(self, other: "SyncReport") -> None:
        """Add what another run did."""
        self.seen += other.seen
        self.added += other.added
        self.changed += other.changed
        self.unchanged += other.unchanged
        self.removed += other.removed
        self.held += other.held
        self.rows_added += other.rows_added
        self.rows_closed += other.rows_closed
        self.rows_embedded += other.rows_embedded
        self.seconds += other.seconds
        self.failures |= other.failures
        self.alarms += other.alarms

    def counts(self) -> dict[str, int]:
        """Return all numbers by name, for the run log."""
        return {
            "seen": self.seen,
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "removed": self.removed,
            "failed": len(self.failures),
            "held": self.held,
            "rows_added": self.rows_added,
            "rows_closed": self.rows_closed,
            "rows_embedded": self.rows_embedded,
        }

    def to_json(self) -> dict[str, object]:
        """Return the stable `--json` form."""
        counts = self.counts()
        names = ("seen", "added", "changed", "unchanged", "removed", "failed", "held")
        return {
            "documents": {name: counts[name] for name in names},
            "passages": {
                "added": self.rows_added,
                "closed": self.rows_closed,
                "embedded": self.rows_embedded,
            },
            "failures": [
                {"id": document_id, "reason": reason}
                for document_id, reason in sorted(self.failures.items())
            ],
            "alarms": self.alarms,
            "seconds": round(self.seconds, 3),
        }
