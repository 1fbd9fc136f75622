"""Settings of the sources, one section a kind."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, SecretStr, Tag

from core.settings_section import Section


class FilesSettings(Section):
    """A folder of files as a source.

    Attributes:
        space: Name shown as the department; empty = the name of the first folder below the root.
        include, exclude: Glob patterns relative to the root; one without a slash counts at any
            depth, and what excludes a folder excludes everything in it.
        max_file_mb: Larger files are refused with a reason; so are archives that would unpack to
            more than ten times this.
        max_pages, max_ocr_pages, max_table_rows: Pages of a PDF, scanned pages of a PDF and rows
            of a sheet that are read; what is beyond is left out with a note.
        timeout_s: Longest wait for a parser to get on by one page or sheet; then it is killed.
        ocr: Read scanned pages and pictures, when the extra `ocr` is installed.
    """

    kind: Literal["files"] = "files"
    path: str
    space: str = ""
    include: tuple[str, ...] = ("**/*",)
    exclude: tuple[str, ...] = ()
    max_file_mb: float = Field(default=50.0, gt=0)
    max_pages: int = Field(default=2000, ge=1)
    max_ocr_pages: int = Field(default=200, ge=0)
    max_table_rows: int = Field(default=5000, ge=1)
    timeout_s: float = Field(default=120.0, gt=0)
    ocr: bool = True


class NotionSettings(Section):
    """A Notion workspace as a source, read through an internal integration.

    Attributes:
        token: The integration's secret. Rather in the environment: in the variable that
            `token_variable` names, or in NOTION_TOKEN.
        roots: Ids of the pages or databases to read, with all below them; empty = everything that
            is shared with the integration.
        access_file: Who may read what; without it nobody may read anything.
        comments: Read unresolved comments too.
        files: Read the text of files that Notion hosts, up to `max_file_mb`.
        keep_history: Keep what pages said before, for questions about earlier states.
        reconcile_hours: How often everything is listed, and not only what search knows to be new.
        verify_days: How often every page is read again, whatever its moment of editing says.
        max_table_rows: Rows shown on the page of a database; every row has a page of its own too.
        max_calls_per_s: Notion allows about 3 on average; 0 = no limit of our own.
        webhook_token: What Notion signs its webhooks with; empty = not yet known.
    """

    kind: Literal["notion"] = "notion"
    token: SecretStr = SecretStr("")
    token_variable: str = ""
    base_url: str = "https://api.notion.com"
    api_version: Literal["2022-06-28", "2025-09-03"] = "2025-09-03"
    roots: tuple[str, ...] = ()
    access_file: str = ""
    comments: bool = False
    files: bool = True
    keep_history: bool = False
    reconcile_hours: float = Field(default=24.0, gt=0)
    verify_days: float = Field(default=7.0, gt=0)
    max_table_rows: int = Field(default=1000, ge=1)
    max_file_mb: float = Field(default=20.0, gt=0)
    max_calls_per_s: float = Field(default=3.0, ge=0)
    timeout_s: float = Field(default=60.0, gt=0)
    webhook_token: SecretStr = SecretStr("")


class ServiceSettings(Section):
    """How a remote source is asked.

    Attributes:
        timeout_s: One attempt of one call.
        max_concurrent: Calls under way at once.
        max_calls_per_s: 0 = no limit of our own; the service's limits are always kept.
    """

    timeout_s: float = Field(default=30.0, gt=0)
    max_concurrent: int = Field(default=4, ge=1, le=64)
    max_calls_per_s: float = Field(default=0.0, ge=0)


class ConfluenceSettings(Section):
    """A Confluence site as a source.

    Attributes:
        url: Address of the site; on Cloud with `/wiki`.
        flavour: `cloud`, or `data_center` for Server and Data Center.
        email: On Cloud the account whose API token it is; empty = the token is a bearer token.
        token: API token (Cloud) or personal access token (Data Center). Rather in the environment
            variable that `token_variable` names.
        spaces: Keys of the spaces to read; empty = every global space the account can see.
        comments, attachments, blog_posts: Whether they are read too.
        versions: Versions read back of each page, the current one included; 1 = none.
        versions_checked: Most pages of each space whose list of versions is looked at in a full
            listing, for versions that were removed there; 0 = none. All pages have their turn.
        overlap_hours: How far an incremental run looks back behind the last one.
        time_zone: Zone the site reads times of a search in, such as `Asia/Shanghai`; empty = not
            known, the run then looks back 12 hours more.
        full_every_hours: An incremental run lists everything when that was so long ago.
        rights_every_page: Spaces with at most so many documents have the rights of every page read
            by every rights run. Of larger ones those pages are read that others stand below or
            that have readers of their own, with all below where something has changed; the rest
            with the listing of everything (`full_every_hours`).
        identity_system: System whose native ids in the directory are Confluence accounts.
        group_source: SOURCE of `group:SOURCE/ID` in rules; empty = this source's own name, with
            members from the site; `company` = the groups of the imported directory.
        anonymous_is_members: Let members read what the site shows without logging in.
        space_readers: Principals by space key, where the account can't read a space's permissions.
        max_file_mb: Larger attachments are left out with a note.
    """

    kind: Literal["confluence"]
    url: str
    flavour: Literal["cloud", "data_center"] = "cloud"
    email: str = ""
    token: SecretStr = SecretStr("")
    token_variable: str = ""
    spaces: tuple[str, ...] = ()
    comments: bool = False
    attachments: bool = True
    blog_posts: bool = True
    versions: int = Field(default=10, ge=1, le=200)
    versions_checked: int = Field(default=100, ge=0)
    overlap_hours: float = Field(default=24.0, ge=1)
    time_zone: str = ""
    full_every_hours: float = Field(default=24.0, gt=0)
    rights_every_page: int = Field(default=20_000, ge=0)
    identity_system: str = "confluence"
    group_source: str = ""
    anonymous_is_members: bool = True
    space_readers: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    max_file_mb: float = Field(default=50.0, gt=0)
    service: ServiceSettings = ServiceSettings()


def _get_source_kind(value: object) -> str:
    """Return which kind of source a table or section describes; folders need not say it."""
    kind = value.get("kind", "files") if isinstance(value, Mapping) else getattr(value, "kind", "")
    return str(kind)


SourceSettings = Annotated[
    Annotated[FilesSettings, Tag("files")]
    | Annotated[ConfluenceSettings, Tag("confluence")]
    | Annotated[NotionSettings, Tag("notion")],
    Discriminator(_get_source_kind),
]
"""The settings of one source, by its `kind`."""
