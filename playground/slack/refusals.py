"""How Slack refuses."""

from typing import Any


class SlackRefusalError(Exception):
    """A refusal with Slack's error code.

    Attributes:
        status: HTTP status; refusals of the Web API come with 200 all but when rate limited.
        details: Further keys of the reply.
    """

    def __init__(self, code: str, *, status: int = 200, **details: Any) -> None:  # noqa: ANN401
        super().__init__(code)
        self.code = code
        self.status = status
        self.details = details


def refuse_argument(message: str) -> SlackRefusalError:
    """Build the refusal of a missing or malformed argument."""
    return SlackRefusalError("invalid_arguments", response_metadata={"messages": [message]})
