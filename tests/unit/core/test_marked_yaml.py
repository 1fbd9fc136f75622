import pytest

from core.marked_yaml import Mark, YamlError, load_marked_yaml


def test_every_part_remembers_where_it_stands() -> None:
    found = load_marked_yaml("name: a\nrows:\n  full: [x, y]\n")
    assert found.value == {"name": "a", "rows": {"full": ["x", "y"]}}
    assert found.find_mark(("rows", "full", 1)) == Mark(line=3, column=13)
    assert found.find_mark(("rows", "full")) == Mark(line=3, column=3)


def test_what_is_missing_is_looked_for_around_it() -> None:
    found = load_marked_yaml("a:\n  b: 1\n")
    assert found.find_mark(("a", "c", "d")) == Mark(line=1, column=1)
    assert found.find_mark(("z",)) == Mark(line=1, column=1)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("a: 1\na: 2\n", "stands twice", 2),
        ("a: &x 1\nb: *x\n", "aliases", 2),
        ("a: 1\nb: [1, 2\n", "not valid YAML", 3),
        ("a: !!python/object/apply:os.system [ls]\n", "the tag", 1),
        ("a: !mine x\n", "the tag", 1),
        ("[a]: 1\n? {b: 1}\n: 2\n", "must be a plain text", 1),
        ("a: \x00\n", "not valid YAML", 1),
        ("- " * 60 + "x", "levels deep", 1),
    ],
)
def test_what_could_mean_something_else_is_refused_where_it_stands(
    text: str, said: str, line: int
) -> None:
    with pytest.raises(YamlError, match=said) as caught:
        load_marked_yaml(text)
    assert caught.value.mark.line == line


def test_a_date_stays_the_text_it_is() -> None:
    assert load_marked_yaml("day: 2026-10-15\nno: off").value == {"day": "2026-10-15", "no": False}


def test_nothing_is_nothing() -> None:
    assert load_marked_yaml("# only a comment\n").value is None
