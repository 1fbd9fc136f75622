"""The only place that picks concrete classes: from settings to a product that can be used.

What takes long to load is imported where it is chosen, so that commands that need none of it start
at once.
"""
# ruff: noqa: PLC0415

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from bot.agent.skills.guarded import build_mask
from bot.agent.skills.journal import AuditJournal
from bot.agent.skills.kinds import BUILDERS, list_built_in, list_secrets, open_skill_parts
from bot.agent.skills.skill_set import SkillSet
from bot.assembly import ConversationGround, build_conversation
from bot.conversation import Conversation
from bot.trace import TraceStore
from core.admin_settings import AdminSettings
from core.clock import Clock, SystemClock
from core.database import Database, open_database
from core.models import ChatModel
from core.settings import EmbeddingSettings, Settings, SourceSettings
from knowledge.access_registry import AccessRegistry
from knowledge.active_index import ActiveIndex
from knowledge.analysis import Analyser
from knowledge.directory import Directory
from knowledge.embedding import Embedder
from knowledge.embedding.bundled import BundledEmbedder
from knowledge.embedding.cache import CachedEmbedder, VectorCache
from knowledge.embedding.none import NoEmbedder
from knowledge.embedding.sentence_transformers import load_sentence_transformer
from knowledge.ingest_batch import IngestParts
from knowledge.ledger import Ledger
from knowledge.ledger_writer import LedgerWriter
from knowledge.memberships import Memberships, Opened
from knowledge.readers import Reader, resolve_reader
from knowledge.retrieval.pipeline import Retriever
from knowledge.retrieval.rerank import CrossEncoderReranker, Reranker
from knowledge.retrieval.titles import TitleCatalogue
from knowledge.run_logs import RunLogs
from knowledge.source import Source
from knowledge.stores import IndexShape, PassageStore
from knowledge.sync_lock import SyncLock
from knowledge.term_statistics import TermIndex
from knowledge.word_files import load_analyser

if TYPE_CHECKING:
    from admin.serving import AdminPages


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What needs the database alone."""

    settings: Settings
    clock: Clock
    database: Database
    directory: Directory
    registry: AccessRegistry
    ledger: Ledger
    traces: TraceStore
    active_index: ActiveIndex
    logs: RunLogs


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Everything, ready for use."""

    state: State
    analyser: Analyser
    embedder: Embedder
    shape: IndexShape
    store: PassageStore
    retriever: Retriever
    conversation: Conversation
    ingest_parts: IngestParts
    sync_lock: SyncLock
    model: ChatModel | None
    memberships: Memberships
    skills: SkillSet

    async def resolve_reader(self, *, as_: str | None = None, in_: str | None = None) -> Reader:
        """Turn `--as` and `--in` into rights, members of groups confirmed (`readers`)."""
        return await resolve_reader(
            self.state.registry, as_=as_, in_=in_, memberships=self.memberships
        )


@asynccontextmanager
async def open_state(settings: Settings, clock: Clock) -> AsyncIterator[State]:
    """Open the database; everything is closed at the end of the block.

    Raises:
        SettingsError: The home folder or the database can't be used.
    """
    settings.home.mkdir(parents=True, exist_ok=True)
    database = await open_database(settings.database_url)
    directory = Directory(
        database, contractors_are_members=settings.directory.contractors_are_members
    )
    try:
        yield State(
            settings=settings,
            clock=clock,
            database=database,
            directory=directory,
            registry=AccessRegistry(database, directory),
            ledger=Ledger(database),
            traces=TraceStore(database),
            active_index=ActiveIndex(database),
            logs=RunLogs.of(database),
        )
    finally:
        await database.close()


@asynccontextmanager
async def open_product(
    settings: Settings, clock: Clock, *, embedder: Embedder | None = None
) -> AsyncIterator[Product]:
    """Open state, index and models; everything is closed at the end of the block.

    Args:
        settings: All of them.
        clock: What time it is.
        embedder: One that is already open, used as it is and left open; None = as settings say.

    Raises:
        SettingsError: A setting has to be mended.
    """
    async with AsyncExitStack() as stack:
        state = await stack.enter_async_context(open_state(settings, clock))
        analyser = load_analyser(settings.analysis, folder=settings.home)
        if embedder is None:
            embedder = await open_embedder(settings)
            stack.push_async_callback(embedder.close)
        shape = IndexShape(
            embedder=embedder.name, dimension=embedder.dimension, analysis=analyser.fingerprint
        )
        store = await open_store(settings, shape)
        stack.push_async_callback(store.close)
        model = open_chat_model(settings, clock)
        light_model = open_light_model(settings, clock) or model
        for opened in {model, light_model}:
            if opened is not None:
                stack.push_async_callback(opened.close)
        memberships = build_memberships(state)
        stack.push_async_callback(memberships.close)
        retriever = Retriever(
            store=store,
            ledger=state.ledger,
            term_index=TermIndex(state.database),
            titles=TitleCatalogue(state.ledger),
            analyser=analyser,
            embedder=embedder,
            reranker=open_reranker(settings),
            settings=settings.retrieval,
            rerank_settings=settings.rerank,
        )
        ingest_parts = IngestParts(
            ledger=state.ledger,
            writer=LedgerWriter(state.database),
            registry=state.registry,
            store=store,
            embedder=embedder,
            analyser=analyser,
            chunks=settings.chunks,
            ingest=settings.ingest,
            clock=clock,
        )
        skills = await stack.enter_async_context(open_skills(state))
        conversation = build_conversation(
            ConversationGround(
                settings=settings,
                clock=clock,
                database=state.database,
                directory=state.directory,
                registry=state.registry,
                ledger=state.ledger,
                traces=state.traces,
                analyser=analyser,
                embedder=embedder,
                store=store,
                retriever=retriever,
                model=model,
                light_model=light_model,
                skills=skills,
            )
        )
        stack.push_async_callback(conversation.parts.memory.close)
        stack.push_async_callback(conversation.parts.router.close)
        yield Product(
            state=state,
            analyser=analyser,
            embedder=embedder,
            shape=shape,
            store=store,
            retriever=retriever,
            conversation=conversation,
            ingest_parts=ingest_parts,
            sync_lock=SyncLock(
                state.database,
                ingest_parts,
                home=settings.home,
                ttl_s=settings.scheduler.lease_s,
            ),
            model=model,
            memberships=memberships,
            skills=skills,
        )


def open_admin_pages(
    product: Product, settings: AdminSettings
) -> "AbstractAsyncContextManager[AdminPages]":
    """Mount the pages for whoever operates the product: the one place that looks upwards."""
    from admin.serving import open_pages

    return open_pages(product, settings)


@asynccontextmanager
async def open_skills(state: State) -> AsyncIterator[SkillSet]:
    """Read the skill files of a home folder; its databases and services are not asked yet.

    Raises:
        SettingsError: What skills stand on is not set as it should be.
    """
    settings = state.settings
    async with open_skill_parts(settings, SystemClock()) as parts:
        skills = SkillSet(
            settings.home / settings.skills.folder,
            parts,
            BUILDERS,
            journal=AuditJournal(state.database, settings.home, SystemClock()),
            built_in=list_built_in(settings),
            mask=build_mask(list_secrets(settings)),
        )
        await skills.refresh()
        yield skills


async def open_store(settings: Settings, shape: IndexShape) -> PassageStore:
    """Open the index of a shape."""
    from knowledge.stores.lancedb import open_lancedb_store

    return await open_lancedb_store(settings.store_path, shape)


async def open_embedder(settings: Settings, *, is_cached: bool = True) -> Embedder:
    """Pick the embedder, with the persistent cache around it where it saves work."""
    chosen = settings.embedding
    if chosen.kind == "none":
        return NoEmbedder()
    embedder = await _pick_embedder(chosen)
    if not is_cached:
        return embedder
    return CachedEmbedder(embedder, VectorCache(settings.home / "vectors.sqlite3"))


async def _pick_embedder(chosen: EmbeddingSettings) -> Embedder:
    match chosen.kind:
        case "sentence_transformers":
            return await load_sentence_transformer(
                chosen.model,
                query_prefix=chosen.query_prefix,
                passage_prefix=chosen.passage_prefix,
            )
        case "openai_compatible":
            from knowledge.embedding.openai_compatible import connect_openai_compatible

            return await connect_openai_compatible(
                base_url=chosen.base_url,
                model=chosen.model,
                api_key=chosen.api_key.get_secret_value(),
                dimension=chosen.dimension,
                query_prefix=chosen.query_prefix,
                passage_prefix=chosen.passage_prefix,
                timeout_s=chosen.timeout_s,
            )
        case _:
            return BundledEmbedder(threads=chosen.threads)


def open_reranker(settings: Settings) -> Reranker | None:
    """Load the cross-encoder that is configured, if one is."""
    return CrossEncoderReranker(settings.rerank.model) if settings.rerank.model else None


def open_chat_model(settings: Settings, clock: Clock) -> ChatModel | None:
    """Connect the chat model that is configured, if one is."""
    if not settings.models.chat_model:
        return None
    from core.models.openai_compatible import OpenAiCompatibleModel

    return OpenAiCompatibleModel(settings.models, clock=clock)


def open_light_model(settings: Settings, clock: Clock) -> ChatModel | None:
    """Connect the model for short texts; None where the chat model writes them, or none is."""
    models = settings.models
    if not (models.chat_model and models.light_model):
        return None
    return open_chat_model(
        settings.model_copy(
            update={"models": models.model_copy(update={"chat_model": models.light_model})}
        ),
        clock,
    )


def open_source(name: str, settings: SourceSettings, state: State) -> Source:
    """Open a source by the kind its settings name, with the people of the directory."""
    from connectors import registry

    return registry.open_source(
        name,
        settings,
        clock=state.clock,
        load_directory=state.directory.load,
        ingest=state.settings.ingest,
    )


def build_memberships(state: State) -> Memberships:
    """Have members confirmed by the sources that have groups of their own."""
    from connectors import registry

    sources: dict[str, Callable[[], Opened]] = {}
    for name, settings in state.settings.sources.items():
        group_source = registry.find_group_source(name, settings)
        if group_source is not None:
            # Sources of one site may share its groups; any of them can be asked.
            sources.setdefault(group_source, partial(open_source, name, settings, state))
    if state.settings.slack.is_configured:
        sources["slack"] = partial(_open_user_groups, state)
    return Memberships(
        state.directory, clock=state.clock, settings=state.settings.directory, sources=sources
    )


def _open_user_groups(state: State) -> Opened:
    # Slack's own packages take long to load and few commands need them.
    from bot.handlers.slack.user_groups import ConnectedUserGroups

    return ConnectedUserGroups(state.settings.slack, state.directory.load)
