"""How runs and what they counted are shown, by several commands."""

from collections.abc import Sequence

from knowledge.completeness import ScopeCount
from knowledge.runs import Run

MISSING_SHOWN = 20


def run_to_json(run: Run, counts: Sequence[ScopeCount] = ()) -> dict[str, object]:
    """Return a run in the stable `--json` form."""
    shown: dict[str, object] = {
        "run_id": run.run_id,
        "source": run.source,
        "kind": run.kind.value,
        "started_by": run.started_by.value,
        "started_at": run.started_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "seconds": run.seconds,
        "status": run.status.value,
        "counts": dict(run.counts),
        "error": run.error,
    }
    if counts:
        shown["completeness"] = [count_to_json(one) for one in counts]
    return shown


def count_to_json(count: ScopeCount) -> dict[str, object]:
    """Return a scope's count, page by page, in the stable `--json` form."""
    return {
        "scope": count.scope,
        "at": count.at.isoformat(),
        "source_count": count.source_count,
        "index_count": count.index_count,
        "share": round(count.share, 6),
        "is_complete": count.is_complete,
        "missing": [{"id": key, "reason": reason} for key, reason in count.missing.items()],
        "extra": list(count.extra),
        "rows_owed": count.rows_owed,
    }


def describe_run(run: Run) -> str:
    """Put a run into a line."""
    took = "" if run.seconds is None else f" in {run.seconds:.1f} s"
    done = ", ".join(f"{number} {name}" for name, number in run.counts.items() if number)
    error = f": {run.error}" if run.error else ""
    return (
        f"{run.started_at:%Y-%m-%d %H:%M:%S} {run.source}/{run.kind} {run.status}{took}"
        f"{f' ({done})' if done else ''}{error}"
    )


def describe_count(count: ScopeCount) -> list[str]:
    """Put a scope's count into lines: the sum, then what is missing or too much."""
    lines = [
        f"  {count.scope}: {count.source_count} pages at the source, {count.index_count} in the "
        f"index ({count.share:.1%}), counted {count.at:%Y-%m-%d %H:%M} UTC"
    ]
    missing = list(count.missing.items())
    lines += [f"    ✗ missing {key}: {reason}" for key, reason in missing[:MISSING_SHOWN]]
    if len(missing) > MISSING_SHOWN:
        lines.append(f"    … and {len(missing) - MISSING_SHOWN} more")
    if count.extra:
        lines.append(f"    ! {len(count.extra)} no longer listed there, held")
    if count.rows_owed:
        lines.append(f"    ! {count.rows_owed} passages differ between ledger and index")
    return lines
