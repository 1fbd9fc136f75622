"""Traces in the browser: entered by a token, read, opened with a reason, replayed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.browser.company import (
    ANN,
    BEN,
    DISK_QUESTION,
    KIM,
    LEAVE_QUESTION,
    MIXED,
    OPEN,
    SALARY_QUESTION,
)
from tests.browser.conftest import Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE: Mapping[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
DARK: Mapping[str, Any] = {"locale": "zh-CN", "color_scheme": "dark"}
REASON = "ticket 17: the answer was wrong"


def enter(desk: Desk, **options: Any) -> "Page":
    """Open the pages and enter with the token the playground tells."""
    page = desk.open(f"{desk.addresses['admin']}enter", **options)
    page.locator("input[name=token]").fill(desk.addresses["admin_token"])
    page.keyboard.press("Enter")
    page.locator("table, p.card").first.wait_for()
    assert desk.addresses["admin_token"] not in page.url
    return page


def ask(desk: Desk) -> None:
    """Let somebody ask something, so that there are traces."""
    desk.sit(ANN, MIXED).ask(SALARY_QUESTION)
    desk.sit(KIM, OPEN).ask(LEAVE_QUESTION)
    desk.sit(BEN, OPEN).ask(DISK_QUESTION)


def open_content(page: "Page", text: str) -> None:
    """Open the latest trace's content, with a reason."""
    page.locator("tbody a").first.click()
    page.locator("input[name=reason]").first.fill(REASON)
    page.get_by_role("button", name=text, exact=True).click()
    page.locator("tr.kept").first.wait_for()


def is_readable_at(page: "Page", width: int) -> bool:
    return bool(page.evaluate(f"document.documentElement.scrollWidth <= {width}"))


def test_an_answer_is_explained_and_replayed(desk: Desk) -> None:
    ask(desk)
    page = enter(desk)
    assert page.locator("tbody tr").count() >= 3
    assert DISK_QUESTION not in page.content()
    page.locator("tbody a").first.click()
    page.locator("svg .bar").first.wait_for()
    assert page.locator("h1", has_text=DISK_QUESTION).count() == 0
    page.go_back()
    open_content(page, "Open")
    page.locator("h1", has_text=DISK_QUESTION).wait_for()
    assert page.locator("tr.kept", has_text="Full disks").count() >= 1
    outline = enter(desk)
    outline.locator("tbody a").first.click()
    outline.locator("text=Open the content").wait_for()
    again = enter(desk)
    open_content(again, "Open")
    again.locator("select[name=fusion]").select_option("rrf")
    again.locator("input[name=limit]").fill("2")
    again.locator("input[name=reason]").fill(REASON)
    again.get_by_role("button", name="Replay").click()
    again.locator("text=Where passages moved").wait_for()
    assert again.locator("section.card", has_text="du -xh").count() == 1


def test_the_pages_speak_chinese_and_are_dark(desk: Desk) -> None:
    page = enter(desk, **DARK)
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.locator("h1", has_text="提问记录").wait_for()
    trace = enter(desk, **DARK)
    open_content(trace, "查看")
    overview = enter(desk, **DARK)
    overview.get_by_role("link", name="概览").click()
    overview.locator("caption", has_text="每天的提问数").wait_for()
    page.get_by_role("link", name="English").click()
    page.locator("h1", has_text="Traces").wait_for()
    page.reload()
    page.get_by_role("link", name="Overview").click()
    page.locator("caption", has_text="Questions a day").wait_for()


def test_the_pages_fit_a_phone(desk: Desk) -> None:
    entry = desk.open(f"{desk.addresses['admin']}enter", **PHONE)
    assert is_readable_at(entry, 360)
    page = enter(desk, **PHONE)
    assert is_readable_at(page, 360)
    trace = enter(desk, **PHONE)
    open_content(trace, "Open")
    assert is_readable_at(trace, 360)
    overview = enter(desk, **PHONE)
    overview.get_by_role("link", name="Overview").click()
    overview.locator("caption").first.wait_for()
    assert is_readable_at(overview, 360)


def test_the_pages_are_used_by_keyboard_alone(desk: Desk) -> None:
    page = enter(desk)
    keys = page.keyboard
    keys.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    keys.press("Tab")
    assert page.evaluate("document.activeElement.name") == "words"
    keys.type("nothing of the kind")
    keys.press("Enter")
    page.locator("text=No trace fits.").wait_for()
