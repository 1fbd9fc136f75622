"""`zhixing jobs`, and what `zhixing status` says of runs and completeness."""

import asyncio
from datetime import UTC, datetime

import pytest

from core.errors import SettingsError
from knowledge.runs import RunKind
from knowledge.sync_lock import RunInTheWayError
from scheduler.jobs import JobStore
from tests.unit.bot.office import LEAVE_QUESTION, OPS, Office

PAGES = 6
LEAVE_PAGE = "handbook/休假制度.md"


def test_jobs_are_listed_before_anybody_serves(office: Office) -> None:
    found = office.run_json("jobs", "list")
    assert found["leader"] is None
    assert [(one["source"], one["kind"], one["interval_s"]) for one in found["jobs"]] == [
        ("assistant", "expiry", 60),
        ("files", "incremental", 300),
        ("files", "reconciliation", 86_400),
        ("files", "rights", 900),
        ("files", "pruning", 86_400),
    ]
    text = office.run("jobs", "list").stdout
    assert "nobody serves" in text
    assert "files/rights" in text


def test_a_job_is_run_here_when_nobody_serves(office: Office) -> None:
    (office.files / LEAVE_PAGE).write_text(
        "# 休假制度\n\n## 年假结转\n\n未休完的年假最多可以结转 9 天。\n", encoding="utf-8"
    )
    done = office.run_json("jobs", "run", "files")["run"]
    assert (done["kind"], done["started_by"], done["status"]) == ("incremental", "person", "done")
    assert done["counts"]["changed"] == 1
    assert "9 天" in office.run_json("ask", LEAVE_QUESTION, "--as", OPS)["answer"]
    [job] = [one for one in office.run_json("jobs", "list")["jobs"] if one["kind"] == "incremental"]
    assert job["last_run"]["run_id"] == done["run_id"]
    assert job["requested_at"] is None


@pytest.mark.parametrize("kind", ["reconciliation", "rights", "pruning"])
def test_every_kind_can_be_run_and_is_remembered(office: Office, kind: str) -> None:
    done = office.run_json("jobs", "run", "files", kind)["run"]
    assert (done["kind"], done["status"]) == (kind, "done")
    [remembered] = office.run_json("jobs", "history", "--kind", kind)["runs"]
    assert remembered["run_id"] == done["run_id"]
    assert remembered["seconds"] is not None
    assert kind in office.run("jobs", "history", "--source", "files").stdout


def test_the_count_of_a_run_is_stored_page_by_page(office: Office) -> None:
    (office.files / "handbook" / "broken.docx").write_bytes(b"PK\x03\x04 damaged")
    office.run_json("jobs", "run", "files", "reconciliation")
    [done] = office.run_json("jobs", "history", "--kind", "reconciliation")["runs"]
    [counted] = done["completeness"]
    assert (counted["source_count"], counted["index_count"]) == (PAGES + 1, PAGES)
    [missing] = counted["missing"]
    assert missing["id"] == "files:handbook/broken.docx"
    assert missing["reason"]
    assert counted["rows_owed"] == 0
    [source] = office.run_json("status")["sources"]
    assert source["completeness"] == [counted]
    text = office.run("status").stdout
    assert f"{PAGES + 1} pages at the source, {PAGES} in the index" in text
    assert "missing files:handbook/broken.docx" in text


def test_a_job_is_paused_and_resumed(office: Office) -> None:
    assert office.run_json("jobs", "pause", "files", "rights")["kinds"] == ["rights"]
    states = {one["kind"]: one["is_paused"] for one in office.run_json("jobs", "list")["jobs"]}
    assert states == {
        "expiry": False,
        "incremental": False,
        "reconciliation": False,
        "rights": True,
        "pruning": False,
    }
    assert "paused files: incremental" in office.run("jobs", "pause", "files").stdout
    office.run("jobs", "resume", "files")
    assert not any(one["is_paused"] for one in office.run_json("jobs", "list")["jobs"])


@pytest.mark.parametrize(
    "arguments",
    [("run", "nowhere"), ("pause", "nowhere"), ("resume", "nowhere"), ("run", "files", "sync")],
)
def test_what_is_no_job_is_said_to_the_operator(office: Office, arguments: tuple[str, ...]) -> None:
    result = office.run("jobs", *arguments)
    assert isinstance(result.exception, SettingsError)


def test_a_failed_run_shows_in_status(office: Office) -> None:
    office.company.rename(office.company.with_name("elsewhere"))
    result = office.run("jobs", "run", "files", "reconciliation")
    assert isinstance(result.exception, SettingsError)
    [source] = office.run_json("status")["sources"]
    assert source["last_run"]["status"] == "failed"
    assert "does not exist" in source["last_run"]["error"]
    assert "does not exist" in office.run("status").stdout
    [job] = [one for one in office.run_json("jobs", "list")["jobs"] if one["kind"] == "incremental"]
    assert job["requested_at"] is None


def test_intervals_of_an_unknown_source_are_refused(office: Office) -> None:
    office.add_settings("[scheduler.sources.nowhere]\nrights_s = 60\n")
    result = office.run("jobs", "list")
    assert "names no source" in str(result.exception)


async def test_a_sync_and_a_job_of_one_source_never_run_at_once(office: Office) -> None:
    async with office.open() as product:
        with pytest.raises(RunInTheWayError):
            async with (
                product.sync_lock.hold("files", RunKind.RIGHTS),
                product.sync_lock.hold("files", RunKind.SYNC),
            ):
                pass
        async with (
            product.sync_lock.hold("files", RunKind.RIGHTS),
            product.sync_lock.hold("other", RunKind.SYNC),
        ):
            pass


def test_a_request_waits_for_the_process_that_leads(office: Office) -> None:
    office.run("jobs", "list")

    async def request() -> None:
        async with office.open() as product:
            store = JobStore(product.state.database)
            await store.request("files", RunKind.RIGHTS, datetime.now(UTC))

    asyncio.run(request())
    jobs = office.run_json("jobs", "list")["jobs"]
    assert [one["kind"] for one in jobs if one["requested_at"]] == ["rights"]


def test_a_folder_that_is_gone_takes_no_right_away_until_a_person_agrees(office: Office) -> None:
    aside = office.company.with_name("elsewhere")
    office.company.rename(aside)
    done = office.run_json("jobs", "run", "files", "rights")["run"]
    assert (done["counts"]["changed"], done["counts"]["held"]) == (0, PAGES)
    [source] = office.run_json("status")["sources"]
    [hold] = source["holds"]
    assert (hold["scope"], hold["missing"]) == ("rights:files", PAGES)
    assert "nobody could read" in office.run("status").stdout
    assert "5 天" in office.run_json("ask", LEAVE_QUESTION, "--as", OPS)["answer"]
    aside.rename(office.company)
    # Agreeing to deletions looks at the rights again, and these are back.
    assert office.run("sync", "--accept-deletions").exit_code == 0
    [source] = office.run_json("status")["sources"]
    assert (source["holds"], source["held_documents"]) == ([], 0)
    assert "5 天" in office.run_json("ask", LEAVE_QUESTION, "--as", OPS)["answer"]
