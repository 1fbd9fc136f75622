"""What counts as a request to do something, and what is only a question about it."""

import pytest

from bot.agent.planning.email_words import read_email_request
from bot.agent.planning.requests import RequestKind, asks_for_action, find_request, is_conditional


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("帮我给林夏发封邮件，说周四的会改到 15:00。", RequestKind.EMAIL),
        ("写封邮件通知仓库的同事，明天盘点。", RequestKind.EMAIL),
        ("Please email Tom that the truck is late.", RequestKind.EMAIL),
        ("Could you send an email to Eva saying the boxes have arrived?", RequestKind.EMAIL),
        ("Write to the night shift: gate 4 stays closed.", RequestKind.EMAIL),
        ("打印机卡纸了，帮我提个工单", RequestKind.TICKET),
        ("空调漏水，报修一下", RequestKind.TICKET),
        ("The scanner is broken, please open a ticket.", RequestKind.TICKET),
        ("My badge stopped working. File it.", RequestKind.TICKET),
        ("催一下采购", RequestKind.REMINDER),
        ("Remind Tom to sign the sheet.", RequestKind.REMINDER),
    ],
)
def test_requests_are_recognised(text: str, kind: RequestKind) -> None:
    found = find_request(text)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "怎么提工单？",
        "发邮件的格式要求是什么样的，如何写？",
        "谁负责发送周报邮件？",
        "How do I open a ticket?",
        "Who sends the e-mail about the audit?",
        "Where should I file a ticket?",
        "What does the mail policy say?",
        "我的邮箱满了吗",
        "When was the ticket closed?",
    ],
)
def test_questions_about_mails_and_tickets_ask_for_nothing(text: str) -> None:
    assert not asks_for_action(text)


@pytest.mark.parametrize(
    ("text", "who", "what"),
    [
        ("给林夏发封邮件，说周四的会改到 15:00。", "林夏", "周四的会改到 15:00"),
        ("发邮件给林夏，内容是盘点推迟一天。", "林夏", "盘点推迟一天"),
        ("Please email Tom and Eva that the truck is late.", "Tom and Eva", "the truck is late."),
        (
            "Write to the night shift: gate 4 stays closed.",
            "the night shift",
            "gate 4 stays closed.",
        ),
        ("Send Tom the floor plan.", "Tom", "the floor plan."),
    ],
)
def test_an_email_request_is_cut_into_whom_and_what(text: str, who: str, what: str) -> None:
    request = find_request(text)
    assert request is not None
    words = read_email_request(text, request)
    assert (words.who, words.what) == (who, what)


def test_written_addresses_are_taken_out_of_the_words() -> None:
    text = "Send Mia (mia@partner.example) the price list."
    request = find_request(text)
    assert request is not None
    words = read_email_request(text, request)
    assert words.addresses == ("mia@partner.example",)
    assert words.what == "the price list."


@pytest.mark.parametrize(
    "text", ["如果还没批就催一下", "If it is late, remind Tom.", "到了的话告诉我"]
)
def test_conditions_are_noticed(text: str) -> None:
    assert is_conditional(text)
