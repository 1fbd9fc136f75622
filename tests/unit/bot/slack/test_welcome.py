"""Whoever opens the conversation with the assistant is offered questions."""

import pytest

from tests.unit.bot.office import OPS, Office
from tests.unit.bot.slack.workplace import open_workplace


async def test_the_messages_tab_offers_what_to_ask(office: Office) -> None:
    async with open_workplace(office) as workplace:
        workplace.people.open_home(OPS, tab="home")
        workplace.people.open_home(OPS, tab="messages")
        await workplace.wait_until(lambda: bool(workplace.slack.views.prompts))
        [(channel, prompts)] = workplace.slack.views.prompts.items()
        assert channel == workplace.slack.workspace.open_im("U3").channel_id
        assert [one["message"] for one in prompts] == ["你能帮我做什么？", "What can you do?"]


async def test_an_older_assistant_thread_offers_what_the_settings_say(office: Office) -> None:
    questions = ("How many days of leave are there?",)
    async with open_workplace(office, suggested_questions=questions) as workplace:
        channel = workplace.slack.workspace.open_im("U3").channel_id
        thread = {"user_id": "U3", "channel_id": channel, "thread_ts": "1.0", "context": {}}
        workplace.slack.delivery.send_event(
            {"type": "assistant_thread_started", "assistant_thread": thread, "event_ts": "1.1"}
        )
        await workplace.wait_until(lambda: bool(workplace.slack.views.prompts))
        [prompt] = workplace.slack.views.prompts[channel]
        assert prompt == {"title": questions[0], "message": questions[0]}


@pytest.mark.parametrize("code", ["missing_scope", "channel_not_found"])
async def test_a_workspace_that_takes_no_prompts_is_answered_all_the_same(
    office: Office, code: str
) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.faults.refuse["assistant.threads.setSuggestedPrompts"] = code
        workplace.people.open_home(OPS, tab="messages")
        assert (await workplace.ask(OPS, "dm", "What can you do?")).text
