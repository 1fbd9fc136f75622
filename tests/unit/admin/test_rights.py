"""What a viewer may not see is as if it were not there: questions, pages, counts, replays."""

import asyncio
import re

import pytest
from sqlalchemy import func, select

from admin.replay_page import REPLAYS
from bot.agent.action_store import pending_actions
from bot.agent.wiring import open_audit_log
from bot.trace import TraceStore
from core.admin_settings import AdminSettings
from core.errors import SettingsError
from tests.unit.admin.desk import AdminDesk, Tab, open_desk
from tests.unit.bot.office import (
    GROUPS,
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY_QUESTION,
    Office,
    ask,
    write_directory,
)

SALARY_PAGE = "薪酬带宽"
HIDDEN_QUESTION, OPEN_GLASS = "Asked by somebody else", AdminSettings(break_glass=True)
REASON = {"reason": "ticket 17: the answer was wrong"}
_ROW = re.compile(r'<a href="/traces/(\w+)">')


def names_page(text: str) -> bool:
    """Tell whether the restricted page is named anywhere, as all pages are."""
    return re.search(rf">\s*{SALARY_PAGE}\s*<", text) is not None


def list_rows(text: str) -> set[str]:
    return set(_ROW.findall(text))


async def ask_all(desk: AdminDesk) -> tuple[str, str, str]:
    """Let HR, operations and the operator ask something each."""
    hr = await ask(desk.product, SALARY_QUESTION, HR)
    ops = await ask(desk.product, LEAVE_QUESTION, OPS)
    operator = await ask(desk.product, SALARY_QUESTION, None)
    return hr.trace_id, ops.trace_id, operator.trace_id


async def test_people_see_their_own_traces_and_none_besides(office: Office) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, ops, operator = await ask_all(desk)
        tab = await desk.sit(OPS)
        reply = await tab.get("/")
        assert list_rows(reply.text) == {ops}
        assert LEAVE_QUESTION in reply.text
        assert HIDDEN_QUESTION not in reply.text
        own = await tab.get(f"/traces/{ops}")
        assert own.status == 200
        assert "休假制度" in own.text
        missing = await tab.get("/traces/000000000000")
        for other in (hr, operator):
            refused = await tab.get(f"/traces/{other}")
            assert refused.status == missing.status == 404
            assert refused.text == missing.text.replace("000000000000", other)
            for path in ("open", "replay"):
                assert (await tab.submit(f"/traces/{other}/{path}", REASON)).status == 404


@pytest.mark.parametrize("field", ["asker", "words", "outcome", "place"])
async def test_no_filter_finds_what_others_asked(office: Office, field: str) -> None:
    value = {"asker": HR, "words": "薪酬", "outcome": "answered", "place": "dm"}[field]
    async with open_desk(office) as desk:
        hr, _, operator = await ask_all(desk)
        found = list_rows((await (await desk.sit(OPS)).get(f"/?{field}={value}")).text)
        assert not found & {hr, operator}


async def test_words_are_looked_for_in_own_questions_alone(office: Office) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, ops, operator = await ask_all(desk)
        tab = await desk.sit()
        assert list_rows((await tab.get("/?words=薪酬")).text) == {operator}
        assert list_rows((await tab.get("/?words=年假")).text) == set()
        assert list_rows((await tab.get("/?words=%25")).text) == set()
        both = await desk.sit(OPS, is_operator=True)
        assert list_rows((await both.get("/?words=薪酬")).text) == set()
        assert list_rows((await both.get("/?words=年假")).text) == {ops}
        assert list_rows((await both.get("/")).text) == {hr, ops, operator}


async def test_operators_see_the_outline_of_others_and_nothing_of_the_content(
    office: Office,
) -> None:
    async with open_desk(office) as desk:
        hr, _, _ = await ask_all(desk)
        for tab in (await desk.sit(), await desk.sit(OPS, is_operator=True)):
            assert SALARY_QUESTION not in (await tab.get(f"/?asker={HR}")).text
            page = await tab.get(f"/traces/{hr}")
            assert page.status == 200
            assert "recall: words" in page.text
            for secret in (SALARY_QUESTION, SALARY_PAGE, "薪酬", "38,000", "Open the content"):
                assert secret not in page.text
            refused = await tab.submit(f"/traces/{hr}/open", REASON)
            assert refused.status == 400
            assert SALARY_QUESTION not in refused.text
            assert (await tab.submit(f"/traces/{hr}/replay", REASON)).status == 400
        assert await open_audit_log(desk.product.state).load() == []


async def test_broken_glass_is_told_in_the_audit_log_each_time(office: Office) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, _, _ = await ask_all(desk)
        tab = await desk.sit()
        for form in ({}, {"reason": "  x  "}, {"reason": "x" * 501}):
            assert (await tab.submit(f"/traces/{hr}/open", form)).status == 400
        log = open_audit_log(desk.product.state)
        assert await log.load() == []
        for _ in range(2):
            opened = await tab.submit(f"/traces/{hr}/open", REASON)
            assert SALARY_QUESTION in opened.text
            assert names_page(opened.text)
        entries = await log.load()
        assert [one.event for one in entries] == ["trace_viewed"] * 2
        expected = {"viewer": "operator", "trace_id": hr, "asker": HR, **REASON}
        assert entries[0].details == expected
        assert (await log.verify()).broken_at is None
        assert SALARY_QUESTION not in (await tab.get(f"/traces/{hr}")).text


async def test_broken_glass_shows_passages_under_the_viewers_own_rights(office: Office) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, _, _ = await ask_all(desk)
        tab = await desk.sit(OPS, is_operator=True)
        opened = await tab.submit(f"/traces/{hr}/open", REASON)
        assert SALARY_QUESTION in opened.text
        body = opened.text.replace(SALARY_QUESTION, "")
        assert "38,000" not in body
        assert not names_page(body)


async def test_what_was_withdrawn_leaves_own_traces(office: Office) -> None:
    async with open_desk(office) as desk:
        hr, _, _ = await ask_all(desk)
        tab = await desk.sit(HR)
        assert names_page((await tab.get(f"/traces/{hr}")).text)
    write_directory(office.company, groups=GROUPS[1:])
    await asyncio.to_thread(office.run, "directory", "import", office.company)
    async with open_desk(office) as desk:
        page = await (await desk.sit(HR)).get(f"/traces/{hr}")
        assert page.status == 200
        assert not names_page(page.text)
        assert "not shown" in page.text


async def test_counts_are_of_own_questions(office: Office) -> None:
    async with open_desk(office) as desk:
        tab = await desk.sit(OPS)
        before = await tab.get("/overview")
        await ask(desk.product, SALARY_QUESTION, HR)
        await ask(desk.product, SALARY_QUESTION, None)
        assert (await tab.get("/overview")).text == before.text
        assert "Sources" not in before.text
        operator = await (await desk.sit()).get("/overview")
        assert '<td class="number">2</td>' in operator.text
        assert "Sources" in operator.text


async def test_a_replay_runs_under_the_viewers_rights(office: Office) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, ops, _ = await ask_all(desk)
        tab = await desk.sit(OPS, is_operator=True)
        for rights in ("viewer", "asker"):
            page = await tab.submit(f"/traces/{hr}/replay", {**REASON, "rights": rights})
            assert page.status == 200
            body = page.text.replace(SALARY_QUESTION, "")
            assert "38,000" not in body
            assert not names_page(body)
        entries = await open_audit_log(desk.product.state).load()
        assert [one.event for one in entries] == ["trace_replayed"] * 2
        assert [one.details["rights"] for one in entries] == ["viewer", "asker"]
        # The words stay somebody else's, in the list and on the page of the replay too.
        rows = list_rows((await tab.get("/?kind=replays")).text)
        assert len(rows) == 2
        assert SALARY_QUESTION not in (await tab.get("/?kind=replays")).text
        assert list_rows((await tab.get("/?kind=replays&words=薪酬")).text) == set()
        for row in rows:
            assert SALARY_QUESTION not in (await tab.get(f"/traces/{row}")).text
        assert list_rows((await (await desk.sit(OPS)).get("/?kind=replays")).text) == set()
        assert list_rows((await (await desk.sit(HR)).get("/?kind=replays")).text) == set()
        assert ops in list_rows((await tab.get("/")).text)


async def test_the_operator_replays_as_the_asker(office: Office) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, _, operator = await ask_all(desk)
        tab = await desk.sit()
        page = await tab.submit(f"/traces/{hr}/replay", {**REASON, "rights": "asker"})
        assert "38,000" in page.text
        [replay] = list_rows((await tab.get("/?kind=replays")).text)
        kept = await desk.product.state.traces.get(replay)
        assert (kept.replay_of, kept.asker, kept.is_foreign) == (hr, None, True)
        other = await desk.sit(OPS, is_operator=True)
        refused = await other.submit(f"/traces/{operator}/replay", {**REASON, "rights": "asker"})
        assert refused.status == 400


async def test_a_replay_with_other_settings_is_compared_and_does_nothing(office: Office) -> None:
    async with open_desk(office) as desk:
        answer = await ask(desk.product, LEAVE_QUESTION, OPS)
        tab = await desk.sit(OPS)
        form = {"recall_terms": "5", "fusion": "rrf", "limit": "2", "sufficiency": "on"}
        page = await tab.submit(f"/traces/{answer.trace_id}/replay", form)
        assert page.status == 200
        assert "5 天" in page.text
        assert "same" in page.text
        [kept] = list_rows((await tab.get("/?kind=replays")).text)
        trace = await desk.product.state.traces.get(kept)
        assert (trace.replay_of, trace.asker, trace.is_foreign) == (answer.trace_id, OPS, False)
        assert list_rows((await tab.get("/")).text) == {answer.trace_id}
        count = select(func.count()).select_from(pending_actions)
        database = desk.product.state.database
        assert await database.read(lambda connection: connection.scalar(count)) == 0
        for bad in ({"limit": "0"}, {"recall_terms": "many"}, {"as_of": "yesterday"}):
            reply = await tab.submit(f"/traces/{answer.trace_id}/replay", bad)
            assert reply.status == 400


async def test_as_of_a_day_before_anything_was_written_nothing_is_found(office: Office) -> None:
    async with open_desk(office) as desk:
        answer = await ask(desk.product, LEAVE_QUESTION, OPS)
        tab = await desk.sit(OPS)
        form = {"as_of": "2001-01-01", "sufficiency": "on"}
        page = await tab.submit(f"/traces/{answer.trace_id}/replay", form)
        assert "not found" in page.text


async def test_replays_are_limited(office: Office) -> None:
    async with open_desk(office) as desk:
        answer = await ask(desk.product, LEAVE_QUESTION, OPS)
        tab = await desk.sit(OPS)
        replays = [
            (await tab.submit(f"/traces/{answer.trace_id}/replay", {})).status
            for _ in range(REPLAYS + 1)
        ]
        assert replays == [200] * REPLAYS + [429]


async def test_replays_of_others_questions_are_not_told_on_the_command_line(
    office: Office,
) -> None:
    async with open_desk(office, OPEN_GLASS) as desk:
        hr, _, _ = await ask_all(desk)
        tab: Tab = await desk.sit(OPS, is_operator=True)
        await tab.submit(f"/traces/{hr}/replay", REASON)
        traces: TraceStore = desk.product.state.traces
        assert all(not one.is_foreign for one in await traces.list_recent(asker=OPS))
        [replay] = list_rows((await tab.get("/?kind=replays")).text)
    result = await asyncio.to_thread(office.run, "trace", replay, "--as", OPS)
    assert isinstance(result.exception, SettingsError)
