"""Recall: candidates by words, by meaning and by exact codes, searched at the same time."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, replace

from knowledge.documents import Hit
from knowledge.languages import Language
from knowledge.stores import Level, PassageFilter, PassageStore, Vector

CODE_HITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What each route found, best first, every hit scored as its route scores.

    Attributes:
        foreign: Near the question's vector, in the other language than the question, where that
            was searched on its own.
        question: The question's vector; None with words only.
    """

    terms: tuple[Hit, ...] = ()
    vector: tuple[Hit, ...] = ()
    foreign: tuple[Hit, ...] = ()
    codes: tuple[Hit, ...] = ()
    question: Vector | None = field(default=None, compare=False)


async def recall(
    store: PassageStore,
    *,
    terms: Sequence[str],
    codes: Sequence[str],
    question: Awaitable[Vector | None],
    where: PassageFilter,
    terms_limit: int,
    vector_limit: int,
) -> Recalled:
    """Search all routes in parallel; a limit of 0, no terms or no vector leaves a route out.

    Args:
        question: Becomes the question's vector, while the other routes search already.
    """
    passages = replace(where, level=Level.PASSAGE)

    async def search_by_meaning() -> tuple[Vector | None, list[Hit]]:
        vector = await question
        return vector, await _search_vector(store, vector, passages, vector_limit)

    by_terms, (vector, by_vector), by_code = await asyncio.gather(
        _search_terms(store, terms, passages, terms_limit),
        search_by_meaning(),
        store.find_codes(codes, passages, limit=CODE_HITS) if codes else _nothing(),
    )
    return Recalled(
        terms=tuple(by_terms), vector=tuple(by_vector), codes=tuple(by_code), question=vector
    )


async def recall_foreign(
    store: PassageStore,
    recalled: Recalled,
    *,
    where: PassageFilter,
    asked_in: Language,
    limit: int,
) -> Recalled:
    """Add what is near the question in the other language.

    Vectors lie nearer to texts of their own language, so that the right page in the other one is
    often beyond the fifty nearest.
    """
    foreign = replace(where, level=Level.PASSAGE, languages=frozenset({asked_in.foreign}))
    found = await _search_vector(store, recalled.question, foreign, limit)
    return replace(recalled, foreign=tuple(found))


async def _search_terms(
    store: PassageStore, terms: Sequence[str], where: PassageFilter, limit: int
) -> list[Hit]:
    if not terms or limit == 0:
        return []
    return await store.search_terms(terms, where, limit=limit)


async def _search_vector(
    store: PassageStore, vector: Vector | None, where: PassageFilter, limit: int
) -> list[Hit]:
    if vector is None or limit == 0:
        return []
    return await store.search_vector(vector, where, limit=limit)


async def _nothing() -> list[Hit]:
    return []
