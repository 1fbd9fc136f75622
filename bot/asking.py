"""One search for a reply: what is asked, for whom, in which state of the pages."""

from dataclasses import dataclass

from bot.rag.question_type import QuestionAnalysis
from bot.search_query import SearchQuery
from bot.trace_steps import TraceSteps
from bot.watching import Watcher
from knowledge.access import ReadableClasses
from knowledge.documents import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One search for a reply.

    Attributes:
        analysis: What kind of question it is, as of the moment it was put.
        audience: Whom it is for, for the trace.
        statuses: Of the pages searched; empty = as the query says.
        any_time: Search former versions too.
        watcher: Follows it; None = nobody does.
        memory: What was said before, fenced for a model.
    """

    query: SearchQuery
    analysis: QuestionAnalysis
    access: ReadableClasses
    steps: TraceSteps
    audience: str
    statuses: frozenset[Status] = frozenset()
    any_time: bool = False
    watcher: Watcher | None = None
    memory: str = ""

    @property
    def name(self) -> str:
        """Name the search in the trace."""
        if self.any_time:
            return f"{self.audience}, all versions"
        return f"{self.audience}, archived" if self.statuses else self.audience
