import pytest

from knowledge.ledger_records import TermStatistics
from knowledge.retrieval.coverage import measure_coverage

STATISTICS = TermStatistics(
    rows=1000, average_length=4.0, document_frequency={"disk": 10, "page": 900}
)
TERMS = {"disk": 1.0, "page": 1.0}


def test_the_best_text_counts() -> None:
    assert measure_coverage(TERMS, STATISTICS, ["other", "page disk disk"]) == pytest.approx(1.0)
    assert measure_coverage(TERMS, STATISTICS, ["other words"]) == 0.0


def test_rare_words_weigh_more() -> None:
    rare = measure_coverage(TERMS, STATISTICS, ["disk"])
    common = measure_coverage(TERMS, STATISTICS, ["page"])
    assert rare > 0.9
    assert rare + common == pytest.approx(1.0)


def test_without_texts_or_terms_nothing_is_covered() -> None:
    assert measure_coverage(TERMS, STATISTICS, []) == 0.0
    assert measure_coverage({}, STATISTICS, ["disk"]) == 0.0
