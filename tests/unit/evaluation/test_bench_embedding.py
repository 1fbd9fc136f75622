"""Both engines read the same texts alike."""

from evaluation.bench_embedding import build_passages, compare_engines


async def test_both_engines_give_the_same_vectors() -> None:
    figures = await compare_engines(["磁盘满了怎么清理", "Clean the disk"])
    assert figures.passages == 2
    assert figures.cosine_min > 0.99
    assert figures.ratio > 0
    assert figures.mean_tokens > 2


def test_passages_are_cut_from_pages_of_both_languages() -> None:
    texts = build_passages(5, 4)
    assert [len(text) for text in texts] == [300, 900, 300, 900]
