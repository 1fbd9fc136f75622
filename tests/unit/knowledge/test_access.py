import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.access import (
    ALL_MEMBERS,
    EVERYBODY,
    NOBODY,
    NOTHING,
    OPERATOR,
    AccessNo,
    AccessRule,
    Principal,
    ReadableClasses,
)

NAMES = st.sampled_from(["public", "members", "group:a/x", "group:b/x", "user:u1", "user:u2"])
CLAUSES = st.lists(st.frozensets(NAMES, max_size=3), min_size=1, max_size=4)
READERS = st.frozensets(NAMES.map(Principal), max_size=6)


def test_a_rule_without_clauses_is_refused() -> None:
    with pytest.raises(ValueError, match="NOBODY"):
        AccessRule(())


@given(CLAUSES, READERS)
def test_the_canonical_form_admits_exactly_whom_all_clauses_admit(
    clauses: list[frozenset[str]], reader: frozenset[Principal]
) -> None:
    expected = all(frozenset(map(Principal, clause)) & reader for clause in clauses)
    assert AccessRule.of(*clauses).admits(reader) is expected


@given(CLAUSES, CLAUSES, READERS)
def test_both_rules_admit_only_whom_each_admits(
    one: list[frozenset[str]], other: list[frozenset[str]], reader: frozenset[Principal]
) -> None:
    first, second = AccessRule.of(*one), AccessRule.of(*other)
    both = first & second
    assert both.admits(reader) is (first.admits(reader) and second.admits(reader))
    assert both == second & first
    assert both.access_id == (second & first).access_id


def test_equal_rules_written_differently_share_an_id() -> None:
    one = AccessRule.of(["members", "user:a"], ["group:x/1"], ["group:x/1", "user:b"])
    other = AccessRule.of(["group:x/1"], ["user:a", "members"])
    assert one.access_id == other.access_id
    assert one.access_id != ALL_MEMBERS.access_id


def test_nobody_admits_nobody_and_a_join_with_it_stays_so() -> None:
    everything = frozenset(map(Principal, ["public", "members", "user:u1"]))
    assert not NOBODY.admits(everything)
    assert not (NOBODY & EVERYBODY).admits(everything)


def test_readable_classes_deny_what_they_do_not_name() -> None:
    some = ReadableClasses(
        numbers=frozenset({AccessNo(1)}), denied=frozenset({AccessNo(2)}), last_known=AccessNo(2)
    )
    assert some.admits(AccessNo(1))
    assert not some.admits(AccessNo(2))
    assert not some.admits(AccessNo(3))
    assert not NOTHING.admits(AccessNo(1))
    assert OPERATOR.admits(AccessNo(3))
    assert len({some.cache_key, NOTHING.cache_key, OPERATOR.cache_key}) == 3
