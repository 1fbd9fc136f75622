"""Settings of what skills reach: databases, HTTP services, ticket systems, and their secrets."""

from typing import Literal

from pydantic import Field, SecretStr

from core.settings_section import Section


class SkillSettings(Section):
    """Where skill files lie, and what they may use.

    Attributes:
        folder: Relative to the home folder.
        hosts: The only ones that skills of the kind `http` may ask, as `host` or `host:port`.
        private_hosts: Those of them that may lie in our own network.
        secret_variables: Environment variables that headers may use as `${NAME}`.
        secrets: Their values; loaded from the environment, not written here.
    """

    folder: str = "skills"
    hosts: tuple[str, ...] = ()
    private_hosts: tuple[str, ...] = ()
    secret_variables: tuple[str, ...] = ()
    secrets: dict[str, SecretStr] = Field(default_factory=dict)


class DatabaseSource(Section):
    """A database that skills read; nothing is ever written there.

    Attributes:
        url: An SQLAlchemy address; a path of SQLite is relative to the home folder.
        url_variable: The environment variable that holds it instead.
        timeout_s: Longest time of one statement, whatever skills say.
        max_connections: Statements under way at once.
    """

    url: SecretStr = SecretStr("")
    url_variable: str = ""
    timeout_s: float = Field(default=10.0, gt=0, le=300)
    max_connections: int = Field(default=4, ge=1, le=50)


class TrackerSettings(Section):
    """A ticket system.

    Attributes:
        kind: `jira`, or `webhook` for any other that takes a signed POST.
        url: Jira's address, without `/rest`; or the webhook's whole address.
        flavour: Of Jira.
        user: With Jira Cloud, the e-mail address the token belongs to; empty = a bearer token.
        token: Jira's token, or the secret a webhook's requests are signed with.
        token_variable: The environment variable that holds it instead.
        is_private: It lies in our own network.
    """

    kind: Literal["jira", "webhook"] = "jira"
    url: str
    flavour: Literal["cloud", "data_center"] = "cloud"
    user: str = ""
    token: SecretStr = SecretStr("")
    token_variable: str = ""
    is_private: bool = False
    timeout_s: float = Field(default=10.0, gt=0, le=25)
