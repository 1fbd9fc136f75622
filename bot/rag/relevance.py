"""Whether the best quote speaks of what is asked, or only stands on a page that is near. Pure.

A page that may not be read, or is gone, leaves its neighbours behind: they share a word or two with
the question, and their sentences look like answers. docs/answering.md tells how the weights were
fitted.
"""

from bot.rag.language import Language
from bot.rag.quote_scoring import AskedQuestion, ScoredQuote
from knowledge.analysis import Analyser
from knowledge.retrieval import Evidence

# Logistic regression; the cosine's scale is the bundled embedder's, which lies higher in Chinese.
COVERAGE_WEIGHT, COSINE_WEIGHT, CHINESE_OFFSET, OFFSET = 2.87, 18.95, -0.85, -18.02
LEAST_MARGIN = -1.5


def measure_relevance(
    asked: AskedQuestion,
    best: ScoredQuote,
    evidence: Evidence,
    language: Language,
    analyser: Analyser,
) -> float | None:
    """Return how sure it is that the quote answers; below 0 it does not.

    None where nothing is known of it: the evidence has no cosine.

    Args:
        best: The quote that answers best, in the language of the question.
        evidence: Where it stands, its cosine measured by the bundled embedder.
        language: Of the question.
        analyser: Tells the question's own terms from synonyms.
    """
    cosine = evidence.hit.scores.get("vector")
    if cosine is None:
        return None
    # A synonym counts where it is said; that it is not said means nothing.
    own = set(analyser.index_terms(asked.text))
    total = sum(weight for term, weight in asked.weights.items() if term in own) or 1.0
    covered = min(1.0, sum(asked.weights[term] for term in best.covered | best.context) / total)
    offset = OFFSET + (CHINESE_OFFSET if language == "zh" else 0.0)
    return COVERAGE_WEIGHT * covered + COSINE_WEIGHT * cosine + offset - LEAST_MARGIN
