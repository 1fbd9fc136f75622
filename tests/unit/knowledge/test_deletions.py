from core.settings import IngestSettings
from knowledge.deletions import judge_disappearance
from knowledge.documents import DocumentId

SETTINGS = IngestSettings()


def ids(count: int) -> list[DocumentId]:
    return [DocumentId(f"wiki:{number}") for number in range(count)]


def judge(total: int, listed: int, error: str = "") -> tuple[int, bool]:
    result = judge_disappearance("wiki", ids(total), ids(listed), error=error, settings=SETTINGS)
    return len(result.missing), result.is_held


def test_a_few_deletions_are_believed() -> None:
    assert judge(100, 97) == (3, False)
    assert judge(10, 6) == (4, False)


def test_a_fifth_of_a_scope_and_at_least_five_are_held() -> None:
    assert judge(20, 15) == (5, True)
    assert judge(25, 20) == (5, False)
    assert judge(100, 80) == (20, False)
    assert judge(100, 79) == (21, True)


def test_a_scope_that_vanishes_whole_is_held_however_small() -> None:
    assert judge(1, 0) == (1, True)
    assert judge(3, 0) == (3, True)
    assert judge(0, 0) == (0, False)


def test_a_listing_that_ended_in_an_error_lacks_nothing() -> None:
    assert judge(100, 0, error="permission denied") == (0, False)


def test_the_reason_says_what_to_do() -> None:
    result = judge_disappearance("wiki", ids(10), ids(1), error="", settings=SETTINGS)
    assert "9 of 10" in result.reason
    assert "--accept-deletions" in result.reason
