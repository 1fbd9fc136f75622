"""`zhixing history`, `diff` and `forget`."""

import asyncio
import os
from urllib.parse import quote

import pytest

from core.errors import SettingsError
from knowledge.ingest_batch import EVERY_ROW
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, Office, ask

LEAVE_ID = "files:handbook/休假制度.md"
LEAVE = """# 休假制度

## 年假结转

未休完的年假最多可以结转 {days} 天，须在次年 3 月 31 日之前休完。

## 病假

病假期间照发工资，三天以上需要医院证明。{more}
"""
SALARY_ID = "files:hr/薪酬带宽.md"
BEFORE_QUESTION = "年假结转天数以前是多少？"


def write(office: Office, name: str, text: str, *, day: int) -> None:
    """Write a file as of a day in June 2026 and sync."""
    path = office.files / name
    path.write_text(text, encoding="utf-8")
    at = 1_780_272_000 + day * 86_400
    os.utime(path, (at, at))
    assert office.run("sync").exit_code == 0


@pytest.fixture
def changed(office: Office) -> Office:
    """Return an office whose leave page has three versions: 5, 7, then 9 days."""
    write(office, "handbook/休假制度.md", LEAVE.format(days=7, more=""), day=1)
    write(office, "handbook/休假制度.md", LEAVE.format(days=9, more="须在当天申请。"), day=2)
    return office


@pytest.mark.parametrize("name", [LEAVE_ID, "休假制度", " 休假制度 "])
def test_a_page_is_found_by_id_or_title(changed: Office, name: str) -> None:
    found = changed.run_json("history", name)
    assert found["document_id"] == LEAVE_ID
    assert [one["number"] for one in found["versions"]] == [1, 2, 3]
    assert [one["is_current"] for one in found["versions"]] == [False, False, True]
    assert found["versions"][0]["until"] == found["versions"][1]["at"]
    assert found["status"] == "current"
    text = changed.run("history", name).stdout
    assert "v3" in text
    assert "in force" in text


def test_a_page_is_found_by_its_url(changed: Office) -> None:
    url = changed.run_json("history", LEAVE_ID)["url"]
    assert url
    assert changed.run_json("history", url)["document_id"] == LEAVE_ID


@pytest.mark.parametrize(
    "name",
    [
        quote(LEAVE_ID),
        quote(LEAVE_ID, safe=""),
        "handbook/休假制度.md",
        quote("handbook/休假制度.md").lower(),
    ],
)
def test_a_path_is_found_with_and_without_percent_signs(changed: Office, name: str) -> None:
    assert changed.run_json("history", name)["document_id"] == LEAVE_ID
    assert changed.run_json("diff", name, "v1", "v2")["document_id"] == LEAVE_ID


def test_a_difference_is_shown_word_by_word(changed: Office) -> None:
    found = changed.run_json("diff", LEAVE_ID, "1", "v2")
    [section] = found["sections"]
    assert section["change"] == "changed"
    assert section["heading_path"][-1] == "年假结转"
    moved = [(one["operation"], one["text"]) for one in section["spans"]]
    assert ("removed", "5") in moved
    assert ("added", "7") in moved
    assert "结转 [-5-]{+7+} 天" in changed.run("diff", LEAVE_ID, "1", "2").stdout


def test_a_difference_is_shown_as_lines(changed: Office) -> None:
    text = changed.run("diff", LEAVE_ID, "1", "current", "--format", "unified").stdout
    assert "-未休完的年假最多可以结转 5 天" in text
    assert "+未休完的年假最多可以结转 9 天" in text
    assert "+病假期间照发工资，三天以上需要医院证明。须在当天申请。" in text
    assert "no difference" in changed.run("diff", LEAVE_ID, "2", "2").stdout


def test_an_unknown_version_names_those_there_are(changed: Office) -> None:
    result = changed.run("diff", LEAVE_ID, "1", "9")
    assert isinstance(result.exception, SettingsError)
    assert "v1, v2, v3" in str(result.exception)


def test_who_may_not_read_a_page_learns_nothing_of_its_versions(office: Office) -> None:
    assert office.run_json("history", "薪酬带宽", "--as", HR)["document_id"] == SALARY_ID
    refused = office.run("history", "薪酬带宽", "--as", OPS)
    unknown = office.run("history", "没有这一页", "--as", OPS)
    assert str(refused.exception).replace("薪酬带宽", "没有这一页") == str(unknown.exception)
    assert office.run("diff", SALARY_ID, "1", "1", "--as", OPS).exception is not None


def test_rights_of_today_hold_for_former_versions(changed: Office) -> None:
    (changed.files / "handbook" / ".access.yaml").write_text("read:\n  - group:company/hr\n")
    assert changed.run("jobs", "run", "files", "rights").exit_code == 0
    assert changed.run_json("diff", LEAVE_ID, "1", "3", "--as", HR)["sections"]
    assert changed.run("diff", LEAVE_ID, "1", "3", "--as", OPS).exception is not None
    answer = changed.run_json("ask", BEFORE_QUESTION, "--as", OPS)["answer"]
    assert not any(former in answer for former in ("5 天", "7 天", "9 天"))


def test_a_forgotten_version_is_nowhere(changed: Office) -> None:
    assert "7 天" in changed.run_json("ask", BEFORE_QUESTION)["answer"]
    found = changed.run_json("forget", LEAVE_ID, "2")
    assert (found["document_id"], found["version"], found["versions"]) == (LEAVE_ID, 2, 1)
    assert found["rows"] >= 1
    assert found["traces"] == 1
    assert [one["number"] for one in changed.run_json("history", LEAVE_ID)["versions"]] == [1, 3]
    answer = changed.run_json("ask", BEFORE_QUESTION)["answer"]
    assert "7 天" not in answer
    assert "5 天" in answer
    assert "7 天" not in "".join(asyncio.run(read_index(changed)))
    # Nor does it come back.
    changed.run("sync")
    changed.run("jobs", "run", "files", "reconciliation")
    assert [one["number"] for one in changed.run_json("history", LEAVE_ID)["versions"]] == [1, 3]


def test_text_of_two_forgotten_versions_goes_with_the_second(changed: Office) -> None:
    # "7 days" held in the versions 2 and 3, which end here.
    write(changed, "handbook/休假制度.md", LEAVE.format(days=7, more="又。"), day=3)
    write(changed, "handbook/休假制度.md", LEAVE.format(days=7, more="再。"), day=4)
    write(changed, "handbook/休假制度.md", LEAVE.format(days=8, more="再。"), day=5)
    changed.run_json("forget", LEAVE_ID, "4")
    assert any("结转 7 天" in text for text in asyncio.run(read_index(changed)))
    changed.run_json("forget", LEAVE_ID, "5")
    changed.run_json("forget", LEAVE_ID, "2")
    assert not any("结转 7 天" in text for text in asyncio.run(read_index(changed)))


def test_a_forgotten_page_stays_away_until_it_changes(changed: Office) -> None:
    asyncio.run(ask_in_thread(changed))
    found = changed.run_json("forget", "休假制度")
    assert found["version"] is None
    assert found["versions"] == 3
    assert found["turns"] == 1
    assert asyncio.run(read_index(changed)) == []
    assert changed.run("history", LEAVE_ID).exception is not None
    again = changed.run_json("sync")
    assert [one["id"] for one in again["failures"]] == [LEAVE_ID]
    assert "forgotten" in again["failures"][0]["reason"]
    assert changed.run_json("sync")["documents"]["added"] == 0
    assert changed.run_json("ask", LEAVE_QUESTION)["outcome"] == "not_found"
    write(changed, "handbook/休假制度.md", LEAVE.format(days=6, more=""), day=9)
    assert "6 天" in changed.run_json("ask", LEAVE_QUESTION)["answer"]
    assert len(changed.run_json("history", LEAVE_ID)["versions"]) == 1


def test_the_version_in_force_is_not_forgotten_alone(changed: Office) -> None:
    result = changed.run("forget", LEAVE_ID, "3")
    assert isinstance(result.exception, SettingsError)
    assert "in force" in str(result.exception)


def test_forgetting_stands_in_the_history_of_runs(changed: Office) -> None:
    changed.run_json("forget", LEAVE_ID, "1")
    [run] = changed.run_json("jobs", "history", "--kind", "forgetting")["runs"]
    assert (run["source"], run["status"], run["counts"]["versions"]) == ("files", "done", 1)


def test_former_versions_are_pruned_by_number(changed: Office) -> None:
    changed.add_settings("[ingest]\nversions_kept = 2\n")
    done = changed.run_json("jobs", "run", "files", "pruning")["run"]
    assert done["counts"]["versions"] == 1
    assert [one["number"] for one in changed.run_json("history", LEAVE_ID)["versions"]] == [2, 3]
    assert not any("结转 5 天" in text for text in asyncio.run(read_index(changed)))


async def read_index(office: Office) -> list[str]:
    """Return every text of the leave page in the index, of whichever time."""
    async with office.open() as product:
        hits = await product.store.list_hits(EVERY_ROW, limit=1000)
        return [hit.text for hit in hits if hit.document_id == LEAVE_ID]


async def ask_in_thread(office: Office) -> None:
    async with office.open() as product:
        answer = await ask(product, LEAVE_QUESTION, None, thread="t1")
        assert answer.citations


def find_files(office: Office, words: str) -> list[str]:
    """Return the files of the home folder in which words stand as they are."""
    files = [path for path in office.home.rglob("*") if path.is_file()]
    return [path.name for path in files if words.encode() in path.read_bytes()]


def test_no_word_of_a_forgotten_page_is_left_in_any_file(changed: Office) -> None:
    asyncio.run(ask_in_thread(changed))
    assert find_files(changed, "未休完的年假")
    changed.run_json("forget", "休假制度")
    for words in ("未休完的年假", "最多可以结转", "年假最多", "三天以上需要医院证明"):
        assert find_files(changed, words) == []


def test_words_of_a_forgotten_version_alone_are_left_in_no_file(changed: Office) -> None:
    write(changed, "handbook/休假制度.md", LEAVE.format(days=11, more="鸭嘴兽另计。"), day=3)
    write(changed, "handbook/休假制度.md", LEAVE.format(days=12, more=""), day=4)
    assert find_files(changed, "鸭嘴兽另计")
    changed.run_json("forget", LEAVE_ID, "4")
    assert find_files(changed, "鸭嘴兽另计") == []
    assert find_files(changed, "最多可以结转 11 天") == []


def test_a_deleted_page_leaves_the_files_with_the_daily_pruning(changed: Office) -> None:
    (changed.files / "handbook" / "休假制度.md").unlink()
    changed.run("sync", "--accept-deletions")
    changed.run("jobs", "run", "files", "pruning")
    assert find_files(changed, "三天以上需要医院证明") == []


def test_nothing_is_forgotten_in_an_index_that_is_not_in_use(changed: Office) -> None:
    changed.add_settings('[analysis]\nsynonyms = ["words.txt"]\n')
    (changed.home / "words.txt").write_text("年假,假期\n", encoding="utf-8")
    result = changed.run("forget", LEAVE_ID)
    assert isinstance(result.exception, SettingsError)
    assert "zhixing sync" in str(result.exception)
