"""Pending actions: what is about to be done for somebody, once a person has agreed. Pure.

    draft -> pending -> running -> done | failed | unknown
                     -> rejected | expired | replaced | void

`unknown` means that the other side may or may not have done it; only a person can tell: it is
`done`, `failed`, or `running` once more.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from pydantic import JsonValue

ActionId = NewType("ActionId", str)
Parameters = Mapping[str, JsonValue]


class ActionState(StrEnum):
    """How far an action has come."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    EXPIRED = "expired"
    REPLACED = "replaced"
    VOID = "void"

    @property
    def is_final(self) -> bool:
        """Nothing happens to it any more by itself."""
        return self not in {ActionState.PENDING, ActionState.RUNNING, ActionState.UNKNOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """A write that waits for a person, or what became of it.

    Attributes:
        parameters: Exactly what would be done, in canonical form.
        skill_hash: Of the skill's definition when this was drafted; another one voids the action.
        asker: Who asked for it; a person's id.
        place: A channel id or `dm`.
        deciders: Who may confirm it, by person id. The asker may drop or edit it all the same.
        nonce: Known to the buttons that stand there now; another one for every further try.
        idempotency_key: The same for every try at doing it.
        from_pages: Parameters whose value came out of a page rather than from the person.
        decided_by: Who confirmed or rejected it; empty while nobody has.
        result: What the other side said, in words.
        version: Grows with every step, so that a message can tell whether it is out of date.
        runs: How often it was begun to be done.
    """

    action_id: ActionId
    skill: str
    parameters: Parameters
    skill_hash: str
    asker: str
    place: str
    deciders: frozenset[str]
    nonce: str
    idempotency_key: str
    from_pages: frozenset[str]
    created_at: datetime
    expires_at: datetime
    state: ActionState
    decided_by: str = ""
    result: str = ""
    version: int = 1
    runs: int = 0

    @property
    def parameters_hash(self) -> str:
        """Hash of the canonical parameters."""
        return hash_parameters(self.parameters)


def canonical_json(parameters: Parameters) -> str:
    """Write parameters so that equal ones are equal texts."""
    return json.dumps(parameters, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def hash_parameters(parameters: Parameters) -> str:
    """Return the SHA-256 of the canonical parameters, in hexadecimal."""
    return hashlib.sha256(canonical_json(parameters).encode()).hexdigest()
