"""Nothing that is remembered tells anybody what they may not read today."""

import json
from asyncio import to_thread
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from bot.bootstrap import Product
from bot.conversation import Conversation
from bot.memory.session import Understood
from bot.memory.turns import TurnStore
from bot.trace_view import HIDDEN, build_view
from core.messages import Answer
from knowledge.directory_import import import_directory
from knowledge.readers import resolve_reader
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.agent.agents import SteppedRouter
from tests.unit.bot.office import (
    CHANNELS,
    DISK_QUESTION,
    GROUPS,
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
    ask,
    write_directory,
)

MEMORY = "<memory "
HOTEL = "杭州的住宿标准是每晚多少元？"
SICK = "病假呢？"
# Rules can't be sure what this leans on.
UNSURE = "如果超过这个数，谁来签字呢，要写说明吗？"
SALARY_ANSWER = "L4 的薪酬带宽上限是每月 38,000 元 [1]。"
REWRITTEN = "如果超过每月 38,000 元的 L4 薪酬带宽上限，谁来签字，要写说明吗？"


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


def use_models(office: Office, server: ChatServer, more: str = "") -> None:
    office.add_settings(
        f'[models]\nbase_url = "{server.base_url}"\nchat_model = "writer"\n'
        f'light_model = "light"\napi_key = "k"\nprivate = true\n{more}'
    )


async def steps_of(product: Product, answer: Answer) -> dict[str, dict[str, Any]]:
    trace = await product.state.traces.get(answer.trace_id)
    steps: Any = trace.payload["steps"]
    return {step["step"]: step for step in steps}


async def understood(product: Product, answer: Answer) -> str:
    return str((await steps_of(product, answer))["understand"]["note"])


def add_to_channel(office: Office, channel: str, person: str) -> None:
    entries = [
        {**one, "members": [*one["members"], person]} if one["id"] == channel else one  # type: ignore[misc]
        for one in CHANNELS
    ]
    path = office.company / "channels.json"
    path.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")


async def test_two_people_in_one_thread_go_on_with_their_own_matter(office: Office) -> None:
    async with office.open() as product:
        place = {"in_": "c-mixed", "thread": "t"}
        await ask(product, LEAVE_QUESTION, HR, **place)
        await ask(product, HOTEL, OPS, **place)
        hers = await understood(product, await ask(product, SICK, HR, **place))
        assert hers == LEAVE_QUESTION.replace("年假", "病假")
        his = await understood(product, await ask(product, "那上海呢？", OPS, **place))
        assert his == HOTEL.replace("杭州", "上海")


async def test_a_matter_that_may_not_be_used_is_not_replaced_by_what_went_before_it(
    office: Office,
) -> None:
    async with office.open() as product:
        place = {"in_": "c-mixed", "thread": "t"}
        await ask(product, LEAVE_QUESTION, HR, **place)
        first = await ask(product, SALARY_QUESTION, HR, **place)
        assert first.private_answer is not None
        answer = await ask(product, "那 L5 呢？", HR, **place)
        assert await understood(product, answer) == "那 L5 呢？"
        assert "dropped for rights" in (await steps_of(product, answer))["memory"]["note"]


async def test_a_turn_of_a_room_is_dropped_when_somebody_joins_who_may_not_read_it(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    server.respond = lambda _request: Script(text=SALARY_ANSWER)
    place = {"in_": "c-hr", "thread": "t"}
    async with office.open() as product:
        first = await ask(product, SALARY_QUESTION, HR, **place)
        assert SALARY in first.text, "all of them may read it"
        before = await ask(product, "那 L5 呢？", "su.qin", **place)
        assert "L5 的薪酬" in await understood(product, before)
        add_to_channel(office, "c-hr", OPS)
        await import_directory(product.state.directory, office.company)
        server.requests.clear()
        after = await ask(product, "那 L5 呢？", "su.qin", **place)
        assert await understood(product, after) == "那 L5 呢？"
        await ask(product, DISK_QUESTION, "su.qin", **place)
        assert MEMORY not in json.dumps(server.requests)


async def test_a_rewritten_question_rests_on_what_its_words_came_from(
    office: Office, server: ChatServer
) -> None:
    """A model may put a value of an answer into a question: it is as secret as the answer."""
    use_models(office, server)

    def respond(request: Any) -> Script:
        is_light = request["model"] == "light"
        return Script(text=REWRITTEN if is_light else SALARY_ANSWER)

    server.respond = respond
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
        answer = await ask(product, UNSURE, HR, thread="t")
        assert await understood(product, answer) == REWRITTEN
        assert "rewritten by model from 1" in (await steps_of(product, answer))["memory"]["note"]
        store = TurnStore(product.state.database)
        first, second = await store.load("t", HR)
        assert second.question == REWRITTEN
        asked = Understood(question=REWRITTEN, said=UNSURE, rests_on=(first,))
        reader = await resolve_reader(product.state.registry, as_=HR)
        built = product.conversation.parts.memory.build_turn(asked, answer, (), reader)
        assert built.passages == first.passages, "also where its answer cites nothing"
        reader = await resolve_reader(product.state.registry, as_=HR)
        trace = await product.state.traces.get(answer.trace_id)
        view = await build_view(product.store, product.state.ledger, trace, reader)
        assert REWRITTEN in view.describe()

        write_directory(office.company, groups=GROUPS[1:])
        await import_directory(product.state.directory, office.company)
        server.requests.clear()
        later = await ask(product, UNSURE, HR, thread="t")
        assert await understood(product, later) == UNSURE
        assert SALARY not in json.dumps(server.requests, ensure_ascii=False)
        reader = await resolve_reader(product.state.registry, as_=HR)
        shown, hidden = await product.conversation.parts.memory.list_own(reader)
        assert all(SALARY not in one.question + one.answer for one in shown)
        assert hidden == 2
        view = await build_view(product.store, product.state.ledger, trace, reader)
        assert SALARY not in view.describe() + json.dumps(view.to_json(), ensure_ascii=False)
        assert HIDDEN in view.describe()


async def test_a_private_answer_is_in_no_prompt_of_a_public_reply(
    office: Office, server: ChatServer
) -> None:
    use_models(office, server)
    server.respond = lambda _request: Script(text=SALARY_ANSWER)
    async with office.open() as product:
        # The same thread before and after a second person reads along.
        await ask(product, SALARY_QUESTION, HR, thread="t")
        await ask(product, LEAVE_QUESTION, HR, thread="t")
        server.requests.clear()
        # Worked through in steps, so that a model is shown something whatever pages hold.
        stepped = Conversation(replace(product.conversation.parts, router=SteppedRouter()))
        reader = await resolve_reader(product.state.registry, as_=HR, in_="c-mixed")
        answer = await stepped.ask(UNSURE, reader, thread="t")
        assert await understood(product, answer) == UNSURE
        assert server.requests
        assert MEMORY not in json.dumps(server.requests)


async def test_forgetting_a_page_forgets_turns_and_summaries_that_rest_on_it(
    office: Office,
) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
        for _ in range(7):
            await ask(product, LEAVE_QUESTION, HR, thread="t")
        store = TurnStore(product.state.database)
        [summary] = [one for one in await store.load_all(HR) if one.is_summary]
        assert SALARY in summary.answer
        assert len(summary.passages) > 1, "of both turns"
    result = await to_thread(office.run, "forget", "files:hr/薪酬带宽.md")
    assert result.exit_code == 0, result.output
    async with office.open() as product:
        left = await TurnStore(product.state.database).load_all(HR)
        assert len(left) == 6
        assert all(SALARY not in one.answer and "薪酬" not in one.question for one in left)


async def test_of_rows_and_people_the_question_alone_is_remembered(office: Office) -> None:
    async with office.open() as product:
        memory = product.conversation.parts.memory
        reader = await resolve_reader(product.state.registry, as_=HR)
        answer = await ask(product, LEAVE_QUESTION, HR)
        asked = Understood(question="谁的工单最多？", said="谁的工单最多？")
        kept = memory.build_turn(asked, replace(answer, tools=("find_tickets",)), (), reader)
        assert kept.answer == ""
        pages = memory.build_turn(asked, replace(answer, tools=("search_docs",)), (), reader)
        assert pages.answer == answer.text


@pytest.mark.parametrize(
    ("said", "confirmed"),
    [
        ("忘掉刚才的对话", "确认忘掉这段对话"),
        ("请把我们聊过的内容都删掉吧", "确认忘掉这段对话。"),
        ("Please forget what we talked about.", "yes, forget this conversation"),
        ("forget this conversation", "Yes forget this conversation!"),
    ],
)
async def test_a_person_may_have_a_conversation_forgotten_in_words(
    office: Office, said: str, confirmed: str
) -> None:
    async with office.open() as product:
        store = TurnStore(product.state.database)
        await ask(product, LEAVE_QUESTION, OPS, thread="t")
        await ask(product, LEAVE_QUESTION, OPS, thread="other")
        await ask(product, SALARY_QUESTION, HR, thread="t")
        asked = await ask(product, said, OPS, thread="t")
        assert len(await store.load_all(OPS)) == 2, "nothing before it is confirmed"
        assert any(one in asked.text for one in ("确认忘掉这段对话", "yes, forget this"))
        done = await ask(product, confirmed, OPS, thread="t")
        assert "1" in done.text
        assert [one.thread for one in await store.load_all(OPS)] == ["other"]
        assert len(await store.load_all(HR)) == 1


async def test_everything_may_be_forgotten_and_a_room_is_not_told_how_much_it_was(
    office: Office,
) -> None:
    async with office.open() as product:
        store = TurnStore(product.state.database)
        for number in range(9):
            await ask(product, LEAVE_QUESTION, OPS, thread=f"t{number}")
        place = {"in_": "c-mixed", "thread": "room"}
        await ask(product, LEAVE_QUESTION, HR, **place)
        asked = await ask(product, "忘掉之前的对话", OPS, **place)
        done = await ask(product, "确认忘掉全部对话", OPS, **place)
        assert "9" not in asked.text + done.text
        assert await store.load_all(OPS) == []
        assert len(await store.load_all(HR)) == 1, "what others posted is theirs"


@pytest.mark.parametrize(
    "said",
    [
        "忘记密码怎么办？",
        "怎么删除会议记录？",
        "忘了打卡怎么补？",
        "How do I delete a conversation in the ticket system?",
        "forget my password",
    ],
)
async def test_questions_about_forgetting_are_questions(office: Office, said: str) -> None:
    async with office.open() as product:
        await ask(product, LEAVE_QUESTION, OPS, thread="t")
        answer = await ask(product, said, OPS, thread="t")
        assert answer.route != "memory"
        assert await TurnStore(product.state.database).load_all(OPS)


async def test_the_console_shows_and_forgets_what_is_remembered(office: Office) -> None:
    async with office.open() as product:
        await ask(product, SALARY_QUESTION, HR, thread="t")
        await ask(product, LEAVE_QUESTION, HR, thread="u")
        await ask(product, LEAVE_QUESTION, OPS, thread="u")
    shown = await to_thread(office.run, "memory", "show", "--as", HR)
    assert SALARY_QUESTION in shown.stdout
    write_directory(office.company, groups=GROUPS[1:])
    await to_thread(office.run, "directory", "import", office.company)
    found = await to_thread(office.run_json, "memory", "show", "--as", HR)
    assert [one["question"] for one in found["turns"]] == [LEAVE_QUESTION]
    assert found["hidden"] == 1
    kept = await to_thread(office.run, "memory", "forget", "--as", HR, input="n\n")
    assert kept.exit_code == 1
    one = await to_thread(office.run_json, "memory", "forget", "--as", HR, "--thread", "u", "--yes")
    assert one == {"turns": 1, "summaries": 0, "conversations": 1}
    gone = await to_thread(office.run, "memory", "forget", "--as", HR, input="y\n")
    assert "1 question with its answer from 1 conversation" in gone.stdout
    left = await to_thread(office.run_json, "memory", "show", "--as", OPS)
    assert len(left["turns"]) == 1
