"""The agent from a question to its reply, with a scripted model."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from bot.memory.turns import TurnStore
from bot.texts import get_texts
from bot.trace_steps import TraceSteps
from core.messages import Outcome
from core.settings import AgentSettings
from knowledge.readers import resolve_reader
from tests.fakes.chat_server import ChatServer, Script, run_chat_server
from tests.unit.bot.agent.agents import call, calling, open_bench
from tests.unit.bot.office import (
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
)

TWO_PARTS = "年假最多可以结转几天？莫岚的邮箱是什么？"
LEAVE = "年假最多可以结转 5 天"
MAIL_TO_MO = "把年假结转规则发邮件给莫岚"
DONE = Script(text="PLAN: done")


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with run_chat_server() as running:
        yield running


def last_user(request: Mapping[str, Any]) -> str:
    return "\n".join(str(one["content"]) for one in request["messages"])


async def test_a_task_of_two_parts_searches_first_then_looks_up_the_rest(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(
        Script(
            text="",
            calls=[call("look_up_person", person="莫岚")],
        ),
        DONE,
        Script(text=f"{LEAVE} [1]。莫岚的邮箱是 mo.lan@nimbus.example [2]。"),
    )
    async with open_bench(office, server) as bench:
        answer = await bench.ask(TWO_PARTS, OPS)
        steps = await bench.trace(answer)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.text == f"{LEAVE}。 [1] 莫岚的邮箱是 mo.lan@nimbus.example。"
    assert [one.document_id for one in answer.citations] == ["files:handbook/休假制度.md"]
    assert answer.tools == ("search_docs", "look_up_person")
    assert answer.route == "multi_hop"
    names = [one["step"] for one in steps]
    assert names.index("tool: search_docs") < names.index("plan 1") < names.index("agent: step 2")
    assert LEAVE in last_user(bench.prompts[0]), "it has read before it plans"
    assert "mo.lan@nimbus.example" in last_user(bench.prompts[1])
    assert "11+7 tokens" in next(one["note"] for one in steps if one["step"] == "agent: step 2")


async def test_each_revision_of_the_plan_names_the_passage_that_caused_it(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(
        Script(
            text="PLAN: 1. 查莫岚的邮箱; 2. 查住宿\n"
            '{"name": "search_docs", "arguments": {"query": "杭州住宿标准"}}'
        ),
        Script(
            text='PLAN: 查莫岚的邮箱\n{"name": "look_up_person", "arguments": {"person": "莫岚"}}'
        ),
        DONE,
        Script(text=f"{LEAVE} [1]。"),
    )
    async with open_bench(office, server) as bench:
        answer = await bench.ask(TWO_PARTS, OPS)
        steps = await bench.trace(answer)
    plans = [one for one in steps if one["step"].startswith("plan ")]
    assert [one["step"] for one in plans] == ["plan 1", "plan 2", "plan 3", "plan 4"]
    assert plans[1]["note"].startswith("1. 查莫岚的邮箱; 2. 查住宿 (by the model")
    assert all(one["rows"] for one in plans[:3])
    assert "nothing left to do" in plans[3]["note"]


async def test_a_plan_without_a_models_words_follows_from_the_results(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(calling(call("look_up_person", person="莫岚")), Script(text="ok"), DONE)
    async with open_bench(office, server) as bench:
        steps = await bench.trace(await bench.ask(TWO_PARTS, OPS))
    plans = [one["note"] for one in steps if one["step"].startswith("plan ")]
    assert plans[0].startswith("1. 年假最多可以结转几天; 2. 莫岚的邮箱是什么 (by the results")
    assert "年假" not in plans[1]


async def test_the_plan_is_shown_in_private_and_never_in_a_room(
    office: Office, server: ChatServer
) -> None:
    server.respond = lambda _request: DONE
    shown: list[str] = []

    async def status(text: str) -> None:
        shown.append(text)

    async with open_bench(office, server) as bench:
        agent = bench.conversation.parts.agent
        assert agent is not None
        registry = bench.product.state.registry
        for in_ in (None, "c-mixed"):
            reader = await resolve_reader(registry, as_=HR, in_=in_)
            await agent.answer(SALARY_QUESTION, reader, TraceSteps(), status=status)
            if in_ is None:
                assert shown
                shown.clear()
    assert not shown


@pytest.mark.parametrize(
    ("scripts", "reason"),
    [
        ([calling(call("search_docs", query="x y z"))], "nothing_found"),
        ([calling(call("search_docs", query=LEAVE_QUESTION))], "repeated"),
        ([calling(call("fly", to="moon")), calling(call("fly", to="mars"))], "tool_errors"),
    ],
    ids=["two searches in vain", "the same call", "unknown tools"],
)
async def test_a_run_without_progress_ends_with_what_is_known(
    office: Office, server: ChatServer, scripts: list[Script], reason: str
) -> None:
    server.enqueue(*scripts)
    question = "qqq www" if reason == "nothing_found" else LEAVE_QUESTION
    server.respond = lambda request: (
        calling(call("search_docs", query="a b c")) if "tools" in request else Script(text="x")
    )
    if reason != "nothing_found":
        server.enqueue(Script(text=f"{LEAVE} [1]。"))
    async with open_bench(office, server) as bench:
        answer = await bench.ask(question, OPS)
    assert get_texts("en" if reason == "nothing_found" else "zh").agent_stopped[reason] in (
        answer.text
    )
    if reason != "nothing_found":
        assert LEAVE in answer.text


async def test_no_new_evidence_ends_the_run_quietly(office: Office, server: ChatServer) -> None:
    server.enqueue(
        calling(call("search_docs", query="年假可以结转几天？")), Script(text=f"{LEAVE} [1]。")
    )
    async with open_bench(office, server) as bench:
        answer = await bench.ask(LEAVE_QUESTION, OPS)
    assert answer.text == f"{LEAVE}。 [1]"


async def test_the_limit_of_steps_holds(office: Office, server: ChatServer) -> None:
    pages = iter(
        ["files:ops/facilities.md", "files:ops/disk-clean-up.md", "files:handbook/差旅制度.md"]
    )
    server.respond = lambda request: (
        calling(call("get_page", page=next(pages)))
        if "tools" in request
        else Script(text=f"{LEAVE} [1]。")
    )
    async with open_bench(office, server, settings=AgentSettings(steps=3)) as bench:
        answer = await bench.ask(LEAVE_QUESTION, OPS)
    assert len(bench.prompts) == 2, "the first search is a step"
    assert get_texts("zh").agent_stopped["steps"] in answer.text


async def test_the_limit_of_tokens_holds(office: Office, server: ChatServer) -> None:
    usage = {"prompt_tokens": 600, "completion_tokens": 1, "total_tokens": 601}
    server.enqueue(
        Script(calls=[call("get_page", page="files:ops/facilities.md")], usage=usage),
        Script(text=f"{LEAVE} [1]。"),
    )
    async with open_bench(office, server, settings=AgentSettings(tokens=500)) as bench:
        answer = await bench.ask(LEAVE_QUESTION, OPS)
    assert get_texts("zh").agent_stopped["tokens"] in answer.text


async def test_arguments_go_back_to_be_mended(office: Office, server: ChatServer) -> None:
    server.enqueue(
        calling(("look_up_person", '{"name": 5, "x": 1}')),
        calling(call("look_up_person", person="莫岚")),
        DONE,
        Script(text="莫岚的邮箱是 mo.lan@nimbus.example [2]。"),
    )
    async with open_bench(office, server) as bench:
        answer = await bench.ask(TWO_PARTS, OPS)
    assert "error:" in last_user(bench.prompts[1])
    assert "mo.lan@nimbus.example" in answer.text


async def test_sums_take_numbers_of_the_results_only(office: Office, server: ChatServer) -> None:
    server.enqueue(
        calling(call("calculate", expression="480 * 3 + 77")),
        calling(call("calculate", expression="480 * 3")),
        DONE,
        Script(text="三晚共 1440 元 [2]。"),
    )
    async with open_bench(office, server) as bench:
        answer = await bench.ask("杭州的住宿标准是每晚多少元？住 3 晚一共多少？", OPS)
    assert "77 stands neither" in last_user(bench.prompts[1])
    assert "1440 元" in answer.text


async def test_what_no_source_holds_is_not_said(office: Office, server: ChatServer) -> None:
    server.enqueue(DONE, Script(text=f"{LEAVE} [1]。另外还有 9 天探亲假 [1]。"))
    async with open_bench(office, server) as bench:
        answer = await bench.ask(LEAVE_QUESTION, OPS)
    assert answer.text == f"{LEAVE}。 [1]"


async def test_results_stay_out_of_the_memory(office: Office, server: ChatServer) -> None:
    server.enqueue(
        calling(call("look_up_person", person="莫岚")), DONE, Script(text=f"{LEAVE} [1]。")
    )
    async with open_bench(office, server) as bench:
        await bench.ask(LEAVE_QUESTION, OPS, thread="t")
        [turn] = await TurnStore(bench.product.state.database).load("t", OPS)
    assert turn.question == LEAVE_QUESTION
    assert turn.answer == "", "nobody can tell later what it took from the directory"


async def test_what_a_tool_said_of_a_page_is_told_when_nothing_could_be_written(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(
        calling(call("list_versions", page="files:handbook/休假制度.md")),
        DONE,
        Script(text="NOT_FOUND"),
    )
    async with open_bench(office, server) as bench:
        answer = await bench.ask("休假制度改过几次？", OPS)
    assert answer.outcome is Outcome.ANSWERED
    assert "v1, 2026-10-15" in answer.text
    assert [one.document_id for one in answer.citations] == ["files:handbook/休假制度.md"]
    assert answer.text.count("[1]") == 1


async def test_where_the_agent_finds_nothing_one_search_still_answers(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(DONE, Script(text="NOT_FOUND"), Script(text=f"{LEAVE} [1]。"))
    async with open_bench(office, server) as bench:
        answer = await bench.ask(LEAVE_QUESTION, OPS)
    assert answer.text == f"{LEAVE}。 [1]"
    assert answer.route == "faq"


# Rights


async def test_nothing_the_asker_may_not_read_reaches_model_or_reply(
    office: Office, server: ChatServer
) -> None:
    server.enqueue(
        calling(call("get_page", page="files:hr/薪酬带宽.md")),
        calling(call("search_docs", query="L4 薪酬带宽 上限")),
    )
    server.respond = lambda _request: DONE
    async with open_bench(office, server) as bench:
        answer = await bench.ask(SALARY_QUESTION, OPS)
    sent = json.dumps(server.requests, ensure_ascii=False)
    assert SALARY not in sent
    assert "27,000" not in sent
    assert answer.outcome is Outcome.NOT_FOUND


async def test_in_a_room_the_public_answer_rests_on_what_all_may_read(
    office: Office, server: ChatServer
) -> None:
    def respond(request: Mapping[str, Any]) -> Script:
        if "tools" in request:
            return DONE
        said = last_user(request)
        text = "杭州的住宿标准为每晚 480 元 [1]。"
        return Script(text=text + ("人事部特批为每晚 650 元 [2]。" if "650" in said else ""))

    server.respond = respond
    async with open_bench(office, server) as bench:
        answer = await bench.ask("人事部的杭州住宿标准是每晚多少元？", HR, in_="c-mixed")
    assert "480" in answer.text
    assert "650" not in answer.text
    assert "650" not in json.dumps([one.to_json() for one in answer.citations])
    assert answer.private_answer is not None
    assert "650" in answer.private_answer


# Placeholders


async def test_every_message_to_a_strangers_endpoint_is_screened(
    office: Office, server: ChatServer
) -> None:
    def respond(request: Mapping[str, Any]) -> Script:
        if "tools" not in request:
            return Script(text="PERSON_1 的邮箱是 EMAIL_1 [2]。")
        if len(server.requests) == 1:
            return calling(call("look_up_person", person="<PERSON_1>"))
        return DONE

    server.respond = respond
    async with open_bench(office, server, is_private=False) as bench:
        answer = await bench.ask("莫岚的邮箱是什么？她的职位呢？", OPS)
    sent = json.dumps(server.requests, ensure_ascii=False).casefold()
    assert len(bench.prompts) >= 2
    for kept in ("莫岚", "mo lan", "mo.lan@nimbus.example", "苏沁", "su qin", "8765 4321"):
        assert kept not in sent
    assert answer.tools == ("search_docs", "look_up_person")
    assert "mo.lan@nimbus.example" in answer.text


async def test_a_space_that_must_never_leave_is_not_in_any_prompt(
    office: Office, server: ChatServer
) -> None:
    office.add_settings('[privacy]\nnever_to_leave = ["handbook"]')
    server.enqueue(calling(call("get_page", page="files:handbook/休假制度.md")))
    server.respond = lambda _request: DONE
    async with open_bench(office, server, is_private=False) as bench:
        await bench.ask(LEAVE_QUESTION, OPS)
    assert LEAVE not in json.dumps(server.requests, ensure_ascii=False)
