from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from bot.agent.actions import ActionState
from core.errors import PermanentError
from tests.fakes.mail_server import Mailbox, serve_mail
from tests.unit.bot.agent.skills.bench import ANN, GUEST, SkillBench, call_as, open_bench

PLAIN = """
    name: send_email
    kind: email
    description: Drafts an e-mail to somebody.
    title: {zh: 发邮件, en: Send an e-mail}
"""
REMINDER = """
    name: remind_approver
    kind: email
    description: Reminds whoever has to approve something.
    title: {zh: 催办, en: Remind}
    allowed_domains: [nimbus.example]
    parameters:
      to: {description: The approver's address, format: email, required: true}
      item: {description: What waits, required: true, max_length: 40}
      since: {description: Since when, default: 上周}
    subject: "请处理：{item}"
    body: |
      您好，

      {item} 自{since}起等待审批 {{请勿回复}}。
"""


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
async def bench(tmp_path: Path, mailbox: Mailbox) -> AsyncIterator[SkillBench]:
    async with serve_mail(mailbox) as port:
        settings = f"""
            [mail]
            host = "127.0.0.1"
            port = {port}
            sender = "zhixing@nimbus.example"
            security = "none"
        """
        async with open_bench(tmp_path, settings) as opened:
            yield opened


async def test_without_own_parameters_an_email_has_the_usual_ones(
    bench: SkillBench, mailbox: Mailbox
) -> None:
    action = await bench.load_action(PLAIN)
    assert action.parameters["required"] == ["to", "subject", "body"]
    values = action.normalise(
        {"to": ["a@x.example", "b@x.example"], "subject": " Hi  there", "body": "Text"}
    )
    assert values == {
        "to": ["a@x.example", "b@x.example"],
        "cc": [],
        "subject": "Hi there",
        "body": "Text",
    }
    assert action.normalise(values) == values
    result = await action.run(values, idempotency_key="k1")
    assert result.state is ActionState.DONE
    assert mailbox.recipients == ["a@x.example", "b@x.example"]


async def test_texts_are_made_of_what_was_filled_in_and_shown_in_full(
    bench: SkillBench, mailbox: Mailbox
) -> None:
    action = await bench.load_action(REMINDER)
    values = action.normalise({"to": "ella@nimbus.example", "item": "差旅报销 C1"})
    assert values == {
        "to": ["ella@nimbus.example"],
        "cc": [],
        "subject": "请处理：差旅报销 C1",
        "body": "您好，\n\n差旅报销 C1 自上周起等待审批 {请勿回复}。",
    }
    await action.run(values, idempotency_key="k1")
    assert mailbox.messages[0]["Subject"] == "请处理：差旅报销 C1"


async def test_an_edited_draft_stays_as_it_was_edited(bench: SkillBench) -> None:
    action = await bench.load_action(REMINDER)
    values = dict(action.normalise({"to": "ella@nimbus.example", "item": "C1"}))
    assert action.normalise(values) == values
    edited = {**values, "body": "Please, {item}!"}
    assert action.normalise(edited) == edited


async def test_a_value_can_not_use_the_texts_of_the_skill(bench: SkillBench) -> None:
    action = await bench.load_action(REMINDER)
    values = action.normalise({"to": "ella@nimbus.example", "item": "{to} {since} {{x}}"})
    assert values["subject"] == "请处理：{to} {since} {{x}}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"to": "eve@evil.example", "item": "x"}, "is outside nimbus.example"),
        ({"to": "ella@sub.nimbus.example", "item": "x"}, "is outside"),
        ({"to": "ella@nimbus.example"}, "'item' is a required property"),
        ({"to": "ella@nimbus.example", "item": "x" * 41}, "too long"),
        ({"to": "ella@nimbus.example", "item": "x", "bcc": "eve@evil.example"}, "bcc"),
        ({"to": "ella@nimbus.example, eve@evil.example", "item": "x"}, "email|outside"),
        ({"to": "ella@nimbus.example\nBcc: eve@evil.example", "item": "x"}, "."),
    ],
)
async def test_what_may_not_go_out_is_refused_before_there_is_a_draft(
    bench: SkillBench, given: dict[str, JsonValue], said: str
) -> None:
    action = await bench.load_action(REMINDER)
    with pytest.raises(PermanentError, match=said):
        action.normalise(given)


async def test_an_edit_can_not_lead_outside_either(bench: SkillBench) -> None:
    action = await bench.load_action(REMINDER)
    values = dict(action.normalise({"to": "ella@nimbus.example", "item": "C1"}))
    with pytest.raises(PermanentError, match="is outside"):
        action.normalise({**values, "cc": ["eve@evil.example"]})


async def test_another_text_makes_another_skill(bench: SkillBench) -> None:
    first = (await bench.load_action(REMINDER)).definition_hash
    same = (await bench.load_action(f"# only a comment\n{REMINDER}")).definition_hash
    other = (await bench.load_action(REMINDER.replace("请处理", "请审批"))).definition_hash
    assert first == same != other


async def test_others_are_not_offered_it(bench: SkillBench) -> None:
    action = await bench.load_action(REMINDER)
    assert action.is_offered_to(call_as(ANN))
    assert not action.is_offered_to(call_as(GUEST))
    assert not action.is_offered_to(call_as(None))


async def test_something_that_comes_from_nowhere_is_told(bench: SkillBench) -> None:
    told = await bench.load_problem(REMINDER.replace('subject: "请处理：{item}"', ""))
    assert "nothing says what 'subject' is" in told


async def test_without_a_mail_server_there_is_no_mail(tmp_path: Path) -> None:
    home = tmp_path / "other"
    home.mkdir()
    async with open_bench(home) as bench:
        assert "set host and sender under [mail]" in await bench.load_problem(PLAIN)
