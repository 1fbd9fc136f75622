from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from bot.rag.claims import KnownNames
from bot.rag.grounding import GroundingGate
from bot.rag.personal_data import SensitiveFinder
from bot.rag.placeholders import Placeholders
from bot.rag.writer import Writer, describe_sources
from bot.rag.written import WrittenAnswer, build_messages, write_answer
from core.errors import ServiceUnavailableError
from core.models.openai_compatible import OpenAiCompatibleModel
from core.settings import ModelSettings
from knowledge.retrieval import Evidence
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.fakes.evidence import ANALYSER, build_evidence

LEAVE = build_evidence(
    "Employees have 15 days of annual leave. Up to 5 days may be carried over. Su Mu "
    "(su.mu@corp.example) approves exceptions.",
    title="Leave policy",
)
TRAVEL = build_evidence("The hotel limit is 600 yuan a night.", title="Travel policy")


class Screen:
    """Keeps what was shown, piece by piece."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def __call__(self, text: str) -> None:
        self.pieces.append(text)


async def no_wait(_seconds: float) -> None:
    """Retries need not wait here."""


@asynccontextmanager
async def connect(
    server: ChatServer, *, is_private: bool = False
) -> AsyncIterator[OpenAiCompatibleModel]:
    model = OpenAiCompatibleModel(
        ModelSettings(
            base_url=server.base_url,
            api_key=SecretStr("k"),
            chat_model="scripted",
            private=is_private,
        ),
        sleep=no_wait,
    )
    try:
        yield model
    finally:
        await model.close()


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


async def write(
    server: ChatServer, evidence: Sequence[Evidence] = (LEAVE, TRAVEL), screen: Screen | None = None
) -> WrittenAnswer:
    placeholders = Placeholders(SensitiveFinder(["Su Mu"]))
    names = KnownNames([("Su Mu",)])
    gate = GroundingGate(describe_sources(evidence), ANALYSER, names)
    messages = build_messages("How much leave?", evidence, "en", placeholders)
    async with connect(server) as model:
        return await write_answer(model, messages, gate, placeholders, max_tokens=99, show=screen)


async def test_a_written_answer_is_shown_sentence_by_sentence(server: ChatServer) -> None:
    server.enqueue(
        Script(
            pieces=[
                "Employees have 15 ",
                "days of annual leave. [1] Up to",
                " 5 days may be carried over. [1]",
                "\n\nThe hotel limit is 600 yuan. [2]",
            ]
        )
    )
    screen = Screen()
    written = await write(server, screen=screen)
    assert written.text == (
        "Employees have 15 days of annual leave. [1] Up to 5 days may be carried over. [1]\n\n"
        "The hotel limit is 600 yuan. [2]"
    )
    assert "".join(screen.pieces) == written.text
    assert len(screen.pieces) == 3
    assert written.cited == (0, 1)


async def test_what_does_not_hold_is_never_shown(server: ChatServer) -> None:
    server.enqueue(
        Script(text="Employees have 15 days of annual leave. [1] They get 99 days of sun. [1]")
    )
    screen = Screen()
    written = await write(server, screen=screen)
    assert written.text == "Employees have 15 days of annual leave. [1]"
    assert "99" not in "".join(screen.pieces)
    assert len(written.removed) == 1


async def test_an_answer_of_which_nothing_holds_is_empty(server: ChatServer) -> None:
    server.enqueue(Script(text="Employees have 30 days of annual leave. [1]"))
    written = await write(server)
    assert written.text == ""
    assert not written.said_not_found


@pytest.mark.parametrize("text", ["NOT_FOUND", "NOT_FOUND.", "`NOT_FOUND`", " NOT_FOUND\n"])
async def test_a_model_that_sees_no_answer_is_believed(server: ChatServer, text: str) -> None:
    server.enqueue(Script(pieces=[text[:4], text[4:]]))
    screen = Screen()
    written = await write(server, screen=screen)
    assert written.said_not_found
    assert screen.pieces == []


async def test_code_is_judged_whole(server: ChatServer) -> None:
    evidence = build_evidence("Run this:\n\n```\nleave book\n\nleave send\n```\n")
    server.enqueue(Script(pieces=["Run this:\n\n```\nleave book\n", "\nleave send\n```\n\n[1]"]))
    written = await write(server, [evidence])
    assert written.text == "Run this:\n\n```\nleave book\n\nleave send\n```\n\n[1]"


async def test_no_personal_data_reaches_the_endpoint_and_all_comes_back(server: ChatServer) -> None:
    server.enqueue(Script(pieces=["Exceptions are approved by <PER", "SON_1> (<EMAIL_1>). [1]"]))
    written = await write(server)
    sent = "\n".join(message["content"] for message in server.requests[0]["messages"])
    assert "Su Mu" not in sent
    assert "su.mu@corp.example" not in sent
    assert written.text == "Exceptions are approved by Su Mu (su.mu@corp.example). [1]"


async def test_the_request_tells_rules_from_references(server: ChatServer) -> None:
    await write(server)
    system, user = server.requests[0]["messages"]
    assert system["role"] == "system"
    assert "never instructions" in system["content"]
    assert "Answer in English" in system["content"]
    assert "Leave policy" in user["content"]
    assert user["content"].endswith("Question: How much leave?")


async def test_a_stream_that_breaks_off_is_an_error(server: ChatServer) -> None:
    server.enqueue(Script(pieces=["Employees have 15 days ", "of leave. [1]"], breaks_after=1))
    with pytest.raises(ServiceUnavailableError):
        await write(server)


async def test_a_prompt_that_is_too_long_is_sent_again_shorter(server: ChatServer) -> None:
    error = {"message": "too long", "code": "context_length_exceeded"}
    server.enqueue(
        Script(status=400, error=error), Script(text="The hotel limit is 600 yuan a night. [1]")
    )
    long = build_evidence("The hotel limit is 600 yuan a night. " * 400, title="Travel")
    async with connect(server) as model:
        writer = Writer(model, max_tokens=99)
        written = await writer.write("Hotel limit?", [long], "en", ANALYSER, ())
    assert written is not None
    assert written.text == "The hotel limit is 600 yuan a night. [1]"
    first, second = (len(request["messages"][1]["content"]) for request in server.requests)
    assert second < first


async def test_a_model_that_fails_gives_nothing(server: ChatServer) -> None:
    server.respond = lambda _request: Script(status=500)
    async with connect(server) as model:
        written = await Writer(model, max_tokens=99).write("Leave?", [LEAVE], "en", ANALYSER, ())
    assert written is None


async def test_a_private_endpoint_gets_the_text_as_it_is(server: ChatServer) -> None:
    server.enqueue(Script(text="Su Mu approves exceptions. [1]"))
    async with connect(server, is_private=True) as model:
        writer = Writer(model, max_tokens=99, never_to_leave=["HR"])
        assert writer.may_see([LEAVE, TRAVEL]) == [LEAVE, TRAVEL]
        await writer.write("Who?", [LEAVE], "en", ANALYSER, (("Su Mu",),))
    assert "su.mu@corp.example" in server.requests[0]["messages"][1]["content"]


async def test_spaces_that_must_stay_are_kept_from_the_endpoint(server: ChatServer) -> None:
    secret = build_evidence("The plan is secret.", title="Plan", space="Board")
    async with connect(server) as model:
        writer = Writer(model, max_tokens=99, never_to_leave=["Board"])
        assert writer.may_see([LEAVE, secret]) == [LEAVE]
        assert writer.may_see([secret, LEAVE]) == []
        assert Writer(model, max_tokens=99, never_to_leave=["wiki"]).may_see([LEAVE]) == []
