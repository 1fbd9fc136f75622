from datetime import UTC, datetime

import pytest

from bot.search_query import build_filter, parse_search
from core.errors import SettingsError
from core.settings import BaseSettings
from knowledge.access import NOTHING
from knowledge.documents import Status


def test_words_and_filters_are_told_apart() -> None:
    query = parse_search('annual leave space:HR label:policy by:"Li Jun" after:2026-01-01 @people')
    assert query.words == "annual leave"
    assert query.spaces == {"HR"}
    assert query.labels == {"policy"}
    assert query.author == "Li Jun"
    assert query.after == datetime(2026, 1, 1, tzinfo=UTC)
    assert query.bases == ("people",)


def test_chinese_words_keep_their_blanks_and_a_colon_inside_a_word_is_no_filter() -> None:
    query = parse_search("磁盘 清理 http://space:8080/x a@b.example")
    assert query.words == "磁盘 清理 http://space:8080/x a@b.example"
    assert not query.spaces
    assert not query.bases


def test_a_date_that_is_none_says_how_to_write_one() -> None:
    with pytest.raises(SettingsError, match="2026-11-30"):
        parse_search("leave after:yesterday")


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(SettingsError, match="archived"):
        parse_search("leave status:draft")


def test_a_base_stands_for_its_sources_and_archived_pages_only_come_when_asked_for() -> None:
    bases = {"people": BaseSettings(include=("handbook", "hr"))}
    where = build_filter(parse_search("leave @people @wiki"), NOTHING, bases)
    assert where.sources == {"handbook", "hr", "wiki"}
    assert where.statuses == {Status.CURRENT}
    archived = build_filter(parse_search("leave status:archived"), NOTHING, bases)
    assert archived.statuses == {Status.CURRENT, Status.ARCHIVED}
