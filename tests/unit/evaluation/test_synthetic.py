"""Generated pages: the same for the same seed, and built like real ones."""

from collections import Counter

import numpy as np
import pytest

from evaluation.synthetic import PAGE_BYTES, build_page, build_pages, build_question
from evaluation.vocabulary import VOCABULARY_SIZE, Language, build_vocabulary


def test_equal_seeds_give_equal_pages() -> None:
    assert build_page(7, 3) == build_page(7, 3)
    assert build_page(7, 3) != build_page(8, 3)
    assert build_page(7, 3) != build_page(7, 5)


def test_pages_have_the_size_asked_for_in_both_languages() -> None:
    pages = list(build_pages(1, 20))
    assert Counter(page.language for page in pages) == {"zh": 10, "en": 10}
    for page in pages:
        assert PAGE_BYTES <= len(page.markdown.encode()) <= 2 * PAGE_BYTES


def test_pages_have_headings_steps_tables_and_code() -> None:
    text = "".join(page.markdown for page in build_pages(1, 40))
    for piece in ("\n## ", "\n1. ", "\n| --- |", "\n```bash\n", "错误码 K", "Error K"):
        assert piece in text


def test_codes_occur_on_their_own_page_only() -> None:
    pages = list(build_pages(1, 60))
    assert any(page.codes for page in pages)
    for page in pages:
        for code in page.codes:
            assert [other.number for other in pages if code in other.markdown] == [page.number]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_few_words_make_up_most_of_a_text(language: Language) -> None:
    vocabulary = build_vocabulary(language)
    assert len(set(vocabulary.words)) == VOCABULARY_SIZE
    drawn = Counter(vocabulary.draw(np.random.default_rng(5), 20_000))
    frequent = sum(count for _, count in drawn.most_common(200))
    assert 0.4 < frequent / 20_000 < 0.8
    assert len(drawn) > 3_000


def test_questions_use_words_of_their_page() -> None:
    asked = set()
    for number in range(200):
        page = build_page(1, number)
        question = build_question(1, number, page)
        asked.add(question)
        if page.language == "zh":
            assert question.endswith("？")
        else:
            words = question.rstrip("?").split()[3:-1]
            assert all(word.lower() in page.markdown.lower() for word in words)
    assert len(asked) == 200
