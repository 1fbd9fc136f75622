"""An agent over the small company, with a scripted model on a real socket."""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta, timezone
from typing import Any, ClassVar

from pydantic import JsonValue

from bot.agent.actions import Parameters
from bot.agent.agent import Agent, AgentParts
from bot.agent.caller import Caller
from bot.agent.proposals import ProposableSkill
from bot.agent.toolbox.standard import build_toolbox
from bot.agent.tools import JsonSchema, Tool
from bot.assembly import build_people_loader, build_writer
from bot.bootstrap import Product, open_chat_model
from bot.conversation import Conversation
from bot.routing import Route, Routing
from bot.trace_steps import TraceSteps
from core.errors import PermanentError
from core.messages import Answer
from core.settings import AgentSettings
from knowledge.people import DirectorySnapshot
from knowledge.readers import resolve_reader
from tests.fakes.chat_server import ChatServer, Script
from tests.unit.bot.office import Office

SHANGHAI = timezone(timedelta(hours=8))


class SendNote:
    """A write skill that must never run."""

    name = "send_email"
    description = "Draft an e-mail."
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {
            "to": {"type": "array", "items": {"type": "string"}},
            "subject": {"type": "string"},
            "body": {"type": "string"},
        },
        "required": ["to", "subject", "body"],
        "additionalProperties": False,
    }

    def is_offered_to(self, caller: Caller) -> bool:
        """Offer it to people the directory knows."""
        return caller.person is not None

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Refuse an empty subject."""
        if not parameters["subject"]:
            raise PermanentError("an e-mail needs a subject")
        return dict(parameters)


@dataclass(slots=True)
class Bench:
    """An agent in a conversation, with what it was sent."""

    product: Product
    server: ChatServer
    conversation: Conversation
    statuses: list[str] = field(default_factory=list)

    async def ask(
        self, question: str, as_: str | None, *, in_: str | None = None, thread: str = ""
    ) -> Answer:
        """Ask through the conversation, as people do."""
        reader = await resolve_reader(self.product.state.registry, as_=as_, in_=in_)
        return await self.conversation.ask(question, reader, thread=thread)

    async def trace(self, answer: Answer) -> list[dict[str, Any]]:
        """Return the steps of an answer's trace."""
        trace = await self.product.state.traces.get(answer.trace_id)
        return json.loads(json.dumps(trace.payload["steps"]))  # type: ignore[no-any-return]

    @property
    def prompts(self) -> list[Mapping[str, Any]]:
        """The requests of the steps; those of the writer have no tools."""
        return [one for one in self.server.requests if "tools" in one]


@asynccontextmanager
async def open_bench(
    office: Office,
    server: ChatServer,
    *,
    settings: AgentSettings | None = None,
    tools: Sequence[Tool] = (),
    skills: Sequence[ProposableSkill] = (),
    may_write: Callable[[str], bool] = lambda _question: False,
    is_private: bool = True,
    timeout_s: float = 10.0,
) -> AsyncIterator[Bench]:
    """Open the office with an agent that every question goes to."""
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "scripted"\n'
        f"private = {json.dumps(is_private)}\ntimeout_s = {timeout_s}\n"
    )
    async with office.open() as product:
        state = product.state
        model = open_chat_model(state.settings, state.clock)
        writer = build_writer(state.settings, model)
        assert model is not None
        assert writer is not None

        async def load_directory() -> DirectorySnapshot:
            return (await state.registry.readership()).directory

        toolbox = build_toolbox(
            retriever=product.retriever,
            store=product.store,
            ledger=state.ledger,
            analyser=product.analyser,
            bases={},
        )
        agent = Agent(
            AgentParts(
                model=model,
                writer=writer,
                analyser=product.analyser,
                settings=settings or AgentSettings(),
                load_people=build_people_loader(state.registry),
                load_directory=load_directory,
                load_tools=lambda: (*toolbox, *tools),
                load_skills=lambda: skills,
                may_write=may_write,
                clock=state.clock,
                time_zone=SHANGHAI,
            )
        )
        parts = replace(
            product.conversation.parts,
            agent=agent,
            # Nothing is worked out before the model is asked.
            planner=None,
            router=SteppedRouter(),
        )
        try:
            yield Bench(product=product, server=server, conversation=Conversation(parts))
        finally:
            await model.close()


class SteppedRouter:
    """Has everything worked through in steps."""

    async def route(self, question: str, *, leans_on_earlier: bool) -> Routing:  # noqa: ARG002
        """Of every question."""
        return Routing(route=Route.MULTI_HOP, reason="a test of the agent")

    async def settle(
        self,
        routing: Routing,
        question: str,  # noqa: ARG002
        steps: TraceSteps,  # noqa: ARG002
    ) -> Routing:
        """As it was chosen."""
        return routing

    def start(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to stop."""


def call(name: str, **arguments: Any) -> tuple[str, str]:
    """Write a tool call as models do."""
    return name, json.dumps(arguments, ensure_ascii=False)


def calling(*calls: tuple[str, str]) -> Script:
    """Reply with tool calls."""
    return Script(calls=calls)
