import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import JsonValue

from bot.agent.actions import ActionState
from bot.agent.skills.guarded import SkillAction
from core.errors import PermanentError, RefusedError, ToolFailedError
from playground.jira.board import Board, Project
from playground.jira.server import Flavour, JiraServer, serve_jira
from tests.fakes.http_server import Answer, FakeService, data, open_service, status
from tests.unit.bot.agent.skills.bench import ANN, GUEST, SkillBench, call_as, open_bench

CREATE = """
    name: create_ticket
    kind: ticket
    description: Makes a ticket for a team.
    title: {zh: 提工单, en: Create a ticket}
    tracker: desk
    queues:
      IT: {project: IT, issue_type: Service Request}
      HR: {project: HR}
    priorities: {P1: Highest, P3: Medium}
"""
COMMENT = """
    name: comment_ticket
    kind: ticket
    action: comment
    description: Comments on a ticket.
    title: {zh: 评论工单, en: Comment on a ticket}
    tracker: desk
    queues: {IT: {project: IT}}
"""
FIND = """
    name: find_ticket
    kind: ticket
    action: find
    description: Finds tickets of IT by number or words.
    title: {zh: 查工单, en: Find a ticket}
    tracker: desk
    queues: {IT: {project: IT}}
"""
TICKET: dict[str, JsonValue] = {
    "queue": "IT",
    "priority": "P1",
    "title": "打印机 3F\n卡纸",
    "description": "三楼打印机卡纸。\nSince 9:00.",
}
KEY = "3f" * 16


def make_board() -> Board:
    return Board([Project(key="IT", name="IT desk"), Project(key="HR", name="People")])


@asynccontextmanager
async def open_desk(
    home: Path, *, flavour: Flavour = "cloud"
) -> AsyncIterator[tuple[SkillBench, JiraServer]]:
    """Serve a Jira on loopback as the tracker `desk`."""
    async with serve_jira(make_board(), flavour=flavour) as server:
        lines = [f"{name} = {json.dumps(one)}" for name, one in server.settings().items()]
        settings = "\n".join(["[trackers.desk]", "timeout_s = 0.5", *lines])
        async with open_bench(home, settings) as bench:
            yield bench, server


async def make(bench: SkillBench, *, key: str = KEY) -> tuple[ActionState, str]:
    action = await bench.load_action(CREATE)
    result = await action.run(action.normalise(TICKET), idempotency_key=key)
    return result.state, result.text


@pytest.mark.parametrize("flavour", ["cloud", "data_center"])
async def test_a_ticket_is_made_as_it_was_confirmed_once(tmp_path: Path, flavour: Flavour) -> None:
    async with open_desk(tmp_path, flavour=flavour) as (bench, server):
        state, text = await make(bench)
        again = await make(bench)
        [issue] = server.board.issues.values()
    assert (state, text) == (ActionState.DONE, f"IT-1 {server.base_url}/browse/IT-1")
    assert again == (state, text)
    assert (issue.project, issue.issue_type, issue.priority) == ("IT", "Service Request", "Highest")
    assert issue.summary == "打印机 3F 卡纸"
    assert issue.description == "三楼打印机卡纸。\nSince 9:00."
    assert issue.labels == [f"zhixing-{KEY}"]


async def test_what_a_model_fills_in_is_told_by_its_schema(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, _):
        action = await bench.load_action(CREATE)
    properties = action.parameters["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["queue", "priority", "title", "description"]
    assert properties["queue"]["enum"] == ["IT", "HR"]  # type: ignore[index, call-overload]
    assert action.parameters["required"] == ["queue", "title", "description"]
    assert action.fields["queue"].zh == "队列"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"queue": "Sales"}, "queue"),
        ({"priority": "P9"}, "priority"),
        ({"title": ""}, "title"),
        ({"title": "x" * 251}, "title"),
        ({"description": None}, "description"),
        ({"assignee": "me"}, "assignee"),
    ],
)
async def test_values_that_lead_nowhere_are_refused_before_there_is_a_draft(
    tmp_path: Path, changed: dict[str, JsonValue], said: str
) -> None:
    async with open_desk(tmp_path) as (bench, server):
        action = await bench.load_action(CREATE)
        with pytest.raises(PermanentError, match=said):
            action.normalise({**TICKET, **changed})
    assert not server.calls.total


async def test_queues_nobody_listed_go_to_one_place_with_a_label(tmp_path: Path) -> None:
    others = CREATE.rstrip() + "\n    others: {project: HR}\n"
    async with open_desk(tmp_path) as (bench, server):
        action = await bench.load_action(others)
        for queue in ("FAC-REQ", "IT"):
            values = action.normalise({**TICKET, "queue": queue})
            await action.run(values, idempotency_key=queue)
        for queue in ("two words", "a/b", "", "x" * 61):
            with pytest.raises(PermanentError):
                action.normalise({**TICKET, "queue": queue})
        [first, second] = server.board.issues.values()
    assert (first.key, first.labels) == ("HR-1", ["zhixing-FAC-REQ", "FAC-REQ"])
    assert (second.key, second.labels) == ("IT-1", ["zhixing-IT"])


async def test_a_reply_that_never_comes_is_looked_for_and_found(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.hangs_after_write = 1
        state, text = await make(bench)
        assert len(server.board.issues) == 1
    assert (state, text.split()[0]) == (ActionState.DONE, "IT-1")


async def test_an_error_after_it_was_made_is_looked_for_and_found(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.failures_after_write = 1
        assert (await make(bench))[0] is ActionState.DONE
        assert len(server.board.issues) == 1


async def test_a_search_that_does_not_know_of_it_yet_proves_nothing(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.hangs_after_write = 1
        server.faults.unseen_searches = 3
        state, _ = await make(bench)
        assert state is ActionState.UNKNOWN
        # Whoever asks again later learns that it is there.
        action = bench.skills["create_ticket"]
        assert isinstance(action, SkillAction)
        found = await action.find_outcome({}, idempotency_key=KEY)
        assert found is not None
        assert found.state is ActionState.DONE
        assert (await make(bench))[0] is ActionState.DONE
        assert len(server.board.issues) == 1


async def test_an_error_that_may_have_come_late_is_unknown_and_not_tried_again(
    tmp_path: Path,
) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.failed_writes = 1
        state, text = await make(bench)
        assert not server.board.issues
    assert (state, text) == (ActionState.UNKNOWN, "Jira 'desk' answered 503")
    assert server.calls.by_kind["POST issue"] == 1


async def test_nothing_is_made_when_it_can_not_be_looked_for_before(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.failures = 1
        state, text = await make(bench)
        assert not server.board.issues
    assert state is ActionState.FAILED
    assert "nothing was made" in text


@pytest.mark.parametrize("pauses", [1, 2])
async def test_too_many_calls_are_waited_for_once(tmp_path: Path, pauses: int) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.limited_writes = pauses
        state, text = await make(bench)
        assert len(server.board.issues) == (1 if pauses == 1 else 0)
    assert state is (ActionState.DONE if pauses == 1 else ActionState.FAILED)
    assert text


async def test_what_jira_refuses_is_told_field_by_field(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.board.projects["IT"].issue_types = ("Bug",)
        state, text = await make(bench)
    assert state is ActionState.FAILED
    assert "answered 400: issuetype: The issue type selected is invalid." in text


async def test_an_account_that_may_not_write_is_told(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.forbids = True
        state, text = await make(bench)
    assert state is ActionState.FAILED
    assert "its account may not do this" in text


async def test_a_wrong_token_is_told_without_the_token(tmp_path: Path) -> None:
    async with serve_jira(make_board()) as server:
        settings = f"""
            [trackers.desk]
            url = "{server.base_url}"
            user = "bot@example.com"
            token_variable = "DESK_TOKEN"
            is_private = true
        """
        async with open_bench(tmp_path, settings, {"DESK_TOKEN": "wrong-secret"}) as bench:
            state, text = await make(bench)
    assert state is ActionState.FAILED
    assert "check user and token of trackers.desk" in text
    assert "wrong-secret" not in text


async def test_a_login_page_is_no_reply(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        server.faults.login_page = True
        state, text = await make(bench)
    assert state is ActionState.FAILED
    assert "no reply of its API" in text


async def test_a_comment_is_written_once(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, server):
        await make(bench)
        (bench.folder / "skill.yaml").unlink()
        action = await bench.load_action(COMMENT)
        values = action.normalise({"ticket": "it-1 ", "text": "还有人在看吗？\n急。"})
        for _ in range(2):
            result = await action.run(values, idempotency_key="aa11")
            assert result.state is ActionState.DONE
        server.faults.hangs_after_write = 1
        late = await action.run(values, idempotency_key="bb22")
        [first, second] = server.board.issues["IT-1"].comments
    assert values == {"ticket": "IT-1", "text": "还有人在看吗？\n急。"}
    assert late.state is ActionState.DONE
    assert first.body == "还有人在看吗？\n急。\n\n[zhixing-aa11]"
    assert second.body.endswith("[zhixing-bb22]")


@pytest.mark.parametrize("ticket", ["HR-1", "IT", "IT-1/../HR-1", "../IT-1", "IT-1?x", "", "一"])
async def test_comments_go_to_tickets_of_the_listed_queues_only(
    tmp_path: Path, ticket: str
) -> None:
    async with open_desk(tmp_path) as (bench, server):
        action = await bench.load_action(COMMENT)
        with pytest.raises(PermanentError):
            action.normalise({"ticket": ticket, "text": "x"})
    assert not server.calls.total


async def test_a_comment_on_a_ticket_that_is_not_there_fails(tmp_path: Path) -> None:
    async with open_desk(tmp_path) as (bench, _):
        action = await bench.load_action(COMMENT)
        values = action.normalise({"ticket": "IT-9", "text": "x"})
        result = await action.run(values, idempotency_key=KEY)
    assert result.state is ActionState.FAILED
    assert "404" in result.text


@pytest.mark.parametrize("flavour", ["cloud", "data_center"])
async def test_tickets_are_found_by_number_and_by_words(tmp_path: Path, flavour: Flavour) -> None:
    async with open_desk(tmp_path, flavour=flavour) as (bench, server):
        await make(bench)
        server.board.create(
            server.board.projects["HR"],
            issue_type="Task",
            summary="打印机 for HR alone",
            description="",
            priority="Low",
            labels=[],
            reporter="x",
        )
        (bench.folder / "skill.yaml").unlink()
        tool = await bench.load_tool(FIND)
        caller = call_as(ANN)
        for text in ("IT-1", " it-1", "打印机", "Since 9", '打印机" OR project = "HR', ""):
            found = await tool.run({"text": text}, caller)
            shown = [row["ticket"] for row in found.rows]
            assert shown == ([] if "OR" in text else ["IT-1"]), text
        for text in ("HR-1", "IT-77", "nothing like it"):
            assert not (await tool.run({"text": text}, caller)).has_found
        with pytest.raises(RefusedError):
            await tool.run({"text": "IT-1"}, call_as(GUEST))
        server.faults.failures = 1
        with pytest.raises(ToolFailedError, match="503"):
            await tool.run({"text": "IT-1"}, caller)


@asynccontextmanager
async def open_hook(home: Path, *answers: Answer) -> AsyncIterator[tuple[SkillBench, FakeService]]:
    async with open_service(*answers) as service:
        settings = f"""
            [trackers.desk]
            kind = "webhook"
            url = "{service.base_url}/in?tenant=7"
            token = "shared-secret"
            is_private = true
            timeout_s = 0.5
        """
        async with open_bench(home, settings) as bench:
            yield bench, service


async def test_a_webhook_gets_signed_requests_with_the_key(tmp_path: Path) -> None:
    made = data({"ticket": "T-5", "url": "https://desk.example/T-5"})
    async with open_hook(tmp_path, status(404), made) as (bench, service):
        assert await make(bench) == (ActionState.DONE, "T-5 https://desk.example/T-5")
    look, create = service.requests
    assert create.path_qs == "/in?tenant=7"
    assert create.headers["Idempotency-Key"] == KEY
    assert "Idempotency-Key" not in look.headers
    body = json.loads(service.bodies[1])
    assert body == {
        "action": "create",
        "queue": "IT",
        "project": "IT",
        "type": "Service Request",
        "priority": "Highest",
        "title": "打印机 3F 卡纸",
        "description": "三楼打印机卡纸。\nSince 9:00.",
    }
    signed = create.headers["X-Zhixing-Timestamp"].encode() + b"." + service.bodies[1]
    wanted = hmac.new(b"shared-secret", signed, hashlib.sha256).hexdigest()
    assert create.headers["X-Zhixing-Signature"] == f"sha256={wanted}"


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        ([data({"ticket": "T-1"})], ActionState.DONE),
        ([status(404), status(204)], ActionState.DONE),
        ([status(404), status(200, "taken, thank you")], ActionState.DONE),
        ([status(404), status(400, "no such queue")], ActionState.FAILED),
        ([status(404), status(500), status(404)], ActionState.UNKNOWN),
        ([status(404), status(500), data({"tickets": [{"ticket": "T-1"}]})], ActionState.DONE),
        ([status(500)], ActionState.FAILED),
    ],
)
async def test_what_became_of_a_webhook_is_told_truly(
    tmp_path: Path, answers: list[Answer], state: ActionState
) -> None:
    async with open_hook(tmp_path, *answers) as (bench, _):
        assert (await make(bench))[0] is state
