from datetime import UTC, datetime

import pytest

from bot.rag.language import detect_language, is_chinese
from bot.rag.question_type import (
    AnswerType,
    HistoryKind,
    analyse_question,
    build_search_words,
)
from bot.rag.values import ValueKind


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("年假能结转几天？", "zh"),
        ("那个 contract 的 amount 是多少？", "zh"),
        ("新 service 上线前 rollback 演练怎么写", "zh"),
        ("How many days of leave can I carry over?", "en"),
        ("What does 「船票」 mean?", "en"),
        ("差旅标准", "zh"),
        ("VPN", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_that_of_the_sentence(question: str, language: str) -> None:
    assert detect_language(question) == language


def test_running_text_is_judged_by_its_mass() -> None:
    assert is_chinese("在 Kafka 中积压超过 200 万条即告警")
    assert not is_chinese("The page 值班表 lists who is on call this week")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("一线城市酒店多少钱一晚？", AnswerType.MONEY),
        ("What does the standard plan cost?", AnswerType.MONEY),
        ("赔付上限是月费的百分之几？", AnswerType.PERCENT),
        ("年假能结转几天？", AnswerType.DURATION),
        ("How long is the probation period?", AnswerType.DURATION),
        ("How many working days does it take?", AnswerType.DURATION),
        ("每周几点开始值班？", AnswerType.TIME),
        ("证书什么时候到期？", AnswerType.DATE),
        ("When does the freeze begin?", AnswerType.DATE),
        ("谁负责审批？", AnswerType.PERSON),
        ("Who approves expenses?", AnswerType.PERSON),
        ("档案放在哪里？", AnswerType.PLACE),
        ("最多几个人参加？", AnswerType.NUMBER),
        ("How many people fit in?", AnswerType.NUMBER),
        ("报错时用哪个错误码？", AnswerType.CODE),
        ("回滚用什么命令？", AnswerType.COMMAND),
        ("怎么申请 VPN？", AnswerType.HOW_TO),
        ("How do I reset my password?", AnswerType.HOW_TO),
        ("为什么要限速？", AnswerType.REASON),
        ("需要哪些材料？", AnswerType.LIST),
        ("可以远程办公吗？", AnswerType.YES_NO),
        ("Can I work from home?", AnswerType.YES_NO),
        ("船票是什么？", AnswerType.DEFINITION),
    ],
)
def test_the_wording_tells_the_type_of_the_answer(question: str, expected: AnswerType) -> None:
    assert analyse_question(question).types[0] is expected


def test_a_question_with_two_parts_has_two_types() -> None:
    analysis = analyse_question("Who approves it, and how much notice is needed?")
    assert analysis.asks_for(AnswerType.PERSON)
    assert analysis.asks_for(AnswerType.DURATION)


def test_value_questions_name_the_kinds_of_values() -> None:
    assert analyse_question("提前几天申请？").value_kinds == {ValueKind.DURATION}
    assert analyse_question("怎么申请？").value_kinds == frozenset()


@pytest.mark.parametrize(
    "question",
    [
        "A 和 B 有什么区别？",
        "哪家公司更早？",
        "Compare plan A and plan B",
        "Is it Monday or Friday?",
    ],
)
def test_comparisons_are_seen(question: str) -> None:
    assert analyse_question(question).is_comparison


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("上限以前是多少？", HistoryKind.PREVIOUS),
        ("What was the limit before it was raised?", HistoryKind.PREVIOUS),
        ("上限什么时候改的？", HistoryKind.CHANGE_TIME),
        ("When was the limit changed?", HistoryKind.CHANGE_TIME),
        ("历次价格分别是多少？", HistoryKind.ALL_STATES),
        ("Has it always been 5 minutes? List the earlier values.", HistoryKind.ALL_STATES),
    ],
)
def test_questions_about_the_past_are_seen(question: str, kind: HistoryKind) -> None:
    assert kind in analyse_question(question).history


def test_as_of_looks_back_to_the_end_of_the_period() -> None:
    month = analyse_question("As of June 2025, what was the limit?")
    assert HistoryKind.AS_OF in month.history
    assert month.as_of == datetime(2025, 6, 30, 23, 59, 59, tzinfo=UTC)
    day = analyse_question("截至 2025 年 6 月 15 日，上限是多少？")
    assert day.as_of == datetime(2025, 6, 15, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize("question", ["年末变更冻结从哪天到哪天？", "上限是多少？", "怎么改密码？"])
def test_questions_about_today_have_no_history(question: str) -> None:
    analysis = analyse_question(question)
    assert analysis.history == ()
    assert analysis.as_of is None


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("上游超时以前是多少秒？", "上游超时 是多少秒？"),
        ("What was the limit before it was raised?", "What the limit it ?"),
        ("上游超时是多少秒？", "上游超时是多少秒？"),
        ("以前呢？", "以前呢？"),
    ],
)
def test_a_question_about_the_past_is_searched_by_its_subject(question: str, words: str) -> None:
    assert build_search_words(question, analyse_question(question)) == words
