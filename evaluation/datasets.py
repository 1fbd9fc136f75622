"""Question sets: a folder with corpus.jsonl and queries.jsonl, checked line by line."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, NewType, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from core.clock import parse_moment
from core.errors import SettingsError

CorpusId = NewType("CorpusId", str)
"""Id of a corpus item; what evidence names and what rankings are made of."""
Part = Literal["tune", "report"]

CORPUS_FILE = "corpus.jsonl"
QUERIES_FILE = "queries.jsonl"
LANGUAGE_KEY = "lang"

Line = TypeVar("Line", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusItem:
    """One text of a corpus, with whatever its makers noted about it."""

    corpus_id: CorpusId
    title: str
    text: str
    meta: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and what a right answer rests on.

    Attributes:
        evidence_ids: Right corpus items; empty = the corpus holds no answer.
        alt_evidence_ids: Near-duplicates of the evidence, as good as it.
        other_language_ids: The same evidence in the corpus' other language, if there is one.
        must: Groups of accepted strings; a right short answer holds one of every group.
        expected_points: Points a full answer makes.
        history: Earlier turns of the conversation, oldest first.
        as_of: The moment the question is about; None = now.
    """

    query_id: str
    question: str
    lang: str = ""
    kind: str = ""
    answer: str = ""
    evidence_ids: tuple[CorpusId, ...] = ()
    alt_evidence_ids: tuple[CorpusId, ...] = ()
    other_language_ids: tuple[CorpusId, ...] = ()
    must: tuple[tuple[str, ...], ...] = ()
    expected_points: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    as_of: datetime | None = None

    @property
    def is_answerable(self) -> bool:
        """Whether the corpus holds the answer."""
        return bool(self.evidence_ids)

    @property
    def part(self) -> Part:
        """The half the question belongs to, by its id: one to tune on, one to report on."""
        digest = hashlib.sha256(self.query_id.encode()).digest()
        return "tune" if digest[0] % 2 else "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A corpus and the questions put to it; `content_hash` changes with the corpus only."""

    name: str
    corpus: tuple[CorpusItem, ...]
    queries: tuple[Query, ...]
    content_hash: str

    @property
    def languages(self) -> frozenset[str]:
        """The languages of the questions that the corpus answers."""
        return frozenset(query.lang for query in self.queries if query.is_answerable)


def _split_turns(value: object) -> object:
    """Accept turns written as {"role", "text" or "content"} beside plain strings."""
    if not isinstance(value, list):
        return value
    return [
        turn.get("text", turn.get("content", turn)) if isinstance(turn, dict) else turn
        for turn in value
    ]


class _CorpusLine(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    title: str = ""
    text: str
    meta: dict[str, object] = Field(default_factory=dict)


class _QueryLine(BaseModel):
    # Sets carry notes of their own (levels, steps, quotes); only what is measured is read.
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    lang: str = ""
    kind: str = ""
    answer: str = ""
    evidence_ids: list[str] = Field(default_factory=list)
    alt_evidence_ids: list[str] = Field(default_factory=list)
    evidence_ids_other_lang: list[str] = Field(default_factory=list)
    must: list[list[str]] = Field(default_factory=list)
    expected_points: list[str] = Field(default_factory=list)
    history: Annotated[list[str], BeforeValidator(_split_turns)] = Field(default_factory=list)
    as_of: str | None = None


def load_dataset(folder: Path) -> Dataset:
    """Read a set; its name is the folder's.

    Raises:
        SettingsError: A file is missing, or a line is not valid; the message names file and line.
    """
    corpus = tuple(_load_corpus(folder / CORPUS_FILE))
    queries = tuple(_load_queries(folder / QUERIES_FILE, {item.corpus_id for item in corpus}))
    return Dataset(
        name=folder.resolve().name,
        corpus=corpus,
        queries=queries,
        content_hash=hash_corpus(corpus),
    )


def hash_corpus(corpus: Iterable[CorpusItem]) -> str:
    """Return a hash of everything that reaches an index."""
    digest = hashlib.sha256()
    for item in corpus:
        meta = "\x1f".join(f"{key}={item.meta[key]}" for key in sorted(item.meta))
        record = "\x1f".join((item.corpus_id, item.title, item.text, meta))
        digest.update(f"{record}\x1e".encode())
    return digest.hexdigest()


def build_cross_datasets(dataset: Dataset) -> list[Dataset]:
    """Split a parallel set: questions in one language, passages only in the other.

    One set for each language that questions are asked in; its corpus is the passages whose
    `meta.lang` is another one, its evidence the one the question names in the other language. All
    keep the set's name, so that a report adds them up; the kind of a question tells its direction.

    Raises:
        SettingsError: The set is not parallel.
    """
    parallel = [query for query in dataset.queries if query.other_language_ids]
    if not parallel:
        raise SettingsError(
            f"data set {dataset.name!r} has no question with evidence_ids_other_lang; "
            "leave it out of a --cross run"
        )
    return [
        _build_cross_dataset(dataset, lang, [query for query in parallel if query.lang == lang])
        for lang in sorted({query.lang for query in parallel})
    ]


def _build_cross_dataset(dataset: Dataset, lang: str, queries: Sequence[Query]) -> Dataset:
    corpus = tuple(item for item in dataset.corpus if item.meta.get(LANGUAGE_KEY) != lang)
    known = {item.corpus_id for item in corpus}
    turned = []
    for query in queries:
        missing = [cid for cid in query.other_language_ids if cid not in known]
        if missing:
            raise SettingsError(
                f"data set {dataset.name!r}: question {query.query_id!r} names {missing[0]!r} as "
                f"evidence in the other language, but that passage has meta.lang {lang!r} or none"
            )
        turned.append(
            replace(
                query,
                kind=f"question in {lang}",
                evidence_ids=query.other_language_ids,
                alt_evidence_ids=(),
            )
        )
    return Dataset(
        name=dataset.name,
        corpus=corpus,
        queries=tuple(turned),
        content_hash=hash_corpus(corpus),
    )


def _load_corpus(path: Path) -> Iterator[CorpusItem]:
    seen: Counter[str] = Counter()
    for place, text in _load_lines(path):
        line = _parse(_CorpusLine, text, place)
        _refuse_repeated(seen, line.id, place)
        yield CorpusItem(
            corpus_id=CorpusId(line.id), title=line.title, text=line.text, meta=line.meta
        )


def _load_queries(path: Path, known: set[CorpusId]) -> Iterator[Query]:
    seen: Counter[str] = Counter()
    for place, text in _load_lines(path):
        line = _parse(_QueryLine, text, place)
        _refuse_repeated(seen, line.id, place)
        query = _build_query(line, place)
        for corpus_id in (*query.evidence_ids, *query.alt_evidence_ids, *query.other_language_ids):
            if corpus_id not in known:
                raise SettingsError(
                    f"{place}: question {line.id!r} names evidence {corpus_id!r}, "
                    f"which {CORPUS_FILE} does not hold"
                )
        yield query


def _build_query(line: _QueryLine, place: str) -> Query:
    if any(not group for group in line.must):
        raise SettingsError(f"{place}: question {line.id!r} has an empty group in `must`")
    try:
        as_of = parse_moment(line.as_of) if line.as_of else None
    except SettingsError as error:
        raise SettingsError(f"{place}: as_of of question {line.id!r}: {error}") from error
    return Query(
        query_id=line.id,
        question=line.question,
        lang=line.lang,
        kind=line.kind,
        answer=line.answer,
        evidence_ids=_corpus_ids(line.evidence_ids),
        alt_evidence_ids=_corpus_ids(line.alt_evidence_ids),
        other_language_ids=_corpus_ids(line.evidence_ids_other_lang),
        must=tuple(tuple(group) for group in line.must),
        expected_points=tuple(line.expected_points),
        history=tuple(line.history),
        as_of=as_of,
    )


def _corpus_ids(ids: Sequence[str]) -> tuple[CorpusId, ...]:
    return tuple(CorpusId(one) for one in dict.fromkeys(ids))


def _load_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (`file:line`, text) of the lines that are not blank."""
    try:
        content = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SettingsError(
            f"{str(path)!r} does not exist; a data set is a folder with "
            f"{CORPUS_FILE} and {QUERIES_FILE}"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{str(path)!r} can't be read: {error}") from error
    # Not splitlines(): U+2028 and its kin are legal inside a JSON string.
    for number, text in enumerate(content.split("\n"), start=1):
        if text.strip():
            yield f"{path}:{number}", text


def _parse(form: type[Line], text: str, place: str) -> Line:
    try:
        return form.model_validate_json(text)
    except ValidationError as error:
        details = "; ".join(
            f"{'.'.join(str(step) for step in detail['loc']) or 'line'}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_input=False)
        )
        raise SettingsError(f"{place} is not a valid line: {details}") from error


def _refuse_repeated(seen: Counter[str], line_id: str, place: str) -> None:
    seen[line_id] += 1
    if seen[line_id] > 1:
        raise SettingsError(f"{place}: the id {line_id!r} occurs twice")
