"""Settings of the pages for whoever operates the product, and who may look at them."""

from pydantic import Field, SecretStr

from core.settings_section import Section


class ViewerSettings(Section):
    """Somebody who may look at the pages.

    Attributes:
        token_variable: The environment variable that holds their token.
        person: An id of the directory, an e-mail or `system:id`; passages are shown under this
            person's rights. Empty = the operator of the command line, who reads every page.
        is_operator: Sees that others asked, when and how it went, and how the sources stand; not
            what they asked. Always so without a person.
    """

    token_variable: str
    token: SecretStr = SecretStr("")
    person: str = ""
    is_operator: bool = False


class AdminSettings(Section):
    """Pages in the browser (docs/admin.md).

    Attributes:
        is_served: Whether a process of the role `all` serves them.
        host: The address they are served at; another than this machine's own needs `hosts`.
        port: 0 = a free one.
        hosts: Names they may be asked for by, besides those of this machine itself.
        is_behind_https: Browsers reach them by HTTPS only, through a proxy.
        break_glass: Operators may open what others asked; each time is told in the audit log.
        session_s: How long a browser is let in for by one token.
        viewers: By any name.
    """

    is_served: bool = True
    host: str = "127.0.0.1"
    port: int = Field(default=8765, ge=0, le=65_535)
    hosts: tuple[str, ...] = ()
    is_behind_https: bool = False
    break_glass: bool = False
    session_s: float = Field(default=28_800.0, gt=0)
    viewers: dict[str, ViewerSettings] = Field(default_factory=dict)
