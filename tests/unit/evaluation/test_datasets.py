"""Reading question sets, and what is said about bad ones."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.errors import SettingsError
from evaluation.datasets import build_cross_datasets, hash_corpus, load_dataset

Lines = Sequence[Mapping[str, object] | str]
CORPUS: Lines = [
    {"id": "a", "title": "磁盘", "text": "清理日志", "meta": {"lang": "zh"}},
    {"id": "b", "title": "Disk", "text": "Clean the logs.", "meta": {"lang": "en"}},
]


def write_set(folder: Path, corpus: Lines, queries: Lines) -> Path:
    folder.mkdir(exist_ok=True)
    for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    return folder


def test_every_field_of_a_question_is_read(tmp_path: Path) -> None:
    line = {
        "id": "q",
        "question": "怎么清理？",
        "lang": "zh",
        "kind": "fact",
        "answer": "清理日志",
        "evidence_ids": ["a", "a"],
        "alt_evidence_ids": ["b"],
        "must": [["日志", "logs"]],
        "expected_points": ["清理日志"],
        "history": ["磁盘满了", {"role": "user", "text": "在哪台机器"}],
        "as_of": "2026-11-30",
        "notes_of_the_makers": 7,
    }
    dataset = load_dataset(write_set(tmp_path / "disks", CORPUS, [line]))
    (query,) = dataset.queries
    assert dataset.name == "disks"
    assert dataset.languages == {"zh"}
    assert (query.evidence_ids, query.alt_evidence_ids) == (("a",), ("b",))
    assert query.must == (("日志", "logs"),)
    assert query.history == ("磁盘满了", "在哪台机器")
    assert query.as_of == datetime(2026, 11, 30, tzinfo=UTC)
    assert query.is_answerable


def test_a_question_without_evidence_is_unanswerable(tmp_path: Path) -> None:
    dataset = load_dataset(write_set(tmp_path / "s", CORPUS, [{"id": "q", "question": "?"}]))
    assert not dataset.queries[0].is_answerable
    assert dataset.languages == frozenset()


def test_separators_of_lines_inside_a_text_do_not_split_it(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "s", CORPUS, [])
    text = json.dumps({"id": "c", "text": "one\u2028two"}, ensure_ascii=False)
    (folder / "corpus.jsonl").write_text(f"{text}\n\n", encoding="utf-8")
    assert load_dataset(folder).corpus[0].text == "one\u2028two"


@pytest.mark.parametrize(
    ("corpus", "queries", "place", "reason"),
    [
        ([*CORPUS, "{broken"], [], "corpus.jsonl:3", "not a valid line"),
        ([*CORPUS, CORPUS[0]], [], "corpus.jsonl:3", "'a' occurs twice"),
        ([{"id": "a", "title": "x"}], [], "corpus.jsonl:1", "text: Field required"),
        (CORPUS, ["", {"id": "q", "question": ""}], "queries.jsonl:2", "question"),
        (CORPUS, [{"id": "q", "question": "?", "evidence_ids": ["z"]}], "queries.jsonl:1", "'z'"),
        (CORPUS, [{"id": "q", "question": "?", "must": [[]]}], "queries.jsonl:1", "empty group"),
        (CORPUS, [{"id": "q", "question": "?", "as_of": "soon"}], "queries.jsonl:1", "as_of"),
        (CORPUS, [{"id": "q", "question": "?", "history": "no"}], "queries.jsonl:1", "history"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(
    tmp_path: Path, corpus: Lines, queries: Lines, place: str, reason: str
) -> None:
    folder = write_set(tmp_path / "s", corpus, queries)
    with pytest.raises(SettingsError) as caught:
        load_dataset(folder)
    assert place in str(caught.value)
    assert reason in str(caught.value)


def test_a_missing_or_undecodable_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"corpus\.jsonl' does not exist"):
        load_dataset(tmp_path)
    folder = write_set(tmp_path / "s", CORPUS, [])
    (folder / "queries.jsonl").write_bytes("好".encode("gb18030"))
    with pytest.raises(SettingsError, match="can't be read"):
        load_dataset(folder)


def test_the_hash_changes_with_the_corpus_alone(tmp_path: Path) -> None:
    plain = load_dataset(write_set(tmp_path / "one", CORPUS, []))
    asked = load_dataset(write_set(tmp_path / "two", CORPUS, [{"id": "q", "question": "?"}]))
    other = load_dataset(write_set(tmp_path / "three", CORPUS[:1], []))
    assert plain.content_hash == asked.content_hash == hash_corpus(plain.corpus)
    assert plain.content_hash != other.content_hash


def test_the_two_parts_share_no_question_and_lose_none(tmp_path: Path) -> None:
    lines = [{"id": f"q{number}", "question": "?"} for number in range(200)]
    queries = load_dataset(write_set(tmp_path / "s", CORPUS, lines)).queries
    tuned = sum(query.part == "tune" for query in queries)
    assert 60 < tuned < 140
    assert {query.part for query in queries} == {"tune", "report"}


def test_a_cross_run_asks_one_language_and_searches_the_other(tmp_path: Path) -> None:
    lines = [
        {
            "id": "q1",
            "question": "怎么清理？",
            "lang": "zh",
            "evidence_ids": ["a"],
            "evidence_ids_other_lang": ["b"],
        },
        {
            "id": "q2",
            "question": "How to clean?",
            "lang": "en",
            "evidence_ids": ["b"],
            "evidence_ids_other_lang": ["a"],
        },
        {"id": "q3", "question": "no twin", "lang": "en", "evidence_ids": ["b"]},
    ]
    dataset = load_dataset(write_set(tmp_path / "s", CORPUS, lines))
    english, chinese = build_cross_datasets(dataset)
    assert [item.corpus_id for item in english.corpus] == ["a"]
    assert [query.evidence_ids for query in english.queries] == [("a",)]
    assert [item.corpus_id for item in chinese.corpus] == ["b"]
    assert [query.query_id for query in chinese.queries] == ["q1"]
    assert english.name == chinese.name == "s"
    assert english.content_hash != chinese.content_hash
    assert english.queries[0].kind == "question in en"


def test_a_set_that_is_not_parallel_cannot_be_crossed(tmp_path: Path) -> None:
    dataset = load_dataset(write_set(tmp_path / "s", CORPUS, [{"id": "q", "question": "?"}]))
    with pytest.raises(SettingsError, match="evidence_ids_other_lang"):
        build_cross_datasets(dataset)


def test_evidence_in_the_same_language_is_refused_in_a_cross_run(tmp_path: Path) -> None:
    line = {"id": "q", "question": "?", "lang": "zh", "evidence_ids_other_lang": ["a"]}
    dataset = load_dataset(write_set(tmp_path / "s", CORPUS, [line]))
    with pytest.raises(SettingsError, match=r"meta\.lang 'zh'"):
        build_cross_datasets(dataset)
