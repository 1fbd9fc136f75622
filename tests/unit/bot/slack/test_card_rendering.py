"""Cards, forms and the App Home: against golden files, within Slack's limits, nothing cut."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.actions import ActionId, ActionState, PendingAction
from bot.handlers.slack.card_rendering import CardView, read_value, render_card
from bot.handlers.slack.channel_form import build_channel_form, read_channel_form
from bot.handlers.slack.home_rendering import HomeView, OpenAction, render_home
from bot.handlers.slack.mail_form import (
    FormMemory,
    build_mail_form,
    read_command,
    read_mail_form,
)
from bot.handlers.slack.rendering import SlackMessage
from bot.handlers.slack.status import render_status
from bot.inbox.questions import Question, QuestionState
from bot.preferences.store import ChannelChoice, ReplyMode
from bot.rag.language import Language
from knowledge.people import Person, PersonId
from playground.slack.blocks import check_message_blocks, check_view_blocks
from playground.slack.choices import build_state, list_elements
from playground.slack.workspace import Message
from tests.unit.bot.slack.mailing import buttons_of

GOLDEN = Path(__file__).parent / "golden"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
NAMES = {"kit": "柯特", "mo": "莫岚 <!channel>"}
ACTION = PendingAction(
    action_id=ActionId("a" * 32),
    skill="send_email",
    parameters={
        "to": ["su.qin@nimbus.example", "x@else.example"],
        "cc": [],
        "subject": "周会改期 <!here> *bold*",
        "body": "第一行\n<https://evil.example|bank> \u202eabc :smile: &amp;",
    },
    skill_hash="s",
    asker="kit",
    place="dm",
    deciders=frozenset({"kit"}),
    nonce="n" * 32,
    idempotency_key="k",
    from_pages=frozenset({"to"}),
    created_at=START,
    expires_at=START + timedelta(minutes=30),
    state=ActionState.PENDING,
)
RESULTS = {
    ActionState.DONE: "250 taken",
    ActionState.FAILED: "the mail server said 552 too much mail",
    ActionState.UNKNOWN: "no reply in time",
}
SECOND = replace(ACTION, deciders=frozenset({"mo"}), from_pages=frozenset())


def view(action: PendingAction, language: Language = "zh", viewer: str = "kit") -> CardView:
    return CardView(
        action=action, names=NAMES, outside={"x@else.example"}, viewer=viewer, language=language
    )


CARDS: dict[str, CardView] = {
    **{
        f"card-{state}-{language}": view(
            replace(
                ACTION,
                state=state,
                decided_by="" if state in {ActionState.PENDING, ActionState.EXPIRED} else "kit",
                result=RESULTS.get(state, ""),
            ),
            "zh" if language == "zh" else "en",
        )
        for state in ActionState
        for language in ("zh", "en")
    },
    "card-second-asker": view(SECOND),
    "card-second-decider": view(SECOND, viewer="mo"),
    "card-second-channel": view(SECOND, "en", viewer=""),
    "card-other-skill": view(
        replace(ACTION, skill="create_ticket", parameters={"queue": "IT", "priority": 2, "to": []})
    ),
}


def as_json(messages: list[SlackMessage]) -> list[dict[str, object]]:
    return [{"text": one.text, "blocks": list(one.blocks)} for one in messages]


@pytest.mark.parametrize("name", CARDS)
def test_cards_look_as_written_down(name: str) -> None:
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert as_json(render_card(CARDS[name])) == expected


@pytest.mark.parametrize("name", CARDS)
def test_slack_takes_every_card(name: str) -> None:
    for message in render_card(CARDS[name]):
        check_message_blocks(list(message.blocks))


def plain_of(messages: list[SlackMessage]) -> str:
    """Return what stands in a card's values."""
    return "".join(
        str(block["text"]["text"])
        for message in messages
        for block in message.blocks
        if block["type"] == "section" and block["text"]["type"] == "plain_text"
    )


@given(st.text(alphabet="ab <>&!@长。\n", min_size=1, max_size=60), st.integers(1, 1_500))
def test_a_value_of_any_length_is_shown_whole_and_stays_where_it_is(text: str, times: int) -> None:
    body = text * times
    pending = render_card(view(replace(ACTION, parameters={**ACTION.parameters, "body": body})))
    assert body in plain_of(pending)
    for message in pending:
        check_message_blocks(list(message.blocks))
    done = replace(
        ACTION,
        parameters={**ACTION.parameters, "body": body},
        state=ActionState.DONE,
        result="x" * 5_000,
        decided_by="kit",
    )
    later = render_card(view(done))
    for message in later:
        check_message_blocks(list(message.blocks))
    assert later[:-1] == pending[:-1]


def test_nothing_on_a_card_rings_or_hides() -> None:
    text = json.dumps(as_json(render_card(view(replace(ACTION, asker="mo")))), ensure_ascii=False)
    assert "\u202e" not in text
    assert "[U+202E]" in text
    for message in render_card(view(replace(ACTION, asker="mo"))):
        for block in message.blocks:
            for part in (block.get("text"), *(block.get("elements") or ())):
                if isinstance(part, dict) and part.get("type") == "mrkdwn":
                    assert "<!channel" not in part["text"]
                    assert "<!here" not in part["text"]


def test_buttons_carry_id_and_nonce_and_nothing_else() -> None:
    [message] = render_card(view(ACTION))
    values = {one["value"] for one in message.blocks[-1]["elements"]}
    assert values == {f"{ACTION.action_id}.{ACTION.nonce}"}
    assert read_value(values.pop()) == (ACTION.action_id, ACTION.nonce)


@pytest.mark.parametrize(
    ("line", "to", "subject"),
    [
        ("", [], ""),
        ("a@b.example", ["a@b.example"], ""),
        ("a@b.example, c@d.example Hello there", ["a@b.example", "c@d.example"], "Hello there"),
        ("a@b.example；c@d.example 周会 改期", ["a@b.example", "c@d.example"], "周会 改期"),
        ("<mailto:a@b.example|a@b.example> Hi", ["a@b.example"], "Hi"),
        ("Hello a@b.example", [], "Hello a@b.example"),
    ],
)
def test_the_command_names_recipients_and_subject(line: str, to: list[str], subject: str) -> None:
    assert read_command(line) == (to, subject)


@given(st.text(alphabet="ab 长\n", min_size=1, max_size=40), st.integers(1, 600))
def test_a_text_of_any_length_goes_through_the_form_unchanged(text: str, times: int) -> None:
    body = text * times
    memory = FormMemory(draft="d", action="a", nonce="n", purpose="edit", language="en")
    form = build_mail_form(memory, {**ACTION.parameters, "body": body})
    check_view_blocks(form["blocks"])
    assert len(form["private_metadata"]) < 3_000
    state = {"values": build_state(form["blocks"], {})}
    found, values = read_mail_form({**form, "state": state})
    assert found.purpose == "edit"
    assert values["body"] == body
    assert values["to"] == ACTION.parameters["to"]


def question(text: str, number: int) -> Question:
    return Question(
        question_id=str(number),
        channel="C1",
        ts=f"{number}.0",
        thread="",
        account="U1",
        text=text,
        is_direct=number % 2 == 0,
        accepted_at=START,
        state=QuestionState.DONE,
        attempts=1,
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_slack_takes_a_home_however_full(language: Language) -> None:
    person = Person(
        person_id=PersonId("kit"), name="柯" * 400, email="k@x.example", title="x" * 900
    )
    home = render_home(
        HomeView(
            person=person,
            groups=[f"group {number} {'长' * 50}" for number in range(200)],
            questions=[question("<!channel> <@U1> & 长" * 300, number) for number in range(50)],
            actions=[OpenAction(action=ACTION, url="https://x.example/p1")] * 50,
            language=language,
            choice="auto",
            is_admin=True,
            command="/kb",
            now=START,
            notice="saved",
        )
    )
    check_view_blocks(home["blocks"])
    assert "<!channel" not in json.dumps(home)
    assert "<@U1" not in json.dumps(home)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("mode", ReplyMode)
def test_the_channel_form_reads_back_what_it_shows(language: Language, mode: ReplyMode) -> None:
    choice = ChannelChoice(
        bases=("hr",),
        reply_mode=mode,
        has_private_answers=mode is ReplyMode.THREADS,
        language="en",
        people_to_call=("U1", "U2"),
    )
    names = ["hr", "files", *(f"b{number}" for number in range(150))]
    form = build_channel_form("C1", choice, bases=names, language=language)
    check_view_blocks(form["blocks"])
    state: dict[str, Any] = {"values": build_state(form["blocks"], {})}
    memory, found = read_channel_form({**form, "state": state})
    assert (memory.channel, found) == ("C1", choice)
    assert list(list_elements(form["blocks"]))


def test_without_a_source_that_is_said() -> None:
    assert render_status([], language="en", now=START).text.startswith("No source")


def test_only_buttons_that_may_be_pressed_are_there() -> None:
    shown = {
        name: buttons_of(
            Message(ts="1", channel="D", user="U", blocks=list(render_card(card)[-1].blocks))
        )
        for name, card in CARDS.items()
    }
    assert shown["card-done-zh"] == shown["card-running-en"] == shown["card-replaced-zh"] == set()
    assert shown["card-second-asker"] == {"action_edit", "action_cancel"}
    assert shown["card-second-decider"] == {"action_confirm", "action_cancel"}
    assert shown["card-other-skill"] == {"action_confirm", "action_cancel"}


def test_a_skill_out_of_a_file_is_called_as_the_file_says() -> None:
    action = replace(
        ACTION,
        skill="order_chair",
        parameters={"count": 2, "place": "3F", "note": "x"},
        state=ActionState.UNKNOWN,
        from_pages=frozenset(),
    )
    card = CardView(
        action=action,
        title="订椅子 <!here>",
        labels={"place": "放哪里 *粗*", "count": ""},
        is_traceable=True,
        viewer="kit",
        language="zh",
    )
    [message] = render_card(card)
    check_message_blocks(list(message.blocks))
    text = json.dumps(message.blocks, ensure_ascii=False)
    assert "<!here>" not in text
    assert text.index("放哪里") < text.index("*count*") < text.index("*note*")
    assert "可能已经办成" in text
    shown = Message(ts="1", channel="D", user="U", blocks=list(message.blocks))
    assert "action_check_again" in buttons_of(shown)
