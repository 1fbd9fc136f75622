from dataclasses import replace

import pytest

from knowledge.documents import Hit, PassageKind
from knowledge.retrieval.preferences import (
    HOW_TO_SHARE,
    METADATA_SHARE,
    asks_for_steps,
    prefer_guides,
    prefer_metadata,
)
from tests.unit.knowledge.retrieval.hit_samples import make_hit


def ids(hits: list[Hit]) -> list[str]:
    return [str(hit.passage_id) for hit in hits]


@pytest.mark.parametrize(
    "question",
    [
        "磁盘满了怎么办",
        "如何申请权限",
        "安装失败",
        "How do I renew the certificate?",
        "steps to restore",
        "the build fails",
    ],
)
def test_questions_that_want_something_done_are_told(question: str) -> None:
    assert asks_for_steps(question)


@pytest.mark.parametrize(
    "question", ["新办公室怎么样", "年假有几天", "Who owns the service?", "What is showing today?"]
)
def test_other_questions_do_not_ask_for_steps(question: str) -> None:
    assert not asks_for_steps(question)


@pytest.mark.parametrize(
    ("question", "title"),
    [("磁盘满了怎么处理", "磁盘清理手册"), ("how to free disk space", "Disk runbook")],
)
def test_a_guide_passes_a_background_page_that_is_nearly_as_good(question: str, title: str) -> None:
    hits = [
        make_hit("top", 10.0),
        make_hit("background", 5.1, title="Disks"),
        make_hit("guide", 5.0, title=title),
        make_hit("last", 0.0),
    ]
    lifted = prefer_guides(question, hits)
    assert ids(lifted) == ["top", "guide", "background", "last"]
    assert lifted[1].scores["guides"] == pytest.approx(5.0 + HOW_TO_SHARE / 2 * 10)
    assert lifted[2].score == 5.1


@pytest.mark.parametrize("kind", [PassageKind.STEPS, PassageKind.CODE])
def test_steps_and_commands_count_as_instructions(kind: PassageKind) -> None:
    hits = [make_hit("a", 1.0), make_hit("b", 0.98), make_hit("c", 0.0)]
    hits[1] = replace(hits[1], kind=kind)
    assert ids(prefer_guides("how to fix it", hits)) == ["b", "a", "c"]


def test_a_guide_on_another_matter_stays_below() -> None:
    hits = [make_hit("a", 10.0), make_hit("b", 2.0, title="Guide"), make_hit("c", 0.0)]
    assert ids(prefer_guides("how to fix it", hits)) == ["a", "b", "c"]


def test_a_question_that_wants_nothing_done_keeps_the_order() -> None:
    hits = [make_hit("a", 1.0), make_hit("b", 0.99, title="Guide")]
    assert prefer_guides("who owns it", hits) == hits


def test_equal_scores_are_ordered_by_what_is_preferred() -> None:
    hits = [make_hit("a", 2.0), make_hit("b", 2.0, title="操作指南"), make_hit("c", 2.0)]
    assert ids(prefer_guides("怎么重启", hits)) == ["b", "a", "c"]
    flat = [replace(hit, score=0.0) for hit in hits]
    assert ids(prefer_guides("怎么重启", flat)) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("question", "change"),
    [
        ("Which limits does Finance set?", {"labels": ("finance",)}),
        ("the travel policies of last year", {"labels": ("Travel policies",)}),
        ("财务的报销上限", {"space": "财务"}),
        ("what does the handbook say", {"source": "handbook"}),
    ],
)
def test_a_hit_whose_label_space_or_source_is_asked_for_passes_a_near_tie(
    question: str, change: dict[str, object]
) -> None:
    hits = [make_hit("a", 1.0), make_hit("b", 0.96), make_hit("c", 0.0)]
    hits[1] = replace(hits[1], **change)  # type: ignore[arg-type]
    lifted = prefer_metadata(question, hits)
    assert ids(lifted) == ["b", "a", "c"]
    assert lifted[0].scores["metadata"] == pytest.approx(0.96 + METADATA_SHARE)


def test_empty_metadata_is_named_by_no_question() -> None:
    hits = [replace(make_hit("a", 1.0), space="", source=""), make_hit("b", 0.99)]
    assert prefer_metadata("what is x", hits) == hits


def test_no_hits_are_no_error() -> None:
    assert prefer_guides("how to", []) == []
    assert prefer_metadata("x", []) == []
