"""Recall: candidates by words, by meaning and by exact codes, searched at the same time.

Vectors lie nearer to texts of their own language, so that the right page in the other language is
often beyond the fifty nearest; it is looked for by a search of its own.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from knowledge.documents import Hit
from knowledge.languages import Language
from knowledge.stores import Level, PassageFilter, PassageStore, Vector

CODE_HITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What each route found, best first, every hit scored as its route scores.

    Attributes:
        foreign: Near the question's vector, in the other language than the question.
    """

    terms: tuple[Hit, ...] = ()
    vector: tuple[Hit, ...] = ()
    foreign: tuple[Hit, ...] = ()
    codes: tuple[Hit, ...] = ()


async def recall(
    store: PassageStore,
    *,
    terms: Sequence[str],
    codes: Sequence[str],
    vector: Vector | None,
    where: PassageFilter,
    asked_in: Language | None,
    terms_limit: int,
    vector_limit: int,
    foreign_limit: int,
) -> Recalled:
    """Search all routes in parallel; a limit of 0, no terms or no vector leaves a route out.

    Args:
        asked_in: The question's language; None leaves the search in the other one out.
    """
    passages = replace(where, level=Level.PASSAGE)
    foreign = replace(passages, languages=frozenset({asked_in.foreign} if asked_in else ()))
    by_terms, by_vector, by_foreign, by_code = await asyncio.gather(
        _search_terms(store, terms, passages, terms_limit),
        _search_vector(store, vector, passages, vector_limit),
        _search_vector(store, vector, foreign, foreign_limit if asked_in else 0),
        store.find_codes(codes, passages, limit=CODE_HITS) if codes else _nothing(),
    )
    return Recalled(
        terms=tuple(by_terms),
        vector=tuple(by_vector),
        foreign=tuple(by_foreign),
        codes=tuple(by_code),
    )


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
