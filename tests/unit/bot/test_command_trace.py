"""`zhixing trace`: what happened, told to the asker and the operator, under today's rights."""

import pytest

from bot.trace_steps import TraceSteps
from core.errors import SettingsError
from tests.unit.bot.office import (
    GROUPS,
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
    write_directory,
)


def ask(office: Office, question: str, *options: str) -> str:
    return str(office.run_json("ask", question, *options)["trace_id"])


def test_a_trace_tells_every_step_in_order(office: Office) -> None:
    trace_id = ask(office, LEAVE_QUESTION, "--as", OPS)
    found = office.run_json("trace", trace_id)
    assert list(found)[:6] == ["trace_id", "at", "asker", "place", "question", "outcome"]
    assert found["asker"] == OPS
    assert found["place"] == "dm"
    assert found["outcome"] == "answered"
    steps = [step["step"] for step in found["steps"]]
    assert steps[:2] == ["understand", "route"]
    assert steps[-1] == "answer (public)"
    assert "sufficiency (public)" in steps
    assert all(
        list(step)[:5] == ["step", "took_ms", "rows", "note", "at_ms"] for step in found["steps"]
    )
    starts = [step["at_ms"] for step in found["steps"]]
    assert starts == sorted(starts)
    [passage] = found["passages"].values()
    assert passage["title"] == "休假制度"


def test_a_trace_in_words_shows_the_passages_with_their_scores(office: Office) -> None:
    trace_id = ask(office, LEAVE_QUESTION, "--as", OPS)
    result = office.run("trace", trace_id)
    assert f"asked by {OPS} in dm: {LEAVE_QUESTION}" in result.stdout
    assert "outcome: answered" in result.stdout
    assert "休假制度: " in result.stdout
    assert "not readable for you" not in result.stdout


def test_the_asker_sees_their_own_trace_and_nobody_elses(office: Office) -> None:
    trace_id = ask(office, LEAVE_QUESTION, "--as", OPS)
    assert office.run_json("trace", trace_id, "--as", OPS)["trace_id"] == trace_id
    result = office.run("trace", trace_id, "--as", HR)
    assert isinstance(result.exception, SettingsError)
    assert result.stdout == ""
    assert LEAVE_QUESTION not in str(result.exception)


def test_a_trace_of_somebody_else_is_refused_as_one_that_does_not_exist(office: Office) -> None:
    for options in (("--as", OPS), ()):
        trace_id = ask(office, LEAVE_QUESTION, *options)
        refused = str(office.run("trace", trace_id, "--as", HR).exception)
        unknown = str(office.run("trace", "0" * 12, "--as", HR).exception)
        assert refused == unknown.replace("0" * 12, trace_id)


def test_passages_are_shown_under_the_rights_of_today(office: Office) -> None:
    trace_id = ask(office, SALARY_QUESTION, "--as", HR)
    assert SALARY in office.run("trace", trace_id, "--as", HR).stdout
    write_directory(office.company, groups=GROUPS[1:])
    office.run("directory", "import", office.company)
    result = office.run("trace", trace_id, "--as", HR)
    assert result.exit_code == 0
    assert SALARY not in result.stdout
    assert "薪酬带宽:" not in result.stdout
    assert "not readable for you, or gone" in result.stdout
    assert office.run_json("trace", trace_id, "--as", HR)["passages"] == {}
    assert office.run_json("trace", trace_id)["passages"]


def test_a_passage_that_was_deleted_is_counted_and_not_shown(office: Office) -> None:
    trace_id = ask(office, SALARY_QUESTION, "--as", HR)
    (office.files / "hr" / "薪酬带宽.md").unlink()
    office.run_json("sync", "--accept-deletions")
    assert SALARY not in office.run("trace", trace_id).stdout


def test_what_was_searched_privately_in_a_channel_is_told_apart(office: Office) -> None:
    trace_id = ask(office, SALARY_QUESTION, "--as", HR, "--in", "c-mixed")
    found = office.run_json("trace", trace_id, "--as", HR)
    assert found["place"] == "c-mixed"
    rows = {step["step"]: step["rows"] for step in found["steps"]}
    assert rows["answer (public)"] == []
    assert len(rows["answer (private)"]) == 1


def test_the_list_is_newest_first_and_a_persons_own(office: Office) -> None:
    ours = ask(office, LEAVE_QUESTION, "--as", OPS)
    theirs = ask(office, SALARY_QUESTION, "--as", HR)
    assert {one["trace_id"] for one in office.run_json("trace")["traces"]} == {ours, theirs}
    [only] = office.run_json("trace", "--as", OPS)["traces"]
    assert list(only) == ["trace_id", "at", "asker", "place", "question", "outcome"]
    assert only["trace_id"] == ours
    assert len(office.run_json("trace", "--limit", "1")["traces"]) == 1
    text = office.run("trace", "--as", HR).stdout
    assert theirs in text
    assert ours not in text


def test_no_trace_yet_is_said(office: Office) -> None:
    assert office.run("trace").stdout == "no traces yet\n"
    assert office.run_json("trace") == {"traces": []}


@pytest.mark.parametrize("options", [(), ("--as", OPS)])
def test_an_unknown_trace_is_said_so(office: Office, options: tuple[str, ...]) -> None:
    result = office.run("trace", "nothing", *options)
    assert isinstance(result.exception, SettingsError)
    assert "there is no trace 'nothing'" in str(result.exception)


def test_steps_keep_ids_and_scores_in_the_order_they_were_noted() -> None:
    steps = TraceSteps()
    steps.note("recall", took_ms=1.23456, rows=[("p1", 0.123456789)], note="2 terms")
    steps.note("answer")
    found = [{**one, "at_ms": 0} for one in steps.to_json() if isinstance(one, dict)]
    assert found == [
        {
            "step": "recall",
            "took_ms": 1.23,
            "rows": [["p1", 0.12346]],
            "note": "2 terms",
            "at_ms": 0,
        },
        {"step": "answer", "took_ms": None, "rows": [], "note": "", "at_ms": 0},
    ]
