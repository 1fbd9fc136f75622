"""Projects, issues and comments as the stand-in keeps them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.clock import Clock, SystemClock

PRIORITIES = ("Highest", "High", "Medium", "Low", "Lowest")
STATUSES = ("To Do", "In Progress", "Done")


@dataclass(slots=True, kw_only=True)
class Project:
    """A project and the types its issues may have."""

    key: str
    name: str
    issue_types: tuple[str, ...] = ("Task", "Bug", "Service Request")
    last_number: int = 0


@dataclass(slots=True, kw_only=True)
class Comment:
    """What somebody wrote below an issue."""

    comment_id: str
    body: str
    author: str
    created: datetime


@dataclass(slots=True, kw_only=True)
class Issue:
    """An issue.

    Attributes:
        unseen_searches: So many more searches do not know of it yet, as on Cloud.
    """

    issue_id: str
    key: str
    project: str
    issue_type: str
    summary: str
    description: str
    priority: str
    labels: list[str]
    reporter: str
    created: datetime
    updated: datetime
    status: str = "To Do"
    comments: list[Comment] = field(default_factory=list)
    unseen_searches: int = 0


class Board:
    """Everything there is."""

    def __init__(self, projects: Sequence[Project], *, clock: Clock | None = None) -> None:
        self.projects = {one.key: one for one in projects}
        self.issues: dict[str, Issue] = {}
        self._clock = clock or SystemClock()
        self._last_id = 10_000

    def create(
        self,
        project: Project,
        *,
        issue_type: str,
        summary: str,
        description: str,
        priority: str,
        labels: Sequence[str],
        reporter: str,
    ) -> Issue:
        """Make an issue with the project's next number."""
        project.last_number += 1
        now = self._clock.now()
        issue = Issue(
            issue_id=self._new_id(),
            key=f"{project.key}-{project.last_number}",
            project=project.key,
            issue_type=issue_type,
            summary=summary,
            description=description,
            priority=priority,
            labels=list(labels),
            reporter=reporter,
            created=now,
            updated=now,
        )
        self.issues[issue.key] = issue
        return issue

    def comment(self, issue: Issue, body: str, *, author: str) -> Comment:
        """Comment on an issue."""
        now = self._clock.now()
        comment = Comment(comment_id=self._new_id(), body=body, author=author, created=now)
        issue.comments.append(comment)
        issue.updated = now
        return comment

    def move(self, issue: Issue, status: str) -> None:
        """Put an issue into another column."""
        issue.status = status
        issue.updated = self._clock.now()

    def _new_id(self) -> str:
        self._last_id += 1
        return str(self._last_id)
