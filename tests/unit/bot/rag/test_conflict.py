from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from bot.rag.conflict import Disagreement, find_disagreement
from bot.rag.extractive import extract_answer
from knowledge.documents import DocumentId, Status
from knowledge.retrieval import Evidence
from tests.fakes.evidence import ANALYSER, ask, build_evidence

OLD = datetime(2026, 1, 10, tzinfo=UTC)
NEW = datetime(2026, 9, 20, tzinfo=UTC)


async def find(
    question: str, *evidence: Evidence, former: Sequence[str] = ()
) -> Disagreement | None:
    async def load_former(document_id: DocumentId) -> Sequence[str]:
        assert document_id == "wiki:New"
        return former

    asked = ask(question)
    extract = await extract_answer(asked, evidence, ANALYSER)
    assert extract is not None
    return await find_disagreement(
        asked,
        evidence,
        extract.ranked,
        ANALYSER,
        is_cross_lingual=extract.is_cross_lingual,
        former_texts=load_former,
    )


def old(text: str) -> Evidence:
    return build_evidence(text, title="Old", updated_at=OLD)


def new(text: str) -> Evidence:
    return build_evidence(text, title="New", updated_at=NEW)


@pytest.mark.parametrize(
    ("question", "one", "other", "values"),
    [
        (
            "合同原件终止后保管几年？",
            "合同原件终止后保管 15 年。",
            "合同原件由我方保管至终止后 10 年，到期销毁。",
            {"15 年", "10 年"},
        ),
        (
            "After how many minutes is an unclaimed meeting room released?",
            "An unclaimed meeting room is released after 10 minutes.",
            "A meeting room that is unclaimed is released after 15 minutes.",
            {"10 minutes", "15 minutes"},
        ),
        (
            "访客要提前多久登记？",
            "访客须提前 2 小时登记。",
            "访客提前 1 个工作日登记。",
            {"2 小时", "1 个工作日"},
        ),
        (
            "core 目录要几个人评审？",
            "| 目录 | 评审人数 |\n|---|---|\n| core | 2 人 |\n| docs | 1 人 |",
            "core 目录的改动须 1 人评审通过。",
            {"2 人", "1 人"},
        ),
    ],
)
async def test_pages_with_different_values_disagree(
    question: str, one: str, other: str, values: set[str]
) -> None:
    found = await find(question, new(one), old(other))
    assert found is not None
    assert not found.is_stale_copy
    assert found.newest.hit.title == "New"
    assert {side.value.text for side in found.sides} == values


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("合同保管几年？", "合同保管 10 年。", "合同保管十年。"),
        ("How long is leave kept?", "Leave is kept for 2 weeks.", "Leave is kept for 14 days."),
        ("P2 工单多久响应？", "P2 工单 4 小时响应。", "P3 工单 8 小时响应。"),
        ("一级系统多久恢复？", "一级系统 2 小时恢复。", "二级系统 8 小时恢复。"),
        ("住宿标准是多少？", "2025 年住宿标准 500 元。", "2026 年住宿标准 600 元。"),
        ("年假几天？", "年假 15 天。", "病假 10 天。"),
        ("试用期多久？", "试用期 3 个月。", "试用期 6 个月，特殊情况除外。"),
        ("What does the badge cost?", "The badge costs 20 dollars.", "The lunch costs 5 dollars."),
        ("比较甲公司和乙公司的注册资本", "甲公司注册资本 500 万元。", "乙公司注册资本 800 万元。"),
        ("各级别的响应时间分别是多少？", "响应时间 4 小时。", "响应时间 8 小时。"),
        ("怎么登记访客？", "访客在系统中登记。", "访客在前台登记。"),
    ],
)
async def test_what_is_about_different_things_is_no_disagreement(
    question: str, one: str, other: str
) -> None:
    assert await find(question, new(one), old(other)) is None


async def test_an_older_page_that_repeats_a_former_value_is_a_stale_copy() -> None:
    found = await find(
        "上游超时是多少秒？",
        old("上游超时为 60 秒。"),
        new("上游超时为 20 秒。"),
        former=["上游超时为 45 秒。", "上游超时为 60 秒，空闲超时为 75 秒。"],
    )
    assert found is not None
    assert found.is_stale_copy
    assert found.newest.value.text == "20 秒"
    assert [side.value.text for side in found.sides[1:]] == ["60 秒"]


async def test_a_value_the_newer_page_never_gave_is_a_conflict() -> None:
    found = await find(
        "上游超时是多少秒？",
        old("上游超时为 90 秒。"),
        new("上游超时为 20 秒。"),
        former=["上游超时为 60 秒。空闲超时为 90 秒。"],
    )
    assert found is not None
    assert not found.is_stale_copy


async def test_archived_and_former_text_is_not_compared() -> None:
    archived = build_evidence(
        "上游超时为 60 秒。", title="Old", updated_at=OLD, status=Status.ARCHIVED
    )
    assert await find("上游超时是多少秒？", new("上游超时为 20 秒。"), archived) is None
    closed = build_evidence("上游超时为 60 秒。", title="Old", updated_at=OLD, valid_to=NEW)
    assert await find("上游超时是多少秒？", new("上游超时为 20 秒。"), closed) is None


async def test_two_places_of_one_page_do_not_disagree() -> None:
    one = build_evidence("上游超时为 60 秒。", title="New", updated_at=NEW)
    assert await find("上游超时是多少秒？", new("上游超时为 20 秒。"), one) is None


async def test_pages_in_another_language_are_compared_with_one_another() -> None:
    found = await find(
        "How long may a meeting room be booked?",
        new("会议室每次最多预订 2 小时。"),
        old("会议室一次最多可预订 3 小时。"),
    )
    assert found is not None
    assert {side.value.text for side in found.sides} == {"2 小时", "3 小时"}
