"""Rescoring of candidates by BM25 over weighted terms, with the whole index's statistics. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from knowledge.documents import Hit, PassageId, SectionId
from knowledge.languages import Language
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval.fusion import best_first
from knowledge.retrieval.languages import Scores, add_across_languages, find_foreign
from knowledge.retrieval.meaning import add_sections, read_cosines
from knowledge.stores import Vector

K1 = 1.2
B = 0.6
"""How much length counts; less than usual, for a heading chain lengthens short passages."""


def rescore(
    hits: Sequence[Hit],
    terms: Mapping[str, float],
    statistics: TermStatistics,
    *,
    asked_in: Language | None,
    sections: Mapping[PassageId, Hit] | None = None,
    vector: Vector | None = None,
) -> list[Hit]:
    """Score every candidate anew by exact words and by meaning; best first.

    Words are BM25 for the weighted terms, known for every candidate and not only for those that
    the search by words found. Both are standardised over the candidates and added.

    Args:
        hits: Fused candidates, their cosines noted.
        terms: The question's weighted terms.
        statistics: Of the whole index.
        asked_in: The question's language; None = languages are not told apart.
        sections: Section rows by the passage they belong to; words and meaning of a passage then
            count half and its section's half. A section that is one passage needs no entry.
        vector: The question's; None with words only.
    """
    if not hits or not terms or not statistics.rows:
        return list(hits)
    words = _score_words([hit.terms for hit in hits], terms, statistics, statistics.average_length)
    if sections:
        section_terms = {row.section_id: row.terms for row in sections.values()}
        words = (words + _score_sections(hits, words, terms, statistics, section_terms)) / 2
    noted = [{**hit.scores, "words": word} for hit, word in zip(hits, words.tolist(), strict=True)]
    meaning = read_cosines(noted) if vector is None else add_sections(hits, vector, sections or {})
    totals = add_across_languages(words, meaning, find_foreign(hits, asked_in))
    return best_first(hits, totals.tolist(), noted, stage="rescored")


def _score_sections(
    hits: Sequence[Hit],
    words: Scores,
    terms: Mapping[str, float],
    statistics: TermStatistics,
    section_terms: Mapping[SectionId, str],
) -> Scores:
    """Return the BM25 of each hit's section; a lone passage's is its own."""
    ids = sorted({hit.section_id for hit in hits} & section_terms.keys())
    texts = [section_terms[section_id] for section_id in ids]
    if not texts:
        return words
    # The index counts lengths of passages; sections are measured against each other.
    average = sum(len(text.split()) for text in texts) / len(texts)
    scores = dict(zip(ids, _score_words(texts, terms, statistics, average), strict=True))
    return np.array(
        [scores.get(hit.section_id, word) for hit, word in zip(hits, words, strict=True)], float
    )


def _score_words(
    texts: Sequence[str],
    terms: Mapping[str, float],
    statistics: TermStatistics,
    average_length: float,
) -> Scores:
    """Return BM25 of analysed texts.

    rank-bm25 fitted on a hundred candidates takes their words for the language, so it is given
    idf and average length of the whole index. Words the question does not have are counted and
    left out: fitting on them takes most of the time.
    """
    words = [text.split() for text in texts]
    asked = [[word for word in some if word in terms] for some in words]
    ranker = BM25Okapi([some or [""] for some in asked], k1=K1, b=B)
    ranker.doc_len = [len(some) for some in words]
    ranker.avgdl = average_length or 1.0
    ranker.idf = {term: statistics.idf(term) for term in terms}
    scores: Scores = np.sum(
        [weight * ranker.get_scores([term]) for term, weight in terms.items()], axis=0
    )
    return scores
