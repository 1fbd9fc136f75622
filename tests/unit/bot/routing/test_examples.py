"""The labelled file is what its head says it is."""

from collections import Counter, defaultdict

from bot.routing import Route
from bot.routing.examples import Example, Part, load_examples

_RULE = (Part.EXAMPLES, Part.EXAMPLES, Part.CALIBRATION, Part.EXAMPLES, Part.TEST)


def _group() -> dict[tuple[Route, str], list[Example]]:
    groups: dict[tuple[Route, str], list[Example]] = defaultdict(list)
    for one in load_examples():
        groups[(one.route, one.lang)].append(one)
    return groups


def test_every_route_has_examples_in_both_languages_about_half_each() -> None:
    groups = _group()
    assert set(groups) == {(route, lang) for route in Route for lang in ("zh", "en")}
    for route in Route:
        zh, en = len(groups[(route, "zh")]), len(groups[(route, "en")])
        assert abs(zh - en) <= 0.1 * max(zh, en)


def test_the_part_of_a_line_follows_from_its_place() -> None:
    for lines in _group().values():
        assert [one.part for one in lines] == [_RULE[place % 5] for place in range(len(lines))]


def test_no_message_stands_twice() -> None:
    texts = Counter(one.text.casefold().strip() for one in load_examples())
    assert [text for text, count in texts.items() if count > 1] == []
