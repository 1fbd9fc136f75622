"""Tries within a while."""

from admin.limits import MOST_NAMES, Tries


class Watch:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_name_waits_until_its_first_try_is_old() -> None:
    watch = Watch()
    tries = Tries(each=2, window_s=60.0, monotonic=watch)
    tries.count("a")
    watch.now += 10
    assert tries.seconds_left("a") == 0
    tries.count("a")
    assert tries.seconds_left("a") == 50
    assert tries.seconds_left("b") == 0
    watch.now += 50
    assert tries.seconds_left("a") == 0


def test_all_names_together_have_a_limit_too() -> None:
    watch = Watch()
    tries = Tries(each=2, window_s=60.0, total=3, monotonic=watch)
    for name in "abc":
        tries.count(name)
    assert tries.seconds_left("d") == 60
    watch.now += 60
    assert tries.seconds_left("d") == 0


def test_names_do_not_pile_up() -> None:
    tries = Tries(each=1, window_s=60.0, monotonic=Watch())
    for number in range(MOST_NAMES + 1):
        tries.count(str(number))
    assert tries.seconds_left("0") == 0
    assert tries.seconds_left("1") > 0
