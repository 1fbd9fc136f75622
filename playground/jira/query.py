"""The part of JQL that the stand-in understands; everything else is refused, as by the real one."""

import re
from collections.abc import Callable

from playground.jira.board import Board, Issue

Condition = Callable[[Issue], bool]

_ORDER = re.compile(r"\s+ORDER\s+BY\s+(updated|created|key)(?:\s+(ASC|DESC))?\s*$", re.IGNORECASE)
_AND = re.compile(r'\s+AND\s+(?=(?:[^"]*"[^"]*")*[^"]*$)', re.IGNORECASE)
_TEXT = r'"((?:[^"\\]|\\.)*)"'
_EQUALS = re.compile(rf"\s*(labels|key|status)\s*=\s*{_TEXT}\s*", re.IGNORECASE)
_IN = re.compile(rf"\s*project\s+in\s*\(\s*({_TEXT}(?:\s*,\s*{_TEXT})*)\s*\)\s*", re.IGNORECASE)
_CONTAINS = re.compile(rf"\s*text\s*~\s*{_TEXT}\s*", re.IGNORECASE)


class QueryError(Exception):
    """The query is refused; the message is Jira's."""


def search(board: Board, jql: str) -> list[Issue]:
    """Return the issues a query finds, in its order.

    Raises:
        QueryError: It can't be read, finds everything, or names what is not there.
    """
    order = _ORDER.search(jql)
    text = jql[: order.start()] if order else jql
    if not text.strip():
        raise QueryError("Unbounded JQL queries are not allowed here.")
    conditions = [_read(board, part) for part in _AND.split(text)]
    found = [one for one in board.issues.values() if all(test(one) for test in conditions)]
    if order:
        name, is_down = order[1].lower(), (order[2] or "ASC").upper() == "DESC"
        found.sort(key=lambda one: (getattr(one, name), int(one.issue_id)), reverse=is_down)
    return [one for one in found if _is_known(one)]


def _is_known(issue: Issue) -> bool:
    if issue.unseen_searches > 0:
        issue.unseen_searches -= 1
        return False
    return True


def _read(board: Board, part: str) -> Condition:
    if match := _EQUALS.fullmatch(part):
        return _equals(board, match[1].lower(), _plain(match[2]))
    if match := _IN.fullmatch(part):
        keys = {_plain(one) for one in re.findall(_TEXT, match[1])}
        for key in keys - board.projects.keys():
            raise QueryError(f"The value '{key}' does not exist for the field 'project'.")
        return lambda issue: issue.project in keys
    if match := _CONTAINS.fullmatch(part):
        words = _plain(match[1]).lower().split()
        return lambda issue: all(word in _words_of(issue) for word in words)
    raise QueryError(f"Error in the JQL Query: '{part.strip()}' is not understood.")


def _equals(board: Board, name: str, value: str) -> Condition:
    match name:
        case "labels":
            return lambda issue: value in issue.labels
        case "key":
            if value not in board.issues:
                raise QueryError(f"An issue with key '{value}' does not exist for field 'key'.")
            return lambda issue: issue.key == value
        case _:
            return lambda issue: issue.status == value


def _words_of(issue: Issue) -> str:
    comments = " ".join(one.body for one in issue.comments)
    return f"{issue.summary} {issue.description} {comments}".lower()


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
