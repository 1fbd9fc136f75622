import pytest

from bot.rag.ambiguity import find_options, names_nothing
from bot.rag.extractive import extract_answer
from tests.fakes.evidence import ANALYSER, ask, build_evidence

TABLE = build_evidence(
    "| 层 | 参数 | 默认值 |\n|---|---|---|\n| 网关 | 上游超时 | 20 秒 |\n"
    "| 缓存 | 单次超时 | 3 秒 |\n| 数据库 | 查询超时 | 5 秒 |",
    title="服务标准",
)


async def find(question: str) -> list[str]:
    asked = ask(question)
    extract = await extract_answer(asked, [TABLE], ANALYSER)
    assert extract is not None
    return find_options(asked, extract.ranked, ANALYSER)


@pytest.mark.parametrize("question", ["How many days do I get?", "多少钱？", "需要几天时间？"])
def test_a_measure_of_nothing_is_not_a_question_yet(question: str) -> None:
    assert names_nothing(question, ANALYSER)


@pytest.mark.parametrize("question", ["How many days of leave do I get?", "年假几天？", "VPN"])
def test_a_question_with_a_subject_is_one(question: str) -> None:
    assert not names_nothing(question, ANALYSER)


async def test_rows_that_answer_equally_well_are_offered() -> None:
    assert await find("超时设的是多少？") == ["网关", "缓存", "数据库"]


@pytest.mark.parametrize(
    "question",
    [
        "网关超时是多少？",
        "各层的超时分别是多少？",
        "服务标准里数据库查询的超时上限现在是多少秒？",
    ],
)
async def test_a_question_that_says_which_one_is_answered(question: str) -> None:
    assert await find(question) == []
