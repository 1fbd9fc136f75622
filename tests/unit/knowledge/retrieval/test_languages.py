import numpy as np

from knowledge.retrieval.languages import add_across_languages, find_foreign, is_chinese

QUESTION_ZH = "每周最多可以居家办公几天"


def test_language_is_told_by_what_prevails() -> None:
    assert is_chinese("重启 kubelet 服务即可，不要直接 kill 进程")
    assert not is_chinese("The word 换盆 stands for a planned switch of the primary database")


def test_only_texts_of_the_other_language_are_foreign() -> None:
    texts = ["试用期前两个月不安排居家办公", "Up to two days a week at home"]
    assert find_foreign(texts, QUESTION_ZH).tolist() == [False, True]
    assert find_foreign(texts, "How many days at home?").tolist() == [True, False]


def test_one_language_is_standardised_as_a_whole() -> None:
    words, meaning = np.array([3.0, 1.0, 2.0]), np.array([0.9, 0.8, 0.7])
    none = np.zeros(3, bool)
    total = add_across_languages(words, meaning, none)
    assert np.allclose(total.mean(), 0)
    assert np.allclose(total, add_across_languages(words, meaning, ~none))


def test_the_best_page_of_the_other_language_comes_before_weak_pages_of_our_own() -> None:
    # Six of our own with some words and nearer vectors throughout, six foreign ones without words.
    words = np.array([6.0, 2.0, 2.0, 1.0, 1.0, 1.0] + [0.0] * 6)
    meaning = np.array([0.90, 0.85, 0.84, 0.84, 0.83, 0.83, 0.82, 0.75, 0.74, 0.74, 0.73, 0.73])
    foreign = np.array([False] * 6 + [True] * 6)
    order = np.argsort(-add_across_languages(words, meaning, foreign)).tolist()
    assert order[:2] == [0, 6]


def test_a_code_that_stands_in_the_foreign_page_still_counts() -> None:
    words = np.array([5.0, 1.0, 1.0, 1.0, 9.0, 0.0])
    meaning = np.array([0.8, 0.8, 0.8, 0.8, 0.8, 0.8])
    foreign = np.array([False, False, False, False, True, True])
    assert int(np.argmax(add_across_languages(words, meaning, foreign))) == 4
