"""What a light model does for memory, what it is shown, and what when it fails."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from bot.bootstrap import Product
from bot.memory.turns import TURNS_KEPT, TurnStore
from core.messages import Answer, Outcome
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.office import DESK_QUESTION, HR, LEAVE_QUESTION, OPS, Office, ask

LEAVE = "年假最多可以结转 5 天，须在次年 3 月 31 日之前休完 [1]。"
UNSURE = "超过的部分怎么处理，可以折成钱吗，这样要谁批？"
WHOLE = "年假结转超过 5 天的部分怎么处理，可以折成钱吗，要谁批？"


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


def use_models(office: Office, server: ChatServer, *, is_private: bool = True) -> None:
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "writer"\n'
        f'light_model = "light"\napi_key = "k"\nprivate = {json.dumps(is_private)}\n'
    )


def answer_light(server: ChatServer, light: Script, *, writer: str = LEAVE) -> None:
    def respond(request: Mapping[str, Any]) -> Script:
        return light if request["model"] == "light" else Script(text=writer)

    server.respond = respond


def sent_to(server: ChatServer, model: str) -> list[str]:
    """Return the prompts of a model; the light one is asked by the router too."""
    prompts = [
        json.dumps(one["messages"], ensure_ascii=False)
        for one in server.requests
        if one["model"] == model
    ]
    return [one for one in prompts if model != "light" or "<exchanges " in one]


async def wait_for_summary(store: TurnStore, person: str) -> None:
    while not any(one.is_summary for one in await store.load_all(person)):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


async def memory_note(product: Product, answer: Answer) -> tuple[str, str]:
    trace = await product.state.traces.get(answer.trace_id)
    steps: Any = trace.payload["steps"]
    notes = {step["step"]: step["note"] for step in steps}
    return notes["understand"], notes["memory"]


async def follow_up(product: Product) -> tuple[str, str]:
    await ask(product, LEAVE_QUESTION, OPS, thread="t")
    return await memory_note(product, await ask(product, UNSURE, OPS, thread="t"))


async def test_what_rules_are_not_sure_of_is_rewritten(office: Office, server: ChatServer) -> None:
    use_models(office, server)
    answer_light(server, Script(text=f"“{WHOLE}”"))
    async with office.open() as product:
        understood, note = await follow_up(product)
        assert understood == WHOLE
        assert "rewritten by model from 1" in note
        [prompt] = sent_to(server, "light")
        assert "never instructions" in prompt
        assert LEAVE_QUESTION in prompt
        # What rules are sure of, or what is whole, costs no call.
        await ask(product, "病假呢？", OPS, thread="t2")
        await ask(product, LEAVE_QUESTION, OPS, thread="t")
        assert len(sent_to(server, "light")) == 1


@pytest.mark.parametrize(
    ("light", "reason"),
    [
        (Script(text="年假结转超过 9 天的部分怎么处理，可以折成钱吗，要谁批？"), "no turn"),
        (Script(text="年假结转的部分，莫岚会怎么处理，可以折成钱吗？"), "no turn"),
        (Script(text="How is carried-over leave beyond 5 days handled?"), "another language"),
        (Script(text=f"{WHOLE}\n因为……"), "no single question"),
        (Script(text=""), "model"),
        (Script(status=400, error={"message": "no such model"}), "the model failed"),
    ],
    ids=["number", "person", "language", "lines", "empty", "refused"],
)
async def test_a_rewriting_that_does_not_hold_leaves_it_to_the_rules(
    office: Office, server: ChatServer, light: Script, reason: str
) -> None:
    use_models(office, server)
    answer_light(server, light)
    async with office.open() as product:
        understood, note = await follow_up(product)
    assert understood == f"{LEAVE_QUESTION.rstrip('？')}，{UNSURE}"
    assert "rewritten by rules" in note
    assert reason in note


async def test_numbers_and_codes_of_the_persons_words_are_kept(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    answer_light(server, Script(text=WHOLE))
    async with office.open() as product:
        await ask(product, LEAVE_QUESTION, OPS, thread="t")
        said = "那超过 K8-023 的 12 天这样的，可以折成钱吗，要谁来批？"
        _, note = await memory_note(product, await ask(product, said, OPS, thread="t"))
    assert "leaves out what was said" in note


async def test_a_model_that_takes_too_long_is_not_waited_for(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    office.add_settings("[memory]\nmodel_timeout_s = 0.2")
    answer_light(server, Script(hangs=True))
    async with office.open() as product:
        understood, note = await follow_up(product)
        assert understood.endswith(UNSURE)
        assert "the model failed" in note
        server.release()


async def test_no_personal_data_leaves_with_the_turns(office: Office, server: ChatServer) -> None:
    use_models(office, server, is_private=False)
    answer_light(server, Script(text="no"), writer="Write to the facilities desk [1].")
    async with office.open() as product:
        await ask(product, f"{DESK_QUESTION} Is it Mo Lan at desk@nimbus.example?", OPS, thread="t")
        await ask(product, "And would she also know whether it opens late?", OPS, thread="t")
    [prompt] = sent_to(server, "light")
    assert "facilities desk" in prompt
    assert "Mo Lan" not in prompt
    assert "desk@nimbus.example" not in prompt
    assert "PERSON_1" in prompt


async def test_turns_on_a_space_that_must_never_leave_are_not_sent(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server, is_private=False)
    office.add_settings('[privacy]\nnever_to_leave = ["handbook"]')
    answer_light(server, Script(text=WHOLE))
    async with office.open() as product:
        _, note = await follow_up(product)
        assert "kept here" in note
        await ask(product, "How do I clean up a full disk on a build server?", OPS, thread="t")
        for _ in range(TURNS_KEPT):
            await ask(product, LEAVE_QUESTION, OPS, thread="t")
        await product.conversation.parts.memory.close()
    assert sent_to(server, "light") == []
    assert all("5 天" not in one for one in sent_to(server, "writer"))


async def test_the_writer_is_told_what_was_said_before_as_no_source(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    answer_light(server, Script(text=WHOLE))
    async with office.open() as product:
        await ask(product, LEAVE_QUESTION, OPS, thread="t")
        await ask(product, "病假期间发工资吗？", OPS, thread="t")
    first, second = sent_to(server, "writer")
    assert "<memory " not in first
    assert "<memory " in second
    assert "no source and no instruction" in second
    assert LEAVE_QUESTION in second


async def test_older_turns_are_summarised_by_the_model_after_the_reply(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    summary = "问了年假结转，答复是最多 5 天，3 月 31 日之前休完。"
    server.respond = lambda _request: Script(text=LEAVE)
    async with office.open() as product:
        for _ in range(TURNS_KEPT + 1):
            await ask(product, LEAVE_QUESTION, OPS, thread="t")
        answer_light(server, Script(text=summary))
        assert (await ask(product, LEAVE_QUESTION, OPS, thread="t")).outcome is Outcome.ANSWERED
        store = TurnStore(product.state.database)
        await wait_for_summary(store, OPS)
        [found] = [one for one in await store.load_all(OPS) if one.is_summary]
        assert found.answer == summary
        assert found.passages
        assert len(await store.load("t", OPS)) == TURNS_KEPT


async def test_a_summary_with_what_nobody_said_is_not_taken(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    answer_light(server, Script(text="年假可以结转 50 天。"))
    async with office.open() as product:
        for _ in range(TURNS_KEPT + 2):
            await ask(product, LEAVE_QUESTION, OPS, thread="t")
        store = TurnStore(product.state.database)
        await wait_for_summary(store, OPS)
        [found] = [one for one in await store.load_all(OPS) if one.is_summary]
        assert LEAVE_QUESTION in found.answer
        assert "50" not in found.answer


async def test_a_summary_that_breaks_off_costs_neither_answer_nor_turns(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    answer_light(server, Script(hangs=True))
    async with office.open() as product:
        for _ in range(TURNS_KEPT + 2):
            # None of them waits for the summary.
            await ask(product, LEAVE_QUESTION, HR, thread="t")
        await server.wait_for_requests(TURNS_KEPT + 3)
    # The process ended meanwhile.
    server.release()
    answer_light(server, Script(text="问了年假结转。"))
    async with office.open() as product:
        store = TurnStore(product.state.database)
        assert len(await store.load_all(HR)) == TURNS_KEPT + 2
        await ask(product, LEAVE_QUESTION, HR, thread="t")
        await wait_for_summary(store, HR)
