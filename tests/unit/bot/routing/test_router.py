"""The router as a whole: rules, examples, a light model on a real socket, and what fails."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import pytest
from pydantic import SecretStr

from bot.rag.personal_data import SensitiveFinder
from bot.rag.placeholders import Placeholders
from bot.routing import Route, Routing
from bot.routing.light_model import LightRouter, build_messages
from bot.routing.router import ExampleRouter
from bot.trace_steps import TraceSteps
from core.errors import ServiceUnavailableError
from core.models.openai_compatible import OpenAiCompatibleModel
from core.settings import ModelSettings
from knowledge.embedding import Vectors
from knowledge.embedding.none import NoEmbedder
from knowledge.embedding.token_estimate import estimate_tokens
from tests.fakes.chat_server import ChatServer, Script, run_chat_server

MAIL = "m.okafor@nimbus.example"
UNSURE = Routing(
    route=Route.MULTI_HOP, reason="unsure", confidence=0.4, by="examples", is_sure=False
)


class _DownEmbedder(NoEmbedder):
    """An endpoint that answers nobody."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def dimension(self) -> int:
        return 4

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        raise ServiceUnavailableError(f"no vectors of {len(texts)} texts")

    async def embed_query(self, text: str) -> Vectors:
        self.count += 1
        raise ServiceUnavailableError(f"no vector of {len(text)} characters")


class _ClassEmbedder(NoEmbedder):
    """Has vectors of examples that say nothing at all."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def dimension(self) -> int:
        return 4

    async def embed_query(self, text: str) -> Vectors:  # noqa: ARG002
        self.count += 1
        return np.full(4, 0.5, np.float32)


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


@asynccontextmanager
async def _open_light(server: ChatServer, *, timeout_s: float = 10.0) -> AsyncIterator[LightRouter]:
    settings = ModelSettings(
        base_url=server.base_url, api_key=SecretStr("k"), chat_model="small", prompt_price=1e6
    )
    model = OpenAiCompatibleModel(settings)

    async def build_placeholders() -> Placeholders:
        return Placeholders(SensitiveFinder(["Lin Mo"]))

    try:
        yield LightRouter(model, build_placeholders, timeout_s=timeout_s)
    finally:
        await model.close()


async def test_a_command_is_known_without_any_example() -> None:
    routing = await ExampleRouter(_DownEmbedder(), examples=()).route(
        "帮我提一个工单，空调坏了", leans_on_earlier=False
    )
    assert (routing.route, routing.by) == (Route.ACTION, "rules")


async def test_without_vectors_words_decide() -> None:
    for embedder in (NoEmbedder(), _DownEmbedder()):
        router = ExampleRouter(embedder)
        routing = await router.route("How do I apply for parental leave?", leans_on_earlier=False)
        assert routing.route is Route.FAQ
        await router.close()


async def test_an_endpoint_that_is_down_is_not_asked_for_all_examples_at_every_question() -> None:
    embedder = _DownEmbedder()
    router = ExampleRouter(embedder)
    await router.judge("one")
    first = embedder.count
    await router.judge("two")
    assert embedder.count == first
    await router.close()


async def test_examples_are_embedded_once() -> None:
    embedder = _ClassEmbedder()
    router = ExampleRouter(embedder)
    await asyncio.gather(*(router.judge(f"question {number}") for number in range(5)))
    first = embedder.count
    await router.judge("another question")
    assert embedder.count == first + 1
    await router.close()


async def test_what_an_earlier_turn_explains_is_not_too_vague() -> None:
    router = ExampleRouter(NoEmbedder())
    alone = await router.judge("那个怎么弄")
    assert max(alone, key=lambda route: alone[route]) is Route.CLARIFY
    routing = await router.route("那个怎么弄", leans_on_earlier=True)
    assert routing.route is not Route.CLARIFY


@pytest.mark.parametrize("text", ["哈哈 K8-023", "haha, 0x80F3 made my day", "《春天》写得真好"])
async def test_whatever_names_something_is_searched(text: str) -> None:
    routing = await ExampleRouter(NoEmbedder()).route(text, leans_on_earlier=False)
    assert routing.route.needs_search


async def test_a_sure_choice_costs_nothing(server: ChatServer) -> None:
    async with _open_light(server) as light:
        sure = Routing(route=Route.FAQ, reason="clear", confidence=0.9, by="examples")
        settled = await ExampleRouter(NoEmbedder(), light).settle(sure, "年假几天", TraceSteps())
    assert settled is sure
    assert server.requests == []


async def test_an_unsure_choice_is_the_light_models(server: ChatServer) -> None:
    server.enqueue(Script(text="faq"))
    steps = TraceSteps()
    async with _open_light(server) as light:
        settled = await ExampleRouter(NoEmbedder(), light).settle(UNSURE, "谁管账", steps)
    assert (settled.route, settled.by, settled.is_sure) == (Route.FAQ, "model", True)
    assert re.search(r"faq; 11\+7 tokens, cost \d", json.dumps(steps.to_json()))


@pytest.mark.parametrize(
    "script",
    [
        Script(text="I can't tell."),
        Script(text="faq or multi_hop"),
        Script(status=400, error={"message": "no", "type": "invalid_request_error"}),
        Script(hangs=True),
    ],
    ids=["no route", "two routes", "refused", "hangs"],
)
async def test_a_failing_light_model_leaves_the_choice_to_the_examples(
    server: ChatServer, script: Script
) -> None:
    server.enqueue(script)
    async with _open_light(server, timeout_s=0.5) as light:
        settled = await ExampleRouter(NoEmbedder(), light).settle(UNSURE, "谁管账", TraceSteps())
    assert settled is UNSURE
    server.release()


async def test_a_light_model_cannot_make_small_talk_of_a_plain_question(
    server: ChatServer,
) -> None:
    server.enqueue(Script(text="chitchat"))
    question = "What is the refund deadline for online orders?"
    async with _open_light(server) as light:
        router = ExampleRouter(NoEmbedder(), light)
        chances = await router.judge(question)
        assert chances[Route.CHITCHAT] < 0.1
        settled = await router.settle(UNSURE, question, TraceSteps())
    assert settled.route is Route.MULTI_HOP


async def test_nothing_personal_reaches_the_light_model(server: ChatServer) -> None:
    server.enqueue(Script(text="faq"))
    # The address lies where a long message is cut.
    question = f"{'问' * 109} {MAIL} ，Lin Mo {'问' * 200}"
    async with _open_light(server) as light:
        await light.choose(question)
    sent = json.dumps(server.requests, ensure_ascii=False)
    assert "Lin Mo" not in sent
    assert "okafor" not in sent


def test_the_prompt_stays_short_whatever_is_asked() -> None:
    for text in ("问" * 5_000, "ask " * 5_000):
        prompt = "\n".join(one.content for one in build_messages(text))
        assert estimate_tokens(prompt) < 300
