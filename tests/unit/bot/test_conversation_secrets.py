"""Whatever an answer is made by, no credential and no destructive command leaves with it."""

import json
from collections.abc import AsyncIterator

import pytest

from bot.texts import get_texts
from bot.watching import Step
from core.messages import Outcome
from knowledge.readers import resolve_reader
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.office import OPS, Office, build_office, copy_office

EN, ZH = get_texts("en"), get_texts("zh")
WIFI, WIFI_QUESTION = "harbor-2291", "What is the password of the guest Wi-Fi?"
WIPE, WIPE_QUESTION = "rm -rf /", "How is a retired build server wiped?"
CONTACT = "the IT desk"
PAGES = {
    "ops/wifi.md": f"# Guest Wi-Fi\n\nThe password of the guest Wi-Fi is {WIFI}. "
    "It changes every month.\n",
    "ops/wipe.md": f"# Wiping a server\n\nA retired build server is wiped with `sudo {WIPE}` "
    "after its disk was copied.\n",
    "ops/lunch.md": "# Lunch\n\nLunch is served at noon on the ground floor.\n",
}


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Office:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZHIXING_EMBEDDER", "none")
        return build_office(tmp_path_factory.mktemp("secrets"), PAGES)


@pytest.fixture
def home(synced: Office, tmp_path_factory: pytest.TempPathFactory, words_only: None) -> Office:  # noqa: ARG001
    office = copy_office(synced, tmp_path_factory.mktemp("secrets-copy"))
    office.add_settings(f'[privacy]\nsecrets_contact = "{CONTACT}"')
    return office


class Watching:
    def __init__(self) -> None:
        self.shown = ""

    async def note(self, step: Step) -> None:
        pass

    async def show(self, text: str) -> None:
        self.shown += text


def use_model(office: Office, server: ChatServer, *, is_private: bool) -> None:
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "scripted"\n'
        f'api_key = "k"\ntimeout_s = 10\nprivate = {json.dumps(is_private)}\n'
    )


async def test_quotes_hide_a_password_and_say_whom_to_ask(home: Office) -> None:
    async with home.open() as product:
        reader = await resolve_reader(product.state.registry, as_=OPS)
        answer = await product.conversation.ask(WIFI_QUESTION, reader)
        trace = await product.state.traces.get(answer.trace_id)
    assert answer.outcome is Outcome.ANSWERED
    assert WIFI not in answer.text
    assert EN.hidden in answer.text
    assert EN.ask_for_hidden.format(contact=CONTACT) in answer.text
    assert "credential" in json.dumps(trace.payload)


async def test_a_command_that_destroys_is_hidden_though_a_page_documents_it(home: Office) -> None:
    async with home.open() as product:
        reader = await resolve_reader(product.state.registry, as_=OPS)
        answer = await product.conversation.ask(WIPE_QUESTION, reader)
    assert WIPE not in answer.text
    assert EN.hidden_command in answer.text
    assert EN.ask_before_command.format(contact=CONTACT) in answer.text


@pytest.mark.parametrize("is_private", [True, False])
async def test_a_written_answer_leaks_nothing_and_the_model_sees_no_secret(
    home: Office, server: ChatServer, *, is_private: bool
) -> None:
    use_model(home, server, is_private=is_private)
    server.respond = lambda _request: Script(
        text="The password of the guest Wi-Fi is <SECRET_1> [1]. It changes every month [1]."
    )
    watching = Watching()
    async with home.open() as product:
        reader = await resolve_reader(product.state.registry, as_=OPS)
        answer = await product.conversation.ask(WIFI_QUESTION, reader, watcher=watching)
    assert server.requests
    assert WIFI not in json.dumps(server.requests)
    assert "changes every month" in watching.shown
    for said in (watching.shown, answer.text):
        assert WIFI not in said
        assert EN.hidden in said


async def test_what_a_person_pastes_is_kept_in_neither_trace_nor_memory(home: Office) -> None:
    pasted = "Lunch at noon? My password: Tr0ub4dor&3"
    async with home.open() as product:
        reader = await resolve_reader(product.state.registry, as_=OPS)
        answer = await product.conversation.ask(pasted, reader, thread="t")
        trace = await product.state.traces.get(answer.trace_id)
        turns, _ = await product.conversation.parts.memory.list_own(reader)
    kept = json.dumps([trace.question, trace.payload, *(turn.question for turn in turns)])
    assert "Tr0ub4dor" not in kept
    assert "Lunch at noon?" in kept
