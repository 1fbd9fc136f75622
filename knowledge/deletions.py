"""When a disappearance is believed. Pure.

A source that lists fewer documents than before may have lost them, or we may have lost the right
to see them, or the listing was cut short. A few deletions are daily life; many at once wait for a
person.
"""

from collections.abc import Collection
from dataclasses import dataclass

from core.settings import IngestSettings
from knowledge.documents import DocumentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Disappearance:
    """What a scope's listing lacks, and what to do about it.

    Attributes:
        missing: Documents the ledger holds in the scope that the listing did not name.
        is_held: True = delete nothing until a person agrees.
        reason: Why it is held, in words for operators; empty when it is not.
    """

    scope: str
    missing: frozenset[DocumentId]
    is_held: bool
    reason: str = ""


def judge_disappearance(
    scope: str,
    held_by_us: Collection[DocumentId],
    listed: Collection[DocumentId],
    *,
    error: str,
    settings: IngestSettings,
) -> Disappearance:
    """Compare a scope's documents with its listing.

    Held when the listing ended in an error (then nothing counts as missing), when the whole scope
    is missing, or when at least `hold_min_documents` and more than `hold_share` of it are.
    """
    if error:
        return Disappearance(scope=scope, missing=frozenset(), is_held=False)
    missing = frozenset(held_by_us) - frozenset(listed)
    total = len(held_by_us)
    is_whole = len(missing) == total and total > 0
    is_many = (
        len(missing) >= settings.hold_min_documents and len(missing) > settings.hold_share * total
    )
    if not (is_whole or is_many):
        return Disappearance(scope=scope, missing=missing, is_held=False)
    reason = (
        f"{len(missing)} of {total} documents of scope {scope!r} are missing at the source; "
        "they keep answering. Check the source, then run `zhixing sync --accept-deletions`"
    )
    return Disappearance(scope=scope, missing=missing, is_held=True, reason=reason)
