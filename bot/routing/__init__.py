"""Which way a message takes: rules first, then labelled examples, a light model when unsure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

By = Literal["rules", "examples", "model"]


class Route(StrEnum):
    """The ways a message can take."""

    CHITCHAT = "chitchat"
    HELP = "help"
    CLARIFY = "clarify"
    FAQ = "faq"
    MULTI_HOP = "multi_hop"
    ACTION = "action"

    @property
    def needs_search(self) -> bool:
        """Whether the message asks for something that pages, records or tools hold."""
        return self not in _SMALL_TALK

    @property
    def needs_agent(self) -> bool:
        """Whether it has to be worked through in steps, where there is a model for that."""
        return self in {Route.MULTI_HOP, Route.ACTION}


_SMALL_TALK = frozenset({Route.CHITCHAT, Route.HELP, Route.CLARIFY})


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """The chosen way and why.

    Attributes:
        confidence: How likely it is right, 0 to 1; of a rule 1.
        is_sure: Whether it stands as it is; else a light model is asked, where there is one.
        if_nothing: Small talk it may be; said where a search finds nothing. None = it asks.
    """

    route: Route
    reason: str
    confidence: float = 1.0
    by: By = "rules"
    is_sure: bool = True
    if_nothing: Route | None = None

    def describe(self) -> str:
        """Return a line for the trace."""
        return f"{self.route}: {self.reason} ({self.by}, {self.confidence:.2f})"
