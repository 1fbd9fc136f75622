"""What the bot and every platform share: the answer, whoever renders it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a question, as the public reply shows it."""

    ANSWERED = "answered"
    NOT_FOUND = "not_found"
    NO_ACCESS = "no_access"
    CLARIFY = "clarify"
    CONFLICT = "conflict"
    PROPOSED = "proposed"
    CHITCHAT = "chitchat"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The passage behind a marker `[n]` of the answer.

    Attributes:
        n: Counts from 1 in the order of first use in the answer.
        page: Page of the file; None where there are no pages.
        version: Number of the document's version: of text in force the current one, of former
            text the one that wrote it.
        version_label: What people call that version; empty when they don't.
        updated_at: When that version came into force at the source.
    """

    n: int
    document_id: str
    passage_id: str
    title: str
    heading_path: tuple[str, ...]
    url: str
    page: int | None
    version: int
    version_label: str
    updated_at: datetime

    def to_json(self) -> dict[str, object]:
        """Return the citation as `--json` prints it."""
        return {
            "n": self.n,
            "document_id": self.document_id,
            "passage_id": self.passage_id,
            "title": self.title,
            "heading_path": list(self.heading_path),
            "url": self.url,
            "version": self.version,
            "updated_at": self.updated_at.isoformat(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NearPage:
    """A page that may help where nothing answers the question."""

    document_id: str
    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedAction:
    """A write action drafted for confirmation; nothing has been done yet.

    Attributes:
        from_pages: Names of parameters with a value that came from a page or another system, not
            from the person.
    """

    skill: str
    params: Mapping[str, object]
    from_pages: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, object]:
        """Return the action as `--json` prints it."""
        return {"skill": self.skill, "params": dict(self.params)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The reply to a question.

    Attributes:
        text: Markdown; `[1]` refers to the citation with n = 1.
        citations: Exactly those whose markers stand in the text, in order of n.
        private_answer: What only the asker may read; None = nothing beyond the public text.
        route: Which way the question took.
        tools: Names of the tools that were called, in order.
        near_pages: Pages named for lack of an answer, all readable by the audience.
    """

    outcome: Outcome
    text: str
    citations: tuple[Citation, ...] = ()
    private_answer: str | None = None
    proposed_action: ProposedAction | None = None
    route: str = ""
    tools: tuple[str, ...] = ()
    trace_id: str = ""
    took_ms: float = 0.0
    near_pages: tuple[NearPage, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the answer as `ask --json` prints it; the keys are a stable interface."""
        action = self.proposed_action
        return {
            "outcome": self.outcome.value,
            "answer": self.text,
            "citations": [citation.to_json() for citation in self.citations],
            "private_answer": self.private_answer,
            "proposed_action": None if action is None else action.to_json(),
            "route": self.route,
            "tools": list(self.tools),
            "trace_id": self.trace_id,
            "took_ms": round(self.took_ms, 1),
        }
