import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.arguments import read_arguments
from bot.agent.dates_said import read_day, read_moment
from bot.agent.written_calls import read_written_calls
from core.errors import ToolRetryError

# A Monday.
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
NAMES = frozenset({"search_docs", "get_page", "calculate"})


def schema(*required: str, **properties: Any) -> Any:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def read(raw: object, one: Any) -> Any:
    text = raw if isinstance(raw, str) else json.dumps(raw)
    return read_arguments(text, one, NOW)


@pytest.mark.parametrize(
    "raw",
    [
        '{"query": "leave"}',
        '{"Query ": " leave "}',
        "{'query': 'leave',}",
        "{“query”：“leave”}",
        '{"arguments": {"query": "leave"}}',
        '[{"query": "leave"}]',
        '"{\\"query\\": \\"leave\\"}"',
        "leave",
        '{"question": "leave"}',
        '{"query": ["leave"], "space": null}',
        '{"query": "leave", "space": ""}',
    ],
)
def test_arguments_are_understood_however_they_are_written(raw: str) -> None:
    one = schema("query", query={"type": "string"}, space={"type": "string"})
    assert read(raw, one) == {"query": "leave"}


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("30 万", 300_000),
        ("3.2 million", 3_200_000),
        ("1,200", 1200),
        ("１２００ 元", 1200),
        ("三十", 30),
        ("15 days", 15),
        ("三天", 3),
        ("2.5 小时", 2.5),
        ("-4", -4),
        (7.0, 7),
        ("2.5", 2.5),
    ],
)
def test_numbers_are_read_with_their_units(said: object, number: float) -> None:
    assert read({"n": said}, schema("n", n={"type": "number"})) == {"n": number}


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-12-28", "2026-12-28"),
        ("2026/1/5", "2026-01-05"),
        ("12 月 28 日", "2026-12-28"),
        ("1 月 3 日", "2027-01-03"),
        ("28 Dec 2026", "2026-12-28"),
        ("Jan 3rd", "2027-01-03"),
        ("二〇二六年十二月一日", "2026-12-01"),
        ("明天", "2026-12-01"),
        ("Tomorrow", "2026-12-01"),
        ("３天后", "2026-12-03"),
        ("in two weeks", "2026-12-14"),
        ("3 days ago", "2026-11-27"),
        ("上周五", "2026-11-27"),
        ("下周一", "2026-12-07"),
        ("next friday", "2026-12-04"),
        ("last friday", "2026-11-27"),
        ("月底", "2026-11-30"),
        ("the end of next month", "2026-12-31"),
        ("年底", "2026-12-31"),
    ],
)
def test_days_are_read_in_both_languages(said: str, day: str) -> None:
    assert read({"on": said}, schema("on", on={"type": "string", "format": "date"})) == {"on": day}


@pytest.mark.parametrize(
    "said", ["soon", "2026-02-30", "12 月", "5 Jan or 6 Jan", "99999 days ago"]
)
def test_a_day_that_is_not_certain_goes_back_to_the_model(said: str) -> None:
    with pytest.raises(ToolRetryError, match="'on' must be a date such as"):
        read({"on": said}, schema("on", on={"type": "string", "format": "date"}))


def test_times_of_day_are_read_with_their_day() -> None:
    assert read_moment("明天下午 3 点", NOW) == "2026-12-01T15:00"
    assert read_moment("2026-12-24 09:30", NOW) == "2026-12-24T09:30"
    assert read_moment("tomorrow 9:30 am", NOW) == "2026-12-01T09:30"
    assert read_moment("later", NOW) is None


@pytest.mark.parametrize(
    ("value", "one", "mended"),
    [
        ("k8－０２３", {"type": "string", "pattern": "^[A-Z]\\d-\\d{3}$"}, "K8-023"),
        ("p1", {"type": "string", "enum": ["P1", "P2"]}, "P1"),
        ("In Progress", {"type": "string", "enum": ["in_progress", "done"]}, "in_progress"),
        (
            "a@x.example，b@x.example",
            {"type": "array", "items": {"type": "string"}},
            ["a@x.example", "b@x.example"],
        ),
        ('["a", "b"]', {"type": "array", "items": {"type": "string"}}, ["a", "b"]),
        ("3", {"type": "array", "items": {"type": "integer"}}, [3]),
        (" a＠x.example ", {"type": "string", "format": "email"}, "a@x.example"),
        ("是", {"type": "boolean"}, True),
        ("No", {"type": "boolean"}, False),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        (12, {"type": "string"}, "12"),
        ("请尽快处理，谢谢！", {"type": "string"}, "请尽快处理，谢谢！"),
        ("Ｋ８　告警", {"type": "string"}, "K8 告警"),
    ],
)
def test_values_are_written_as_the_schema_has_them(value: Any, one: Any, mended: Any) -> None:
    assert read({"v": value}, schema("v", v=one)) == {"v": mended}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("{}", "'query' is a required property"),
        ('{"query": 5, "limit": "many"}', "'limit' must be of type integer"),
        ('{"query": "x", "colour": "red"}', "'colour' was unexpected"),
        ('{"query": {"a": 1}}', "'query' must be of type string"),
        ('{"query": "x", "kind": "C"}', "must be one of"),
        ('{"query": "x', "no JSON object"),
        ("[1, 2]", "one JSON object with query"),
        ("x" * 100_000, "20000 are allowed"),
    ],
)
def test_what_can_not_be_mended_is_said(raw: str, reason: str) -> None:
    one = schema(
        "query",
        query={"type": "string"},
        limit={"type": "integer"},
        kind={"type": "string", "enum": ["A", "B"]},
    )
    with pytest.raises(ToolRetryError, match=reason):
        read(raw, one)


@given(st.text(max_size=80))
def test_any_text_is_arguments_or_a_reason(raw: str) -> None:
    one = schema(
        "on", on={"type": "string", "format": "date"}, n={"type": "integer"}, to={"type": "array"}
    )
    for text in (raw, json.dumps({"on": raw, "n": raw, "to": raw})):
        try:
            read(text, one)
        except ToolRetryError:
            continue
    read_day(raw, NOW)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "search_docs", "arguments": {"query": "leave"}}',
        'I will search.\n```json\n{"name": "search_docs", "arguments": {"query": "leave"}}\n```',
        '<tool_call>\n{"name": "search_docs", "arguments": {"query": "leave"}}\n</tool_call>',
        '{"tool": "search_docs", "args": {"query": "leave"}}',
        '{"function": {"name": "search_docs", "parameters": {"query": "leave"}}}',
        '{"tool_calls": [{"name": "search_docs", "arguments": {"query": "leave"}}]}',
        '{"search_docs": {"query": "leave"}}',
        "{'name': 'search_docs', 'arguments': {'query': 'leave'}}",
        '{“name”：“search_docs”，"arguments": {"query": "leave"},}'.replace("，", ", "),
        '{"name": "search_docs", "arguments": {"query": "leave"',
        'search_docs(query="leave")',
        'search_docs({"query": "leave"})',
    ],
)
def test_a_written_call_is_understood(text: str) -> None:
    [call] = read_written_calls(text, NAMES)
    assert call.name == "search_docs"
    assert read(call.arguments, schema("query", query={"type": "string"})) == {"query": "leave"}


def test_several_written_calls_keep_their_order() -> None:
    text = (
        '{"name": "get_page", "arguments": {"page": "a"}}\n{"name": "search_docs", "arguments": {}}'
    )
    assert [one.name for one in read_written_calls(text, NAMES)] == ["get_page", "search_docs"]
    assert read_written_calls('{"name": "fly_away", "arguments": {}}', NAMES)[0].name == "fly_away"


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 5 days [1].",
        '{"limit": 5}',
        "Use `print(1)`.",
        '{"name": "Mo Lan"}',
        "{" * 5000,
        '{"a":' * 5000,
    ],
)
def test_other_text_is_no_call(text: str) -> None:
    assert read_written_calls(text, NAMES) == []


@given(st.text(alphabet="{}[]\"':,namesrch_dog() \\", max_size=200))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for call in read_written_calls(text, NAMES):
        assert call.name
