"""Bootstrap's part for conversations: answers, the planner and the agent, put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from bot.agent.agent import Agent, AgentParts
from bot.agent.caller import Caller, build_caller
from bot.agent.planning.drafting import EmailDrafter
from bot.agent.planning.planner import Planner
from bot.agent.planning.reminding import Reminders
from bot.agent.planning.requests import asks_for_action
from bot.agent.planning.ticket_draft import TicketDrafter
from bot.agent.records.from_skills import SkillRecords
from bot.agent.skills.skill_set import SkillSet
from bot.agent.toolbox.standard import build_toolbox
from bot.answer_filter import AnswerFilter
from bot.conversation import Conversation, ConversationParts
from bot.memory.forgetting import Forgetting
from bot.memory.memory_model import Leaving, MemoryModel
from bot.memory.recollection import Recollection
from bot.memory.rewriting import Rewriter
from bot.memory.session import SessionMemory
from bot.memory.summarising import Summariser
from bot.memory.turns import TurnStore
from bot.rag.answerer import Answerer
from bot.rag.placeholders import Placeholders
from bot.rag.quote_selection import Similarity
from bot.rag.writer import LoadPeople, People, Writer
from bot.routing.light_model import LightRouter
from bot.routing.router import ExampleRouter
from bot.search_query import build_filter, parse_search
from bot.trace import TraceStore
from core.clock import Clock
from core.database import Database
from core.models import ChatModel
from core.settings import Settings
from knowledge.access import ReadableClasses
from knowledge.access_registry import AccessRegistry
from knowledge.analysis import Analyser
from knowledge.directory import Directory
from knowledge.documents import DocumentId
from knowledge.embedding import Embedder
from knowledge.ledger import Ledger
from knowledge.people import DirectorySnapshot
from knowledge.readers import Reader
from knowledge.retrieval import Retrieval
from knowledge.retrieval.pipeline import Retriever
from knowledge.stores import PassageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationGround:
    """What conversations stand on.

    Attributes:
        model: Writes answers; None = they are quoted.
        light_model: Rewrites follow-ups and summarises turns; None where `model` is.
    """

    settings: Settings
    clock: Clock
    database: Database
    directory: Directory
    registry: AccessRegistry
    ledger: Ledger
    traces: TraceStore
    analyser: Analyser
    embedder: Embedder
    store: PassageStore
    retriever: Retriever
    model: ChatModel | None
    light_model: ChatModel | None
    skills: SkillSet


def build_conversation(ground: ConversationGround) -> Conversation:
    """Put a conversation together."""
    settings = ground.settings
    similarity = build_similarity(ground.embedder)
    writer = build_writer(settings, ground.model)
    load_people = build_people_loader(ground.registry)

    async def call_for(reader: Reader) -> Caller:
        return build_caller(reader, await ground.directory.load(), _tell_time(ground))

    return Conversation(
        ConversationParts(
            retriever=ground.retriever,
            answerer=Answerer(
                ground.analyser, similarity=similarity, writer=writer, load_people=load_people
            ),
            ledger=ground.ledger,
            store=ground.store,
            memory=_build_memory(ground, writer, load_people),
            traces=ground.traces,
            bases=settings.bases,
            clock=ground.clock,
            answer_filter=build_answer_filter(ground),
            planner=_build_planner(ground, similarity),
            build_caller=call_for,
            agent=_build_agent(ground, writer, load_people),
            router=build_router(settings, ground.embedder, ground.light_model, writer, load_people),
        )
    )


def build_answer_filter(ground: ConversationGround) -> AnswerFilter:
    """Filter every answer, with the owners of pages as the ledger knows them."""

    async def find_owner(document_id: DocumentId) -> str:
        record = await ground.ledger.find_document(document_id)
        return "" if record is None else record.author

    return AnswerFilter(find_owner, contact=ground.settings.privacy.secrets_contact)


def build_turn_store(settings: Settings, database: Database) -> TurnStore:
    """Open what is remembered, for as long as the settings say."""
    return TurnStore(database, kept_for=timedelta(days=settings.memory.days))


def _build_memory(
    ground: ConversationGround, writer: Writer | None, load_people: LoadPeople
) -> SessionMemory:
    settings, turns = ground.settings, build_turn_store(ground.settings, ground.database)
    light = ground.light_model
    is_here = light is None or light.is_private
    leaving = Leaving(ground.ledger, () if is_here else settings.privacy.never_to_leave)
    model = None
    if light is not None and writer is not None:
        model = MemoryModel(
            light,
            writer,
            ground.analyser,
            load_people,
            leaving,
            timeout_s=settings.memory.model_timeout_s,
        )
    summariser = Summariser(turns, model)
    return SessionMemory(
        Recollection(turns, ground.ledger, ground.clock, summariser),
        Rewriter(model),
        Forgetting(turns),
        leaving,
        prompt_tokens=settings.agent.prompt_tokens,
    )


def build_router(
    settings: Settings,
    embedder: Embedder,
    light: ChatModel | None,
    writer: Writer | None,
    load_people: LoadPeople,
) -> ExampleRouter:
    """Choose ways by rules and examples, and by a light model where there is one to ask."""
    if light is None or writer is None or not settings.router.asks_model:
        return ExampleRouter(embedder)

    async def build_placeholders() -> Placeholders:
        return writer.build_placeholders(await load_people())

    return ExampleRouter(
        embedder, LightRouter(light, build_placeholders, timeout_s=settings.router.timeout_s)
    )


def _build_planner(ground: ConversationGround, similarity: Similarity | None) -> Planner:
    async def search(words: str, access: ReadableClasses) -> Retrieval:
        query = build_filter(parse_search(words), access, ground.settings.bases)
        return await ground.retriever.search(words, query)

    return Planner(
        SkillRecords(ground.skills).load,
        EmailDrafter(search, ground.analyser),
        TicketDrafter(search, ground.analyser, similarity=similarity),
        Reminders(search),
    )


def _build_agent(
    ground: ConversationGround, writer: Writer | None, load_people: LoadPeople
) -> Agent | None:
    if ground.model is None or writer is None:
        return None
    toolbox = build_toolbox(
        retriever=ground.retriever,
        store=ground.store,
        ledger=ground.ledger,
        analyser=ground.analyser,
        bases=ground.settings.bases,
    )

    async def load_directory() -> DirectorySnapshot:
        return await ground.directory.load()

    return Agent(
        AgentParts(
            model=ground.model,
            writer=writer,
            analyser=ground.analyser,
            settings=ground.settings.agent,
            load_people=load_people,
            load_directory=load_directory,
            load_tools=lambda: (*toolbox, *ground.skills.list_tools()),
            load_skills=ground.skills.list_actions,
            may_write=asks_for_action,
            clock=ground.clock,
            time_zone=choose_zone(ground),
        )
    )


def choose_zone(ground: ConversationGround) -> tzinfo:
    """Return the company's time zone; this machine's where the settings name none."""
    name = ground.settings.directory.time_zone
    if name:
        return ZoneInfo(name)
    zone = datetime.now().astimezone().tzinfo
    if zone is None:
        raise RuntimeError("this machine tells no time zone")
    return zone


def _tell_time(ground: ConversationGround) -> datetime:
    return ground.clock.now().astimezone(choose_zone(ground))


def build_similarity(embedder: Embedder) -> Similarity | None:
    """Compare a question's meaning with that of sentences; None with words only."""
    if embedder.dimension == 0:
        return None

    async def compare(question: str, texts: Sequence[str]) -> list[float]:
        asked = await embedder.embed_query(question)
        return [float(score) for score in await embedder.embed_passages(texts) @ asked]

    return compare


def build_writer(settings: Settings, model: ChatModel | None) -> Writer | None:
    """Let the chat model write answers, when one is configured."""
    if model is None:
        return None
    return Writer(
        model,
        max_tokens=settings.models.max_answer_tokens,
        never_to_leave=settings.privacy.never_to_leave,
    )


def build_people_loader(registry: AccessRegistry) -> LoadPeople:
    """Read the names of the directory as it is now, each person with all spellings."""

    async def load() -> People:
        people = (await registry.readership()).directory.people.values()
        return tuple(
            tuple(name for name in (person.name, person.name_en) if name) for person in people
        )

    return load
