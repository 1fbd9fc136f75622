"""What a new issue may say, and everything that is wrong with it at once, as the API tells it."""

from typing import Any

from playground.jira.board import PRIORITIES, Board, Project

Json = dict[str, Any]

LONGEST_TEXT = 32_767
_LONGEST_SUMMARY = 255
_LONGEST_LABEL = 255
_KNOWN = frozenset({"project", "issuetype", "summary", "description", "priority", "labels"})


class JiraError(Exception):
    """A refusal in the API's own form."""

    def __init__(self, status: int, *messages: str, **errors: str) -> None:
        super().__init__(", ".join(messages) or str(errors))
        self.status = status
        self.body = {"errorMessages": list(messages), "errors": errors}


def check_fields(board: Board, fields: Json) -> Json:
    """Return what an issue is made of.

    Raises:
        JiraError: 400, with what is wrong by field.
    """
    errors: dict[str, str] = {}
    project = _find_project(board, fields, errors)
    checked: Json = {
        "project": project,
        "issue_type": _check_type(project, fields, errors),
        "summary": _check_summary(fields, errors),
        "description": _check_description(fields, errors),
        "priority": _read_name(fields["priority"]) if "priority" in fields else "Medium",
        "labels": _check_labels(fields, errors),
    }
    if checked["priority"] not in PRIORITIES:
        errors["priority"] = "The priority selected is invalid."
    for name in sorted(fields.keys() - _KNOWN):
        errors[name] = (
            f"Field '{name}' cannot be set. It is not on the appropriate screen, or unknown."
        )
    if errors:
        raise JiraError(400, **errors)
    return checked


def _find_project(board: Board, fields: Json, errors: dict[str, str]) -> Project | None:
    given = fields.get("project")
    key = given.get("key") if isinstance(given, dict) else None
    if not key:
        errors["project"] = "Specify a valid project ID or key"
        return None
    project = board.projects.get(str(key))
    if project is None:
        errors["project"] = "valid project is required"
    return project


def _check_type(project: Project | None, fields: Json, errors: dict[str, str]) -> str:
    name = _read_name(fields.get("issuetype"))
    if not name:
        errors["issuetype"] = "Specify an issue type"
    elif project is not None and name not in project.issue_types:
        errors["issuetype"] = "The issue type selected is invalid."
    return name


def _check_summary(fields: Json, errors: dict[str, str]) -> str:
    summary = fields.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        errors["summary"] = "You must specify a summary of the issue."
        return ""
    if len(summary) > _LONGEST_SUMMARY:
        errors["summary"] = f"Summary must be less than {_LONGEST_SUMMARY} characters."
    elif "\n" in summary:
        errors["summary"] = "The summary is invalid because it contains newline characters."
    return summary


def _check_description(fields: Json, errors: dict[str, str]) -> str:
    description = fields.get("description", "")
    if not isinstance(description, str):
        errors["description"] = "Operation value must be a string"
        return ""
    if len(description) > LONGEST_TEXT:
        errors["description"] = f"The entered text is too long: {LONGEST_TEXT} allowed."
    return description


def _check_labels(fields: Json, errors: dict[str, str]) -> list[str]:
    labels = fields.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(one, str) for one in labels):
        errors["labels"] = "data was not an array"
        return []
    for label in labels:
        if " " in label or len(label) > _LONGEST_LABEL:
            errors["labels"] = f"The label '{label}' contains spaces which is invalid."
    return labels


def _read_name(value: object) -> str:
    return str(value.get("name", "")) if isinstance(value, dict) else ""
