"""Answers as Slack messages: against golden files, Slack's own limits, and whole."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chat_texts import describe_age, get_chat_texts
from bot.handlers.slack.neutral import neutralise
from bot.handlers.slack.rendering import (
    TEXT_BYTES,
    SlackMessage,
    render_answer,
    render_plain,
    render_private,
    split_bytes,
)
from bot.handlers.slack.splitting import TABLE_COLUMNS, TABLE_ROWS, split_markdown
from core.messages import Answer, Outcome
from playground.slack.blocks import check_message_blocks
from tests.unit.bot.slack.answers import ANSWERS, CODE, NOW, TABLE, WIDE_TABLE, cite

GOLDEN = Path(__file__).parent / "golden"
_RULE = re.compile(r"^\|[\s|:-]+\|$", re.MULTILINE)


def as_json(messages: list[SlackMessage]) -> list[dict[str, object]]:
    return [{"text": one.text, "blocks": list(one.blocks)} for one in messages]


def render(name: str) -> list[SlackMessage]:
    answer, language = ANSWERS[name]
    chosen = "zh" if language == "zh" else "en"
    return render_answer(answer, question_id="q1", language=chosen, now=NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_look_as_written_down(name: str) -> None:
    expected = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert as_json(render(name)) == expected


@pytest.mark.parametrize("name", ANSWERS)
def test_slack_takes_every_message(name: str) -> None:
    for message in render(name):
        check_message_blocks(list(message.blocks))
        assert len(message.text.encode()) <= TEXT_BYTES
        assert len(_RULE.findall(str(message.blocks))) <= 1


@pytest.mark.parametrize("name", ["tables", "code", "mentions"])
def test_without_blocks_the_same_is_said_as_plain_text(name: str) -> None:
    plain = render_plain(render(name))
    assert all(not one.blocks and len(one.text.encode()) <= TEXT_BYTES for one in plain)
    said = "".join(one.text for one in plain)
    for word in ("城市149", "值23", "完") if name == "tables" else ():
        assert word in said
    assert "<" not in said


def test_a_private_answer_says_that_it_is_private() -> None:
    answer, _ = ANSWERS["cited-en-private"]
    [message] = render_private(answer.private_answer or "", language="en")
    check_message_blocks(list(message.blocks))
    assert "Only you can see this" in str(message.blocks[0])
    assert "150 EUR" in str(message.blocks[1])


def test_a_long_answer_goes_on_in_further_messages_and_nothing_is_lost() -> None:
    paragraphs = [f"第 {n} 段。" + "内容很长" * 60 for n in range(120)]
    answer = Answer(
        outcome=Outcome.ANSWERED, text="\n\n".join(paragraphs), citations=(cite(1, "长文"),)
    )
    messages = render_answer(answer, question_id="q1", language="zh", now=NOW)
    assert len(messages) > 2
    said = "\n\n".join(str(one.blocks[0]["text"]) for one in messages)
    assert all(paragraph in said for paragraph in paragraphs)
    assert [len(one.blocks) for one in messages] == [1] * (len(messages) - 1) + [2]


def test_a_long_table_repeats_its_header_and_a_wide_one_becomes_lists() -> None:
    pieces = split_markdown(f"{TABLE}\n\n{WIDE_TABLE}", 10_000)
    assert len(pieces) == 2
    for piece in pieces:
        assert piece.startswith("| 城市 | 上限 |\n| --- | --- |")
        assert sum("元" in line for line in piece.splitlines()) <= TABLE_ROWS
    assert "- 列0: 值0\n  - 列1: 值1" in pieces[-1]
    assert WIDE_TABLE.splitlines()[0].count("|") > TABLE_COLUMNS


def test_code_is_closed_and_opened_again_where_it_is_cut() -> None:
    pieces = split_markdown(CODE, 300)
    assert len(pieces) > 1
    assert all(piece.startswith("```bash\n") and piece.endswith("\n```") for piece in pieces)
    lines = [line for piece in pieces for line in piece.splitlines()[1:-1]]
    assert lines == CODE.splitlines()[1:-1]


def test_a_header_longer_than_a_message_is_still_said() -> None:
    table = f"| {'a' * 50} | b |\n| --- | --- |\n| 1 | 2 |"
    pieces = split_markdown(table, 40)
    assert "".join(pieces).replace("\n", "") == table.replace("\n", "")


@given(st.text(alphabet="ab 。.\n长`|-#*<!@", max_size=400), st.integers(20, 60))
def test_pieces_fit_and_lose_no_character(text: str, limit: int) -> None:
    pieces = split_markdown(text, limit)
    assert all(len(piece) <= limit for piece in pieces)
    if "`" not in text and "|" not in text:
        assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.text(alphabet="ab&;长\n ", max_size=300), st.integers(12, 40))
def test_plain_pieces_fit_and_lose_nothing(text: str, limit: int) -> None:
    pieces = split_bytes(text, limit)
    assert all(len(piece.encode()) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.text(alphabet="<!@#>|: aU1\nhttps/.", max_size=80))
def test_nothing_rings_or_disguises_a_link(text: str) -> None:
    harmless = neutralise(text)
    assert not re.search(r"<[!@#]", harmless)
    assert not re.search(r"<[a-z]+:[^>\n]*\|", harmless)


def test_ages_are_told_in_both_languages() -> None:
    ages = {0: "today", 1: "yesterday", 20: "20 days ago", 60: "2 months ago", 800: "2 years ago"}
    for days, said in ages.items():
        assert describe_age(cite(1, "a", days=days).updated_at, NOW, get_chat_texts("en")) == said
    assert describe_age(cite(1, "a", days=40).updated_at, NOW, get_chat_texts("zh")) == "40 天前"
