import pytest

from bot.memory.follow_ups import resolve_follow_up
from bot.memory.leaning import leans_on_earlier


@pytest.mark.parametrize(
    "question",
    [
        "那权限呢？",
        "武汉呢？",
        "那要在什么时候之前用完？",
        "它怎么申请？",
        "要换哪个备件？",
        "And for contractors?",
        "What about Lisbon?",
        "How is it requested?",
        "And which version of the client do I need?",
        "why?",
    ],
)
def test_a_follow_up_is_recognised(question: str) -> None:
    assert leans_on_earlier(question)


@pytest.mark.parametrize(
    "question",
    [
        "年假最多能结转几天到明年？",
        "What is the hotel limit in Lisbon in August?",
        "Which servers that we use for backups are in Wuhan?",
        "数据库主从切换之前复制延迟要低于多少？",
    ],
)
def test_a_whole_question_stands_on_its_own(question: str) -> None:
    assert not leans_on_earlier(question)
    assert resolve_follow_up(question, "别的问题是什么？").question == question


def test_the_matter_of_the_last_turn_is_put_in_front() -> None:
    assert (
        resolve_follow_up("那谁来批呢？", "年假能结转几天？").question
        == "年假能结转几天，那谁来批呢？"
    )
    assert (
        resolve_follow_up("And who signs it?", "How many days of leave are there?").question
        == "How many days of leave are there. And who signs it?"
    )


def test_the_first_question_has_nothing_to_lean_on() -> None:
    assert resolve_follow_up("那权限呢？", "").question == "那权限呢？"


@pytest.mark.parametrize(
    ("earlier", "question", "understood"),
    [
        ("L4 的薪酬带宽上限是多少？", "那 L5 呢？", "L5 的薪酬带宽上限是多少？"),
        ("What does K7-031 mean?", "And K8-023?", "What does K8-023 mean?"),
        ("Who answers a P1?", "what about p2?", "Who answers a p2?"),
    ],
)
def test_another_code_of_the_kind_takes_the_place_of_the_earlier_one(
    earlier: str, question: str, understood: str
) -> None:
    assert resolve_follow_up(question, earlier).question == understood


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        ("L4 和 L5 的差别是什么？", "那 L6 呢？"),
        ("L4 的薪酬带宽上限是多少？", "那 TJ-214 呢？"),
        ("L4 的薪酬带宽上限是多少？", "那 L5 的休假呢？"),
    ],
)
def test_a_code_that_replaces_nothing_for_certain_is_asked_beside_the_earlier_question(
    earlier: str, question: str
) -> None:
    assert resolve_follow_up(question, earlier).question == f"{earlier.rstrip('？')}，{question}"
