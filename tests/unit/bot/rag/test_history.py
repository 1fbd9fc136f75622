from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from bot.rag.extractive import extract_answer
from bot.rag.history import State, build_states, choose_states, find_title_change
from bot.rag.question_type import HistoryKind
from knowledge.documents import Hit
from knowledge.ledger_records import VersionRecord
from knowledge.retrieval import Evidence
from tests.fakes.evidence import ANALYSER, ask, build_hit

FIRST = datetime(2025, 1, 5, tzinfo=UTC)
SECOND = datetime(2025, 6, 1, tzinfo=UTC)
THIRD = datetime(2026, 2, 1, tzinfo=UTC)


def build_rows(*texts: str) -> list[Hit]:
    """One passage after the other, each in force until the next."""
    moments = [FIRST, SECOND, THIRD]
    ends: list[datetime | None] = [*moments[1 : len(texts)], None]
    return [
        build_hit(text, title="Limits", version_number=n, valid_from=moments[n - 1], valid_to=end)
        for n, (text, end) in enumerate(zip(texts, ends, strict=True), 1)
    ]


async def follow(question: str, rows: Sequence[Hit]) -> list[State]:
    current = rows[-1]
    evidence = Evidence(hit=current, section_text=current.text, passages=(current,))
    asked = ask(question)
    extract = await extract_answer(asked, [evidence], ANALYSER)
    assert extract is not None
    return build_states(asked, extract.best, rows, ANALYSER)


async def test_a_statement_is_followed_through_the_versions() -> None:
    rows = build_rows("上游超时为 60 秒。", "上游超时为 45 秒。", "上游超时为 20 秒。")
    states = await follow("上游超时是多少秒？", rows)
    assert [state.values[0].text for state in states] == ["60 秒", "45 秒", "20 秒"]
    assert [state.since for state in states] == [FIRST, SECOND, THIRD]
    assert [state.until for state in states] == [SECOND, THIRD, None]
    assert [state.hit.version_number for state in states] == [1, 2, 3]


async def test_versions_that_say_the_same_are_one_state() -> None:
    rows = build_rows("上游超时为 60 秒。", "上游超时为 60 秒（默认）。", "上游超时为 20 秒。")
    states = await follow("上游超时是多少秒？", rows)
    assert [state.since for state in states] == [FIRST, THIRD]
    assert states[0].until == THIRD


@pytest.mark.parametrize(
    ("question", "head", "key", "other"),
    [
        (
            "When was the Premium availability target raised to 99.9%?",
            "| Plan | Target |",
            "Premium",
            "| Premium availability target raised to 99.9% and missed | 98% |",
        ),
        (
            "高级版的可用性目标什么时候改成 99.9% 的？",
            "| 版本 | 目标 |",
            "高级版",
            "| 高级版的可用性目标没有达到 99.9% | 98% |",
        ),
    ],
)
async def test_a_row_is_followed_by_its_key(question: str, head: str, key: str, other: str) -> None:
    rows = build_rows(*(f"{head}\n|---|---|\n| {key} | {share}% |" for share in ("99.5", "99.9")))
    missed = build_hit(f"{head}\n|---|---|\n{other}", title="Limits", valid_from=FIRST)
    asked = ask(question)
    current = rows[-1]
    evidence = Evidence(hit=current, section_text=current.text, passages=(current,))
    extract = await extract_answer(asked, [evidence], ANALYSER)
    assert extract is not None
    states = build_states(asked, extract.best, [*rows, missed], ANALYSER)
    assert [state.quote.quote.cells for state in states] == [(key, "99.5%"), (key, "99.9%")]
    assert [state.since for state in states] == [FIRST, SECOND]


async def test_other_statements_of_the_page_do_not_mix_in() -> None:
    rows = [
        *build_rows("上游超时为 60 秒。", "上游超时为 20 秒。"),
        build_hit("空闲超时为 75 秒。", title="Limits", valid_from=FIRST, position=1),
    ]
    rows = [rows[0], rows[2], rows[1]]
    states = await follow("上游超时是多少秒？", rows)
    assert [state.values[0].text for state in states] == ["60 秒", "20 秒"]


async def test_a_sentence_that_was_reworded_is_recognised_by_the_question() -> None:
    rows = build_rows(
        "Books are closed on the fifth working day.",
        "The month-end books close on working day 4.",
    )
    states = await follow("On which working day are the books closed?", rows)
    assert len(states) == 2


async def test_a_page_that_never_changed_has_no_past() -> None:
    states = await follow("上游超时是多少秒？", build_rows("上游超时为 20 秒。"))
    assert len(states) == 1
    assert choose_states(states, [HistoryKind.PREVIOUS], "以前是多少？") == []


@pytest.mark.parametrize(
    ("kind", "question", "values"),
    [
        (HistoryKind.PREVIOUS, "上游超时以前是多少？", ["45 秒", "20 秒"]),
        (HistoryKind.CHANGE_TIME, "上游超时什么时候改成 45 秒的？", ["60 秒", "45 秒"]),
        (HistoryKind.ALL_STATES, "历次分别是多少？", ["60 秒", "45 秒", "20 秒"]),
    ],
)
async def test_the_states_that_are_asked_for_are_chosen(
    kind: HistoryKind, question: str, values: list[str]
) -> None:
    rows = build_rows("上游超时为 60 秒。", "上游超时为 45 秒。", "上游超时为 20 秒。")
    chosen = choose_states(await follow("上游超时是多少秒？", rows), [kind], question)
    assert [state.values[0].text for state in chosen] == values


@pytest.mark.parametrize(
    ("moment", "values"),
    [
        (datetime(2025, 3, 31, tzinfo=UTC), ["60 秒", "20 秒"]),
        (datetime(2025, 12, 31, tzinfo=UTC), ["45 秒", "20 秒"]),
        (datetime(2026, 3, 1, tzinfo=UTC), []),
        (datetime(2024, 1, 1, tzinfo=UTC), []),
    ],
)
async def test_the_state_of_a_moment_is_told_with_that_of_today(
    moment: datetime, values: list[str]
) -> None:
    rows = build_rows("上游超时为 60 秒。", "上游超时为 45 秒。", "上游超时为 20 秒。")
    states = await follow("上游超时是多少秒？", rows)
    chosen = choose_states(states, [HistoryKind.AT], "那时是多少？", moment=moment)
    assert [state.values[0].text for state in chosen] == values


def test_a_change_of_name_is_found_when_names_are_asked_for() -> None:
    versions = [
        VersionRecord(number=1, at=FIRST, title="Release process"),
        VersionRecord(number=2, at=SECOND, title="Release process"),
        VersionRecord(number=3, at=THIRD, title="Release train"),
    ]
    change = find_title_change(versions, "这一页以前叫什么，什么时候改的名？")
    assert change is not None
    assert (change.before.title, change.after.number) == ("Release process", 3)
    assert find_title_change(versions, "上限以前是多少？") is None
    assert find_title_change(versions[:2], "What was it called before?") is None
