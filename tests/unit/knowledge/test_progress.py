import pytest

from knowledge.progress import NoProgress, build_report


def test_rate_and_time_left_follow_from_what_is_done() -> None:
    report = build_report("reading", done=20, total=50, failed=3, elapsed_s=4.0)
    assert (report.task, report.done, report.total, report.failed) == ("reading", 20, 50, 3)
    assert report.rate == pytest.approx(5.0)
    assert report.left_s == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("done", "total", "elapsed_s"), [(0, 50, 2.0), (5, None, 2.0), (5, 50, 0.0)]
)
def test_time_left_is_unknown_without_a_rate_or_a_total(
    done: int, total: int | None, elapsed_s: float
) -> None:
    report = build_report("reading", done=done, total=total, failed=0, elapsed_s=elapsed_s)
    assert report.left_s is None


def test_nothing_is_left_at_the_end() -> None:
    assert build_report("reading", done=5, total=5, failed=0, elapsed_s=1.0).left_s == 0


def test_progress_may_be_shown_to_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    NoProgress().update(build_report("reading", done=1, total=1, failed=0, elapsed_s=1.0))
    assert capsys.readouterr() == ("", "")
