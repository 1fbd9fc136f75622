import pytest

from bot.routing import Route, Routing
from bot.routing.rules import find_command, find_small_talk


def _find(text: str) -> Route | None:
    routing: Routing | None = find_small_talk(text)
    return None if routing is None else routing.route


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
    assert _find(text) is Route.CHITCHAT


@pytest.mark.parametrize("text", ["help", "帮助", "What can you do?", "你能做什么？", "怎么用"])
def test_help_is_help(text: str) -> None:
    assert _find(text) is Route.HELP


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
    assert find_small_talk(text) is None


@pytest.mark.parametrize("text", ["", "？？？", "...", "👍"])
def test_nothing_to_go_by_is_asked_back(text: str) -> None:
    assert _find(text) is Route.CLARIFY


@pytest.mark.parametrize("text", ["帮我提一个工单，打印机坏了", "Please open a ticket for it"])
def test_a_plain_request_is_an_action(text: str) -> None:
    command = find_command(text)
    assert command is not None
    assert command.route is Route.ACTION


@pytest.mark.parametrize("text", ["怎么提工单？", "How do I open a ticket?", "K8-023"])
def test_asking_how_is_no_request(text: str) -> None:
    assert find_command(text) is None
