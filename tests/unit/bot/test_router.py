import pytest

from bot.router import Route, route_question


@pytest.mark.parametrize(
    "text",
    [
        "你好",
        "你好呀！",
        "Hi",
        "hello there!",
        "Good morning",
        "谢谢",
        "好的，谢谢啦~",
        "Thanks, that helped!",
        "thank you so much",
        "再见",
        "你是谁？",
        "Who are you?",
        "OK",
        "明白了",
        "辛苦了",
        "你是谁？能做什么？",
    ],
)
def test_small_talk_stays_small_talk(text: str) -> None:
    assert route_question(text).route is Route.CHITCHAT


@pytest.mark.parametrize("text", ["help", "帮助", "What can you do?", "你能做什么？", "怎么用"])
def test_help_is_help(text: str) -> None:
    assert route_question(text).route is Route.HELP


@pytest.mark.parametrize(
    "text",
    [
        "你好，请问年假有几天？",
        "Hi, how do I reset my VPN password?",
        "谢谢信要寄给谁？",
        "好的代码规范是什么？",
        "How do I thank a customer?",
        "K8-023",
        "who are you supposed to call first?",
        "Good practice for backups?",
        "帮助中心的地址是什么",
        "早上几点上班",
    ],
)
def test_a_question_that_begins_politely_is_still_a_question(text: str) -> None:
    assert route_question(text).route is Route.FAQ


@pytest.mark.parametrize("text", ["", "？？？", "...", "👍"])
def test_nothing_to_go_by_is_asked_back(text: str) -> None:
    assert route_question(text).route is Route.CLARIFY
