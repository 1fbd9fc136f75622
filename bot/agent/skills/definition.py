"""What a skill file may say. Each kind of skill is one model; unknown keys are mistakes."""

import re
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from bot.agent.skills.templates import find_names
from core.settings_section import Section
from knowledge.access import MEMBERS, Principal, is_principal

LONGEST_WRITE_S = 25.0
"""Confirmed actions are given up after half a minute; the skill must have ended before."""
BOUND_NAMES = frozenset({"asker", "asker_email", "asker_name", "today"})
"""What code fills in from whoever asks; no parameter can be called so."""
_NAME = r"^[a-z][a-z0-9_]{1,63}$"
_TABLE = r"^[^\W\d]\w*(\.[^\W\d]\w*)?$"
_COLUMN = r"^[^\W\d]\w*$"


def _check_principal(value: Principal) -> Principal:
    if not is_principal(value):
        raise ValueError(
            f"{value!r} is no principal; write public, members, group:SOURCE/ID or user:ID"
        )
    return value


Who = Annotated[Principal, AfterValidator(_check_principal)]
TableName = Annotated[str, Field(pattern=_TABLE)]
ColumnName = Annotated[str, Field(pattern=_COLUMN)]


class Words(Section):
    """A short text in both languages; one that is missing is said in the other."""

    zh: str = ""
    en: str = ""

    def say(self, *, is_chinese: bool, otherwise: str = "") -> str:
        """Return the text in a language, or in the other one."""
        return (self.zh or self.en if is_chinese else self.en or self.zh) or otherwise


class Examples(Section):
    """How people ask for it, in both languages."""

    zh: tuple[str, ...] = ()
    en: tuple[str, ...] = ()


class Items(Section):
    """What each entry of a list is."""

    type: Literal["string", "integer", "number"] = "string"
    enum: tuple[str | int | float, ...] = ()
    format: Literal["", "date", "email"] = ""


class Parameter(Section):
    """One thing to fill in: a subset of JSON Schema, and what people call it."""

    type: Literal["string", "integer", "number", "boolean", "array"] = "string"
    description: str = Field(min_length=1)
    title: Words = Words()
    enum: tuple[str | int | float, ...] = ()
    format: Literal["", "date", "date-time", "email"] = ""
    pattern: str = ""
    minimum: float | None = None
    maximum: float | None = None
    max_length: int = Field(default=4000, ge=1, le=100_000)
    items: Items = Items()
    required: bool = False
    default: JsonValue = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.required and self.default is not None:
            raise ValueError("a required parameter has no default; remove one of the two")
        if self.format and self.type != "string":
            raise ValueError("`format` is for texts; write `type: string`")
        try:
            re.compile(self.pattern)
        except re.error as error:
            raise ValueError(f"`pattern` is no regular expression: {error}") from error
        return self


class BaseSkill(Section):
    """What every skill says.

    Attributes:
        name: What models and actions call it.
        description: What it does and when to use it, for a model.
        title: What people call it.
        examples: How people ask for it; the router learns from them, help shows them.
        visible_to: Who may use it at all; for others it does not exist.
        confirm: Whether a person has to agree first; writes always need it.
        deciders: Who has to agree instead of the asker; the asker never counts as one of them.
        idempotent: The other side tells a second try by its key, so one may be made.
    """

    writes: ClassVar[bool] = False
    """Whether this kind changes something elsewhere."""

    name: str = Field(pattern=_NAME)
    description: str = Field(min_length=10, max_length=1000)
    title: Words
    examples: Examples = Examples()
    parameters: dict[Annotated[str, Field(pattern=_NAME)], Parameter] = Field(default_factory=dict)
    timeout_s: float = Field(default=20.0, gt=0, le=120)
    confirm: bool | None = None
    visible_to: tuple[Who, ...] = (MEMBERS,)
    deciders: tuple[Who, ...] = ()
    idempotent: bool = False

    @property
    def is_write(self) -> bool:
        """Whether it only ever makes an action that waits for a person."""
        return self.writes or bool(self.confirm)

    @property
    def templates(self) -> dict[str, str]:
        """What the other side's fields are made of, by field; the rest is taken as it is."""
        return {}

    @model_validator(mode="after")
    def _check_common(self) -> Self:
        if not (self.title.zh or self.title.en):
            raise ValueError("`title` needs a text under zh, en or both")
        if reserved := sorted(BOUND_NAMES & self.parameters.keys()):
            raise ValueError(
                f"the parameter {reserved[0]!r} is filled in by code; name it otherwise"
            )
        if self.is_write and self.confirm is False:
            raise ValueError("what writes is always confirmed; remove `confirm: false`")
        if self.deciders and not self.is_write:
            raise ValueError("`deciders` is for what is confirmed; reading needs no consent")
        if self.is_write and self.timeout_s > LONGEST_WRITE_S:
            raise ValueError(f"what writes has {LONGEST_WRITE_S:g} s at most; lower `timeout_s`")
        for field, template in self.templates.items():
            if field in self.parameters:
                raise ValueError(f"{field!r} is a parameter and a text as well; remove one of them")
            if unknown := find_names(template) - self.parameters.keys():
                raise ValueError(
                    f"the text of {field!r} uses {{{min(unknown)}}}, which is no parameter; add it "
                    "under `parameters`"
                )
        return self


class RowRights(Section):
    """Who sees which rows of a table; bound by code to whoever asks.

    Attributes:
        full: Who sees every row.
        own: The column that says whose a row is; others see their own rows. Empty = none.
        own_is: What that column holds: ids of the directory, or e-mail addresses.
        reports: Managers see the rows of those who report to them as well.
        via: The table that has the column `own`, when this one only refers to it.
        key: With `via`: this table's column that refers to it.
        via_key: With `via`: the column of the other table that `key` holds.
    """

    full: tuple[Who, ...] = ()
    own: ColumnName | Literal[""] = ""
    own_is: Literal["id", "email"] = "id"
    reports: bool = False
    via: TableName | Literal[""] = ""
    key: ColumnName | Literal[""] = ""
    via_key: ColumnName = "id"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.full and not self.own:
            raise ValueError("nobody would see a row; write `full`, `own` or both")
        if not self.own and (self.reports or self.via):
            raise ValueError("`reports` and `via` need the column `own`")
        return self


class ColumnWords(Section):
    """What people call a column, and what its figures are counted in."""

    labels: Examples = Examples()
    unit: str = ""


class SqlSkill(BaseSkill):
    """Reads a database: with a statement of its own, or any question to one table.

    Attributes:
        database: A section `[databases.NAME]` of the settings.
        query: One SELECT with `:parameters`; `:asker`, `:asker_email` and `:today` are filled in.
        table: Instead of `query`: the table that questions are asked of.
        columns: With `table`: more words for its columns.
        rows: Row rights of the one table that is read.
        rows_of: Row rights by table, when several are.
        max_rows: More are not returned.
    """

    kind: Literal["sql"]
    database: str = Field(min_length=1)
    query: str = ""
    table: TableName | Literal[""] = ""
    columns: dict[ColumnName, ColumnWords] = Field(default_factory=dict)
    rows: RowRights | None = None
    rows_of: dict[TableName, RowRights] = Field(default_factory=dict)
    max_rows: int = Field(default=100, ge=1, le=1000)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.query) == bool(self.table):
            raise ValueError("a skill of the kind sql has either `query` or `table`")
        if self.is_write:
            raise ValueError("a skill of the kind sql only reads; remove `confirm`")
        if self.rows and self.rows_of:
            raise ValueError("write `rows` for one table or `rows_of` for several, not both")
        if self.columns and not self.table:
            raise ValueError("`columns` belongs to `table`")
        return self


class HttpSkill(BaseSkill):
    """Asks a service over HTTP; everything but GET is a write.

    Attributes:
        url: Scheme and host as they are; `{parameters}` only in the path, percent-encoded.
        headers: May use `${SECRET}` of the settings.
        query: Added to the address, by name.
        body: JSON to send; a text that is one `{parameter}` takes its value as it is.
        select: Where in the reply the result lies, such as `data.items`.
        fields: What of each result is shown: what it is called, and where it lies.
        idempotency_header: Carries the key of an action.
        max_reply_kb: Larger replies are refused.
    """

    kind: Literal["http"]
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    url: str = Field(pattern=r"^https?://")
    headers: dict[str, str] = Field(default_factory=dict)
    query: dict[str, str] = Field(default_factory=dict)
    body: JsonValue = None
    select: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    idempotency_header: str = Field(default="Idempotency-Key", pattern=r"^[A-Za-z0-9-]+$")
    max_reply_kb: int = Field(default=1000, ge=1, le=20_000)

    @property
    def is_write(self) -> bool:
        """Whether it is anything but a GET without consent."""
        return self.method != "GET" or bool(self.confirm)

    @model_validator(mode="after")
    def _check(self) -> Self:
        used = find_names([self.url, self.query, self.body])
        unknown = used - self.parameters.keys() - BOUND_NAMES
        if unknown:
            raise ValueError(f"{{{min(unknown)}}} is no parameter; add it under `parameters`")
        if self.is_write and (bound := used & BOUND_NAMES):
            raise ValueError(
                f"{{{min(bound)}}} can't be used in what is confirmed, where people edit the values"
            )
        if self.method == "GET" and self.body is not None:
            raise ValueError("a GET has no `body`; use `query`")
        return self


class EmailSkillFile(BaseSkill):
    """Sends an e-mail through the server of `[mail]`.

    Attributes:
        to, cc, subject, body: Texts with `{parameters}`; one that is missing is a parameter.
        allowed_domains: Where it may go; empty = anywhere.
    """

    writes: ClassVar[bool] = True

    kind: Literal["email"]
    to: str = ""
    cc: str = ""
    subject: str = ""
    body: str = ""
    allowed_domains: tuple[str, ...] = ()

    @property
    def templates(self) -> dict[str, str]:
        """What is filled in."""
        fields = {"to": self.to, "cc": self.cc, "subject": self.subject, "body": self.body}
        return {name: template for name, template in fields.items() if template}


class Queue(Section):
    """Where the tickets of a queue go: a project of Jira and the type of its issues."""

    project: str = Field(min_length=1)
    issue_type: str = "Task"


class TicketSkillFile(BaseSkill):
    """Works with tickets: makes one, comments on one, or finds some.

    Attributes:
        tracker: A section `[trackers.NAME]` of the settings.
        queues: What people call them, and where they are.
        others: Where tickets of other queues go; the queue's name becomes a label there.
        priorities: What people call them, and what the system does.
        ticket_title, ticket_description, comment: Texts with `{parameters}`.
    """

    kind: Literal["ticket"]
    tracker: str = Field(min_length=1)
    action: Literal["create", "comment", "find"] = "create"
    queues: dict[str, Queue] = Field(default_factory=dict)
    others: Queue | None = None
    priorities: dict[str, str] = Field(default_factory=dict)
    ticket_title: str = ""
    ticket_description: str = ""
    comment: str = ""

    @property
    def all_queues(self) -> tuple[Queue, ...]:
        """Every place where tickets of this skill are."""
        return (*self.queues.values(), *([self.others] if self.others else []))

    @property
    def is_write(self) -> bool:
        """Whether it is more than a search."""
        return self.action != "find"

    @property
    def templates(self) -> dict[str, str]:
        """What is filled in."""
        fields = {
            "title": self.ticket_title,
            "description": self.ticket_description,
            "text": self.comment,
        }
        return {name: template for name, template in fields.items() if template}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.is_write and self.confirm:
            raise ValueError("finding a ticket writes nothing; remove `confirm`")
        if self.action != "comment" and not self.all_queues:
            raise ValueError("write under `queues` where tickets go: NAME: {project: KEY}")
        return self


class PythonSkill(BaseSkill):
    """Does what an installed package says under the entry-point group `zhixing.skills`.

    Attributes:
        entry: The entry point's name.
        writes_outside: It changes something, so it is confirmed.
    """

    kind: Literal["python"]
    entry: str = Field(min_length=1)
    writes_outside: bool = False

    @property
    def is_write(self) -> bool:
        """Whether it waits for a person."""
        return self.writes_outside or bool(self.confirm)


KINDS: dict[str, type[BaseSkill]] = {
    "sql": SqlSkill,
    "http": HttpSkill,
    "email": EmailSkillFile,
    "ticket": TicketSkillFile,
    "python": PythonSkill,
}
"""The models by what a file says under `kind`."""

AnySkill = Annotated[
    SqlSkill | HttpSkill | EmailSkillFile | TicketSkillFile | PythonSkill,
    Field(discriminator="kind"),
]
