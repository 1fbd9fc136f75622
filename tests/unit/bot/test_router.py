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
        "你是谁呀，会干啥",
        "How are you today?",
        "hey, what's up",
        "最近怎么样",
        "加班太累了",
        "唉，今天好烦啊",
        "I'm so tired today",
        "Tell me a joke about printers",
        "讲个程序员的笑话吧",
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
        "太忙了怎么申请调休？",
        "I am tired of VPN errors, how do I reset it?",
        "机房太热了怎么办",
        "How are you supposed to file a claim?",
        "最近怎么样申请补贴",
        "讲个项目的背景",
        "Tell me a contact in finance",
    ],
)
def test_a_question_that_begins_politely_is_still_a_question(text: str) -> None:
    assert route_question(text).route is Route.FAQ


@pytest.mark.parametrize("text", ["", "？？？", "...", "👍"])
def test_nothing_to_go_by_is_asked_back(text: str) -> None:
    assert route_question(text).route is Route.CLARIFY
