"""Whether the evidence is good enough to answer from. Pure.

Two gates. Off topic: the best passage is not near enough and the best sections hold too little of
the question's weighty words; words say nothing across languages, so there a passage must stand out
among those of its own language. Detail missing: the page the question names was found, but what is
asked of it stands nowhere in the evidence. docs/retrieval.md says on what data the numbers were
fitted and how they do on the rest.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knowledge.analysis import Analyser, fold
from knowledge.documents import Hit, PassageId
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval import Sufficiency
from knowledge.retrieval.coverage import LITTLE, measure_coverage
from knowledge.stop_words import TASK_WORDS

SECTIONS_READ = 5
TITLES_READ = 3
FITTED_EMBEDDER = "multilingual-e5-small"
# Logistic regression on cosine and coverage; the cosine's scale is the bundled embedder's.
COSINE_WEIGHT, COVERAGE_WEIGHT, OFFSET = 57.15, 10.87, -53.84
LEAST_MARGIN = -1.25
CODE_MARGIN = 1.0
# Without cosines, or with another embedder's, coverage decides alone.
COVERAGE_SCALE = 12.0
# How much nearer the best passage in the other language is than the usual one of the nearest.
LEAST_LEAD = 0.030
LEAD_SCALE = 200.0
LEAD_OVER = 20
NAMED_SHARE = 0.8
MOST_MISSING = 0.20
MISSING_SCALE = 20.0
_WORDS_PER_DETAIL = 6
_STEM_LENGTH = 5
_HALF = 0.5
_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is judged.

    Attributes:
        terms: The question's weighted terms.
        hits: Candidates, best first.
        sections: Their sections by passage id; a passage without one is its own.
        cosine: Of the best passage with the embedder the weights were fitted on; None otherwise.
        codes: How many exact codes the question holds.
        foreign: Cosines of the nearest passages in the other language, best first, with that same
            embedder, where the nearest of them is the best hit; else empty.
    """

    question: str
    terms: Mapping[str, float]
    hits: Sequence[Hit]
    sections: Mapping[PassageId, Hit]
    statistics: TermStatistics
    cosine: float | None
    codes: int = 0
    foreign: Sequence[float] = ()


def judge_sufficiency(judged: Judged, analyser: Analyser) -> Sufficiency:
    """Judge the evidence; the confidence is 0.5 where the decision turns."""
    if not judged.hits:
        return Sufficiency(
            is_enough=False, confidence=0.0, features={}, reasons=("nothing was found",)
        )
    best = _best_sections(judged)
    coverage = measure_coverage(judged.terms, judged.statistics, (one.terms for one in best))
    missing = _measure_missing(judged, best, analyser)
    topic = _measure_topic(judged.cosine, coverage)
    if _hold_every_code(judged):
        # A page with the very codes is on topic, however little else it shares with the question.
        topic = max(topic, CODE_MARGIN)
    lead = _measure_lead(judged.foreign)
    if lead is not None:
        topic = max(topic, (lead - LEAST_LEAD) * LEAD_SCALE)
    detail = (MOST_MISSING - missing) * MISSING_SCALE
    reasons = []
    if topic < 0:
        reasons.append(f"off topic: coverage {coverage:.2f}, cosine {judged.cosine or 0:.3f}")
    if detail < 0:
        reasons.append(f"what is asked of the named page is missing: {missing:.2f}")
    features = {"coverage": coverage, "missing": missing}
    if judged.cosine is not None:
        features["cosine"] = judged.cosine
    if lead is not None:
        features["lead"] = lead
    return Sufficiency(
        is_enough=not reasons,
        confidence=1 / (1 + math.exp(-min(topic, detail))),
        features=features,
        reasons=tuple(reasons),
    )


def _hold_every_code(judged: Judged) -> bool:
    held = max(hit.scores.get("code", 0.0) for hit in judged.hits)
    return 0 < judged.codes <= held


def _measure_topic(cosine: float | None, coverage: float) -> float:
    if cosine is None:
        return (coverage - LITTLE) * COVERAGE_SCALE
    return COSINE_WEIGHT * cosine + COVERAGE_WEIGHT * coverage + OFFSET - LEAST_MARGIN


def _measure_lead(foreign: Sequence[float]) -> float | None:
    """Return how far the nearest passage stands out; None when too few tell what is usual."""
    nearest = foreign[:LEAD_OVER]
    return nearest[0] - sum(nearest) / len(nearest) if len(nearest) == LEAD_OVER else None


def _best_sections(judged: Judged) -> list[Hit]:
    """Return the sections, or lone passages, of the best hits, each once."""
    best: dict[str, Hit] = {}
    for hit in judged.hits:
        best.setdefault(hit.section_id, judged.sections.get(hit.passage_id, hit))
        if len(best) == SECTIONS_READ:
            break
    return list(best.values())


def _measure_missing(judged: Judged, sections: Sequence[Hit], analyser: Analyser) -> float:
    """Return the share of the question's words, its page's name aside, that stand nowhere.

    0 unless the question names one of the best pages. Long questions may miss a little more.
    """
    named = _find_named_title(judged, analyser)
    words = _list_content_words(judged.question, analyser)
    if not named or not words:
        return 0.0
    name_terms, name_text = set(analyser.index_terms(named)), fold(named)
    asked = {
        word: judged.statistics.idf(word)
        for word in words
        if word not in name_terms and word not in name_text
    }
    total = sum(asked.values())
    if not total:
        return 0.0
    terms = {term for section in sections for term in section.terms.split()}
    text = fold(" ".join(section.text for section in sections))
    absent = sum(idf * (1 - _measure_presence(word, terms, text)) for word, idf in asked.items())
    return absent / total / (1 + len(words) / _WORDS_PER_DETAIL)


def _find_named_title(judged: Judged, analyser: Analyser) -> str:
    """Return the title, among the best hits', that the question says most of; or nothing."""
    asked = set(analyser.index_terms(judged.question))
    shares: dict[str, float] = {}
    for hit in judged.hits[:TITLES_READ]:
        terms = set(analyser.index_terms(hit.title))
        weights = {term: judged.statistics.idf(term) for term in terms}
        total = sum(weights.values())
        said = sum(weight for term, weight in weights.items() if term in asked)
        shares[hit.title] = said / total if total else 0.0
    best = max(shares, key=lambda title: shares[title])
    return best if shares[best] >= NAMED_SHARE else ""


def _list_content_words(question: str, analyser: Analyser) -> list[str]:
    return [
        word
        for word in dict.fromkeys(analyser.words(question))
        if word not in TASK_WORDS and not _only_asks(word)
    ]


def _only_asks(word: str) -> bool:
    is_asking = word[0] in "哪几多谁" and len(word) <= _PAIR + 1
    return is_asking or (len(word) == 1 and (_is_han(word) or word.isalpha()))


def _measure_presence(word: str, terms: set[str], text: str) -> float:
    """Return 1 for a word that stands in the text, less for one that stands there in part."""
    if word in terms or word in text:
        return 1.0
    if _is_han(word[0]):
        if len(word) == _PAIR:
            return _HALF if all(character in text for character in word) else 0.0
        pairs = [word[start : start + _PAIR] for start in range(len(word) - 1)]
        return sum(pair in text for pair in pairs) / len(pairs) if pairs else 0.0
    is_long = word.isalpha() and len(word) > _STEM_LENGTH
    return 1.0 if is_long and word[:_STEM_LENGTH] in text else 0.0


def _is_han(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"
