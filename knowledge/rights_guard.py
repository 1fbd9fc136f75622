"""Which new rules are believed at once. Pure.

A rule that the source states is believed, whatever it does. What only looks like a new rule is
not: a listing that broke off, or many documents at once of which nobody may read anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.settings import IngestSettings
from knowledge.access import AccessRule
from knowledge.documents import DocumentId


@dataclass(frozen=True, slots=True, kw_only=True)
class RightsVerdict:
    """What to do about a scope's new rules.

    Attributes:
        applied: Rules that hold from now on.
        held: Documents that nobody could read any more and that keep their rule until a person
            agrees.
        reason: Why they are held, in words for operators; empty when none is.
    """

    applied: Mapping[DocumentId, AccessRule]
    held: frozenset[DocumentId] = frozenset()
    reason: str = ""


def judge_rules(
    scope: str,
    rules: Mapping[DocumentId, AccessRule],
    *,
    total: int,
    is_accepted: bool,
    settings: IngestSettings,
) -> RightsVerdict:
    """Hold back rules that would close many documents of a scope to everybody.

    Args:
        scope: Its name, for the reason.
        rules: The new rules, of documents whose rule has changed.
        total: Documents of the scope.
        is_accepted: A person has agreed to close them.
        settings: From how many on it is not believed.
    """
    closed = frozenset(key for key, rule in rules.items() if admits_nobody(rule))
    is_whole = len(closed) == total > 1
    is_many = len(closed) >= settings.hold_min_documents and (
        len(closed) > settings.hold_share * total
    )
    if is_accepted or not (is_whole or is_many):
        return RightsVerdict(applied=rules)
    reason = (
        f"nobody could read {len(closed)} of {total} documents of scope {scope!r} any more; they "
        "keep their rule. Check that the account can still read the rights, then run "
        "`zhixing sync --accept-deletions`"
    )
    return RightsVerdict(
        applied={key: rule for key, rule in rules.items() if key not in closed},
        held=closed,
        reason=reason,
    )


def admits_nobody(rule: AccessRule) -> bool:
    """Tell whether no reader at all satisfies a rule."""
    return frozenset() in rule.clauses


def is_loosened(old: AccessRule, new: AccessRule) -> bool:
    """Tell whether everybody who satisfies the old rule satisfies the new one as well."""
    return all(any(had <= clause for had in old.clauses) for clause in new.clauses)
