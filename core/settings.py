"""Settings: zhixing.toml in the home folder, overlaid by the environment.

The only reader of the environment. Sections are frozen and refuse unknown keys; each part of the
product gets its own section.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, ValidationError, field_validator

from core.admin_settings import AdminSettings
from core.chat_settings import SlackSettings
from core.errors import SettingsError
from core.settings_section import Section
from core.settings_variables import overlay_variables
from core.skill_settings import DatabaseSource, SkillSettings, TrackerSettings
from core.source_settings import ConfluenceSettings, FilesSettings, SourceSettings

__all__ = ["ConfluenceSettings", "FilesSettings", "Section", "SourceSettings"]

SETTINGS_FILE = "zhixing.toml"
DEFAULT_HOME = ".zhixing"


class DatabaseSettings(Section):
    """Where state lives. Empty = SQLite in the home folder."""

    url: SecretStr = SecretStr("")


class LoggingSettings(Section):
    """What is logged, and how."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    json_lines: bool = False


class ModelSettings(Section):
    """An OpenAI-compatible chat endpoint; without `chat_model` answers are quoted, not written.

    Attributes:
        light_model: A smaller one at the same endpoint, for short texts that nobody reads:
            rewritten follow-ups, summaries of older turns and the way of a message that is not
            clear; empty = the chat model.
        prompt_price, completion_price: Of a million tokens read and written, in any currency; for
            the cost of questions in traces.
    """

    base_url: str = "https://api.openai.com/v1"
    api_key: SecretStr = SecretStr("")
    chat_model: str = ""
    light_model: str = ""
    private: bool = False
    timeout_s: float = Field(default=60.0, gt=0)
    max_concurrent: int = Field(default=8, ge=1)
    max_answer_tokens: int = Field(default=700, ge=50)
    prompt_price: float = Field(default=0.0, ge=0)
    completion_price: float = Field(default=0.0, ge=0)


class EmbeddingSettings(Section):
    """Which embedder reads passages and questions.

    `query_prefix` and `passage_prefix` are what the model expects in front of a text.
    """

    kind: Literal["bundled", "none", "sentence_transformers", "openai_compatible"] = "bundled"
    model: str = ""
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    dimension: int = Field(default=0, ge=0)
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int = Field(default=0, ge=0)
    timeout_s: float = Field(default=60.0, gt=0)


class RerankSettings(Section):
    """A sentence-transformers cross-encoder by name or path; empty = no reranking."""

    model: str = ""
    candidates: int = Field(default=30, ge=1, le=200)


class StoreSettings(Section):
    """Where passages live; empty = LanceDB in the home folder."""

    path: str = ""


class AnalysisSettings(Section):
    """Files with the company's own words.

    synonyms: one group of equal terms a line, separated by commas. dictionary: one word a line.
    weights: `term weight` a line.
    """

    synonyms: tuple[str, ...] = ()
    dictionary: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()


class ChunkSettings(Section):
    """Sizes in tokens of the embedder, heading chain included."""

    passage_tokens: int = Field(default=220, ge=32, le=512)
    section_tokens: int = Field(default=1200, ge=64)
    overlap_share: float = Field(default=0.15, ge=0, le=0.5)


class RetrievalSettings(Section):
    """Which stages run and how wide; the defaults are measured (docs/retrieval.md)."""

    recall_terms: int = Field(default=30, ge=0, le=500)
    recall_vector: int = Field(default=30, ge=0, le=500)
    recall_foreign: int = Field(default=30, ge=0, le=500)
    candidates: int = Field(default=70, ge=1, le=500)
    fusion: Literal["score", "rrf"] = "score"
    rescore: bool = True
    two_levels: bool = True
    across_languages: bool = True
    named_pages: bool = True
    metadata: bool = True
    sufficiency: bool = True
    limit: int = Field(default=5, ge=1, le=50)


class IngestSettings(Section):
    """How much is done at once, which versions are kept, and when a deletion is not believed.

    `versions_kept` counts the version in force; `versions_days` is how long one that was replaced
    is kept, 0 = as long as the number allows.
    """

    batch_documents: int = Field(default=64, ge=1)
    concurrent_fetches: int = Field(default=4, ge=1)
    versions_kept: int = Field(default=10, ge=1)
    versions_days: int = Field(default=0, ge=0)
    hold_min_documents: int = Field(default=5, ge=1)
    hold_share: float = Field(default=0.2, gt=0, le=1)


class BaseSettings(Section):
    """A knowledge base: scopes or whole sources that are searched together as `@name`."""

    include: tuple[str, ...]


class PrivacySettings(Section):
    """What may leave for model endpoints that are not private, and who gives out secrets."""

    never_to_leave: tuple[str, ...] = ()
    """Spaces and sources whose text is never sent to such an endpoint."""
    secrets_contact: str = ""
    """Whom answers name where a password or a destructive command is hidden: a person, a team, an
    address; empty = the owner of the page."""


class RouterSettings(Section):
    """How the way of a message is chosen (docs/router.md).

    Attributes:
        asks_model: Whether a model is asked where the labelled examples are not sure.
        timeout_s: How long its choice is waited for; then the examples decide.
    """

    asks_model: bool = True
    timeout_s: float = Field(default=4.0, gt=0)


class AgentSettings(Section):
    """What working a question through in several steps may take; needs a chat model.

    Attributes:
        steps: Rounds of looking things up, the first search included.
        time_s: For all of it, the answer included.
        tokens: Read and written by the model, for all steps before the answer.
        prompt_tokens: One prompt at most, roughly; small local models want about 1,200.
    """

    steps: int = Field(default=5, ge=1, le=20)
    time_s: float = Field(default=90.0, gt=0)
    tokens: int = Field(default=30_000, ge=500)
    prompt_tokens: int = Field(default=3_000, ge=600)


class MemorySettings(Section):
    """What the bot remembers of conversations (docs/memory.md).

    Attributes:
        days: For how long.
        model_timeout_s: For a follow-up that a model rewrites, and for a summary; then rules do.
    """

    days: float = Field(default=30.0, gt=0)
    model_timeout_s: float = Field(default=10.0, gt=0)


class MailSettings(Section):
    """The SMTP server that confirmed e-mails go out through; empty host = none.

    Attributes:
        sender: The address they come from.
        security: `starttls` by default; `tls` from the start; `none` only on this machine.
        allowed_domains: Where e-mails may go, such as `company.example` or `*.company.example`;
            empty = anywhere, and addresses outside of the company are marked on the draft.
    """

    host: str = ""
    port: int = Field(default=587, ge=1, le=65_535)
    sender: str = ""
    user: str = ""
    password: SecretStr = SecretStr("")
    security: Literal["starttls", "tls", "none"] = "starttls"
    timeout_s: float = Field(default=20.0, gt=0)
    allowed_domains: tuple[str, ...] = ()

    @property
    def is_configured(self) -> bool:
        """Tell whether e-mails can go out at all."""
        return bool(self.host and self.sender)


class ActionsSettings(Section):
    """Confirming what is to be done (docs/actions.md).

    Attributes:
        lifetime_s: For how long a draft can be confirmed.
        run_timeout_s: After that long nobody knows what became of it.
        expiry_s: How often drafts that nobody confirmed are looked for.
        deciders: By skill, who confirms instead of the asker: `user:ID`, `group:SOURCE/ID`.
    """

    lifetime_s: float = Field(default=1_800.0, gt=0)
    run_timeout_s: float = Field(default=30.0, gt=0)
    expiry_s: float = Field(default=60.0, gt=0)
    deciders: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class DirectorySettings(Section):
    """Who counts as a member, and for how long members of a source's own groups are believed.

    Attributes:
        time_zone: The company's, such as `Asia/Shanghai`, which "this month" is told in; empty =
            this machine's.
        groups_fresh_s: Groups of the asker that were confirmed longer ago are asked for again
            before the answer.
        groups_hold_s: When the source does not answer, the last known members count for so long;
            then nobody counts as one.
        groups_timeout_s: How long a question waits for the source.
    """

    contractors_are_members: bool = True
    time_zone: str = ""
    groups_fresh_s: float = Field(default=60.0, gt=0)
    groups_hold_s: float = Field(default=900.0, gt=0)
    groups_timeout_s: float = Field(default=5.0, gt=0)

    @field_validator("time_zone")
    @classmethod
    def _check_zone(cls, name: str) -> str:
        try:
            if name:
                ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"{name!r} is no time zone; write one like Asia/Shanghai") from error
        return name


class JobIntervals(Section):
    """Seconds between two runs of a source's jobs; 0 = only when a person asks for one."""

    incremental_s: float = Field(default=300.0, ge=0)
    reconciliation_s: float = Field(default=86_400.0, ge=0)
    rights_s: float = Field(default=900.0, ge=0)
    pruning_s: float = Field(default=86_400.0, ge=0)


class SchedulerSettings(JobIntervals):
    """When the jobs of every source run, in the process that `zhixing serve` leads.

    Attributes:
        jitter_share: By this share of its interval a job is moved, so that sources take turns.
        busy_retry_s: When a job that found its source in use tries again.
        lease_s: A process that does not renew its leases for this long is replaced.
        poll_s: How often the leader looks for what was asked for on the command line.
        stop_timeout_s: How long a run may go on after the process was told to stop.
        history_days: How long runs are remembered.
        sources: Other intervals for single sources, by name.
    """

    jitter_share: float = Field(default=0.1, ge=0, le=0.5)
    busy_retry_s: float = Field(default=30.0, gt=0)
    lease_s: float = Field(default=30.0, gt=0)
    poll_s: float = Field(default=2.0, gt=0)
    stop_timeout_s: float = Field(default=30.0, ge=0)
    history_days: int = Field(default=90, ge=1)
    sources: dict[str, JobIntervals] = Field(default_factory=dict)


class Settings(Section):
    """All sections, and the home folder everything lives in."""

    home: Path
    database: DatabaseSettings = DatabaseSettings()
    logging: LoggingSettings = LoggingSettings()
    models: ModelSettings = ModelSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    store: StoreSettings = StoreSettings()
    analysis: AnalysisSettings = AnalysisSettings()
    chunks: ChunkSettings = ChunkSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    ingest: IngestSettings = IngestSettings()
    sources: dict[str, SourceSettings] = Field(default_factory=dict)
    bases: dict[str, BaseSettings] = Field(default_factory=dict)
    privacy: PrivacySettings = PrivacySettings()
    directory: DirectorySettings = DirectorySettings()
    router: RouterSettings = RouterSettings()
    agent: AgentSettings = AgentSettings()
    memory: MemorySettings = MemorySettings()
    mail: MailSettings = MailSettings()
    actions: ActionsSettings = ActionsSettings()
    scheduler: SchedulerSettings = SchedulerSettings()
    slack: SlackSettings = SlackSettings()
    skills: SkillSettings = SkillSettings()
    admin: AdminSettings = AdminSettings()
    databases: dict[str, DatabaseSource] = Field(default_factory=dict)
    trackers: dict[str, TrackerSettings] = Field(default_factory=dict)

    @property
    def database_url(self) -> str:
        """The database's SQLAlchemy URL."""
        return self.database.url.get_secret_value() or (f"sqlite:///{self.home / 'state.sqlite3'}")

    @property
    def store_path(self) -> Path:
        """The folder of the embedded passage store."""
        return Path(self.store.path) if self.store.path else self.home / "passages"


def load_settings(home: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Read zhixing.toml in the home folder, when there, and overlay the environment.

    Raises:
        SettingsError: A file that is not TOML, an unknown key or variable, or a value out of range.
    """
    variables = os.environ if environment is None else environment
    values = _load_file(home / SETTINGS_FILE)
    overlay_variables(values, variables)
    try:
        return Settings.model_validate({**values, "home": home})
    except ValidationError as error:
        raise SettingsError(_describe(error, home / SETTINGS_FILE)) from error


def _load_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{str(path)!r} is not valid TOML: {error}") from error
    except OSError as error:
        raise SettingsError(f"{str(path)!r} can't be read: {error.strerror}") from error


def _describe(error: ValidationError, path: Path) -> str:
    lines = []
    for detail in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in detail["loc"])
        lines.append(f"{place or 'settings'}: {detail['msg']}")
    return f"settings are not valid ({str(path)!r} and the environment): " + "; ".join(lines)
