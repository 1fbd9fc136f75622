from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from bot.agent.actions import ActionState
from bot.agent.email_check import MOST_RECIPIENTS, Flaw, check_email, is_outside
from bot.agent.email_skill import EmailSkill
from core.clock import FixedClock
from core.errors import PermanentError
from core.settings import MailSettings
from tests.fakes.mail_server import Mailbox, serve_mail

CLOCK = FixedClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
PARAMETERS: dict[str, JsonValue] = {
    "to": ["anna@company.example"],
    "cc": ["bo@company.example"],
    "subject": "周会改期 Meeting moved",
    "body": "周会改到周四 10:00。\n\nThe meeting moves to Thursday.",
}


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
async def skill(mailbox: Mailbox) -> AsyncIterator[EmailSkill]:
    async with serve_mail(mailbox) as port:
        yield open_skill(port)


def open_skill(port: int) -> EmailSkill:
    settings = MailSettings(
        host="127.0.0.1",
        port=port,
        sender="zhixing@company.example",
        security="none",
        timeout_s=1,
    )
    return EmailSkill(settings, CLOCK)


async def test_a_message_arrives_as_it_was_confirmed(skill: EmailSkill, mailbox: Mailbox) -> None:
    result = await skill.run(skill.normalise(PARAMETERS), idempotency_key="abc123")
    assert result.state is ActionState.DONE
    [message] = mailbox.messages
    assert message["To"] == "anna@company.example"
    assert message["Cc"] == "bo@company.example"
    assert message["Subject"] == PARAMETERS["subject"]
    assert message["Message-ID"] == "<abc123@company.example>"
    assert mailbox.recipients == ["anna@company.example", "bo@company.example"]
    assert "周会改到周四 10:00。" in message.get_content()  # type: ignore[attr-defined]


async def test_the_same_key_is_the_same_message(skill: EmailSkill, mailbox: Mailbox) -> None:
    for _ in range(2):
        await skill.run(skill.normalise(PARAMETERS), idempotency_key="abc123")
    first, second = mailbox.messages
    assert first["Message-ID"] == second["Message-ID"]


async def test_a_refusal_is_failed(skill: EmailSkill, mailbox: Mailbox) -> None:
    mailbox.refuse = "552 too much mail"
    result = await skill.run(skill.normalise(PARAMETERS), idempotency_key="k")
    assert result.state is ActionState.FAILED
    assert "552" in result.text


async def test_recipients_that_are_refused_are_named(skill: EmailSkill, mailbox: Mailbox) -> None:
    mailbox.refuse_recipients = {"bo@company.example"}
    result = await skill.run(skill.normalise(PARAMETERS), idempotency_key="k")
    assert result.state is ActionState.DONE
    assert "bo@company.example" in result.text
    mailbox.refuse_recipients = {"anna@company.example", "bo@company.example"}
    result = await skill.run(skill.normalise(PARAMETERS), idempotency_key="k")
    assert result.state is ActionState.FAILED
    assert len(mailbox.messages) == 1


async def test_a_server_that_takes_it_and_says_nothing_leaves_it_unknown(
    skill: EmailSkill, mailbox: Mailbox
) -> None:
    mailbox.hang = True
    result = await skill.run(skill.normalise(PARAMETERS), idempotency_key="k")
    assert result.state is ActionState.UNKNOWN
    assert len(mailbox.messages) == 1


async def test_no_server_is_failed() -> None:
    skill = open_skill(9)
    result = await skill.run(skill.normalise(PARAMETERS), idempotency_key="k")
    assert result.state is ActionState.FAILED
    assert "refused" in result.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"to": []}, "something in 'to'"),
        ({"to": ["anna"]}, "no e-mail address"),
        ({"to": ["anna@company.example\nBcc: eve@evil.example"]}, "no e-mail address"),
        ({"to": ["Anna <anna@company.example>"]}, "no e-mail address"),
        ({"to": [7]}, "addresses are a list of texts"),
        ({"subject": " "}, "something in 'subject'"),
        ({"subject": "x" * 500}, "400 are allowed"),
        ({"body": ""}, "something in 'body'"),
        ({"body": 3}, "is a text"),
        ({"bcc": ["eve@evil.example"]}, "has no 'bcc'"),
        ({"to": [f"u{n}@company.example" for n in range(MOST_RECIPIENTS + 1)]}, "50 addresses"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_once(
    changes: dict[str, JsonValue], message: str
) -> None:
    with pytest.raises(PermanentError, match=message):
        open_skill(25).normalise({**PARAMETERS, **changes})


def test_equal_messages_are_equal_whoever_wrote_them() -> None:
    skill = open_skill(25)
    sloppy: dict[str, JsonValue] = {
        **PARAMETERS,
        "to": " anna@company.example ",
        "cc": ["bo@company.example", "anna@company.example", "bo@company.example"],
        "subject": "周会改期\n Meeting   moved",
    }
    assert skill.normalise(sloppy) == skill.normalise(PARAMETERS)


def test_another_sender_is_another_action() -> None:
    one = EmailSkill(MailSettings(host="a", sender="x@company.example"), CLOCK)
    two = EmailSkill(MailSettings(host="a", sender="y@company.example"), CLOCK)
    assert one.definition_hash != two.definition_hash


@pytest.mark.parametrize(
    ("domains", "is_let_through"),
    [
        ((), True),
        (("company.example",), True),
        (("Company.Example",), True),
        (("*.company.example",), False),
        (("other.example",), False),
        (("pany.example",), False),
    ],
)
def test_settings_say_where_mail_may_go(
    domains: tuple[str, ...],
    *,
    is_let_through: bool,
) -> None:
    settings = MailSettings(host="a", sender="x@company.example", allowed_domains=domains)
    found = check_email(PARAMETERS, settings)
    assert [one.flaw for one in found.problems] == ([] if is_let_through else [Flaw.DOMAIN] * 2)
    assert {one.field for one in found.problems} <= {"to", "cc"}


def test_a_star_stands_for_what_is_below_a_domain() -> None:
    settings = MailSettings(host="a", sender="x@a.example", allowed_domains=("*.a.example",))
    for address, is_wrong in (
        ("u@b.a.example", False),
        ("u@a.example", True),
        ("u@ba.example", True),
    ):
        found = check_email({**PARAMETERS, "to": [address], "cc": []}, settings)
        assert bool(found.problems) is is_wrong


def test_narrower_settings_make_another_action_of_it() -> None:
    one = EmailSkill(MailSettings(host="a", sender="x@company.example"), CLOCK)
    two = EmailSkill(
        MailSettings(host="a", sender="x@company.example", allowed_domains=("a.example",)), CLOCK
    )
    assert one.definition_hash != two.definition_hash


def test_addresses_outside_of_the_company_are_told_apart() -> None:
    settings = MailSettings(host="a", sender="zhixing@company.example")
    assert not is_outside("Anna@Company.Example", settings)
    assert is_outside("anna@company.example.evil.example", settings)
    assert is_outside("anna@evilcompany.example", settings)
