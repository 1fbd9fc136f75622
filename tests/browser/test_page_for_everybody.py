"""The page by keyboard, on a phone, in both languages, and with words meant to break it."""

import smtplib
from urllib.parse import urlsplit

from tests.browser.company import (
    ANN,
    BEN,
    DISK_QUESTION,
    GATE_QUESTION,
    KIM,
    LEAVE,
    LEAVE_QUESTION,
    MIXED,
    OPEN,
)
from tests.browser.conftest import Desk

PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True}


def test_everything_can_be_done_by_keyboard_alone(desk: Desk) -> None:
    chat = desk.sit(BEN, MIXED)
    page, keys = chat.page, chat.page.keyboard
    page.locator("#composer").wait_for()
    keys.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "composer"
    keys.type("@")
    page.locator(".option").nth(1).wait_for()
    keys.press("ArrowDown")
    keys.press("ArrowUp")
    assert page.locator('.option[aria-selected="true"]').inner_text().startswith("Zhixing")
    keys.press("Enter")
    keys.type(LEAVE_QUESTION)
    keys.press("Enter")
    replies = chat.room.locator("article", has_text=LEAVE_QUESTION).last.locator(".replies")
    replies.wait_for()
    replies.focus()
    keys.press("Enter")
    assert page.evaluate("document.activeElement.id") == "thread-composer"
    chat.finished_answer()
    for _ in range(30):
        keys.press("Shift+Tab")
        if page.evaluate("document.activeElement.textContent") == "没解决":
            break
    keys.press("Enter")
    form = page.get_by_role("dialog")
    form.wait_for()
    for _ in range(12):
        keys.press("Tab")
        assert page.evaluate("document.activeElement.closest('[role=dialog]') !== null")
    keys.press("Escape")
    form.wait_for(state="detached")
    assert page.evaluate("document.activeElement.textContent") == "没解决"
    keys.press("Escape")
    chat.thread.wait_for(state="detached")


def test_a_command_is_completed_and_a_menu_is_left_by_escape(desk: Desk) -> None:
    chat = desk.sit(BEN, MIXED)
    field = chat.page.locator("#composer")
    field.press_sequentially("/k")
    chat.page.locator(".option", has_text="/kb").wait_for()
    field.press("Tab")
    assert field.input_value() == "/kb "
    field.fill("")
    more = chat.page.get_by_role("button", name="Shortcuts")
    more.focus()
    more.press("Enter")
    chat.page.get_by_role("menu").wait_for()
    chat.page.keyboard.press("Escape")
    assert chat.page.get_by_role("menu").count() == 0
    assert chat.page.evaluate("document.activeElement.getAttribute('aria-label')") == "Shortcuts"


def test_it_fits_a_phone(desk: Desk) -> None:
    chat = desk.sit(KIM, OPEN, **PHONE)
    page = chat.page
    page.locator("#composer").wait_for()
    assert chat.is_readable_at(360)
    menu = page.get_by_role("button", name="Menu")
    menu.click()
    page.keyboard.press("Escape")
    page.locator("#to-D3").wait_for(state="hidden")
    menu.click()
    page.locator("#to-D3").click()
    page.locator("h1", has_text="Zhixing").wait_for()
    chat.type(LEAVE_QUESTION)
    page.locator("article", has_text=LEAVE).first.wait_for()
    assert chat.is_readable_at(360)
    page.get_by_role("button", name="Menu").click()
    page.locator(f"#to-{OPEN}").click()
    chat.ask(DISK_QUESTION).scroll_into_view_if_needed()
    assert chat.is_readable_at(360)
    chat.thread.get_by_role("button", name="Not solved").click()
    page.get_by_role("dialog").wait_for()
    assert chat.is_readable_at(360)


def test_it_speaks_chinese_and_english(desk: Desk) -> None:
    chat = desk.sit(ANN, OPEN, locale="zh-CN", color_scheme="dark")
    page = chat.page
    page.locator("#composer").wait_for()
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert "发送消息到 #everyone" in (page.locator("#composer").get_attribute("placeholder") or "")
    page.locator("#language").click()
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("#composer").get_attribute("placeholder") == "Message #everyone"
    page.reload()
    page.get_by_role("button", name="Send").wait_for()
    english = desk.sit(ANN, OPEN)
    english.page.get_by_role("button", name="Send").wait_for()


def test_hostile_words_stay_words(desk: Desk) -> None:
    chat = desk.sit(BEN, OPEN)
    page = chat.page
    hostile = (
        '<img src=x onerror="document.title=\'broken\'"> <script>document.title="broken"</script>'
    )
    chat.type(hostile)
    chat.room.locator("article", has_text="onerror").last.wait_for()
    chat.type("<https://evil.example|harmless> <!channel> `<b>` [x](javascript:alert(1))")
    chat.room.locator("article", has_text="evil.example|harmless").wait_for()
    answer = chat.ask(GATE_QUESTION)
    assert "onerror" in answer.inner_text()
    assert page.locator(".log img, .log script, .log iframe").count() == 0
    addresses = page.locator(".log a").evaluate_all("all => all.map(one => one.href)")
    assert {urlsplit(one).hostname for one in addresses} <= {"127.0.0.1"}
    chat.type(f"/kb {GATE_QUESTION}")
    chat.room.locator("article.ephemeral", has_text="Ravenwood").wait_for()
    assert "broken" not in page.title()


def test_ones_own_message_is_changed_and_deleted(desk: Desk) -> None:
    chat, other = desk.sit(ANN, MIXED), desk.sit(BEN, MIXED)
    chat.type("helo everybody")
    message = chat.room.locator("article", has_text="helo everybody")
    message.hover()
    message.get_by_role("button", name="More actions").click()
    chat.page.get_by_role("menuitem", name="Edit message").click()
    chat.room.locator("article textarea").fill("hello everybody")
    chat.room.locator("article textarea").press("Enter")
    other.room.locator("article", has_text="hello everybody").wait_for()
    mine = other.room.locator("article", has_text="hello everybody")
    mine.get_by_role("button", name="More actions").click()
    assert other.page.get_by_role("menuitem", name="Delete message").count() == 0
    changed = chat.room.locator("article", has_text="hello everybody")
    changed.hover()
    changed.get_by_role("button", name="More actions").click()
    chat.page.get_by_role("menuitem", name="Delete message").click()
    chat.page.get_by_role("alertdialog").get_by_role("button", name="Delete message").click()
    mine.wait_for(state="detached")


def test_mail_arrives_while_one_looks(desk: Desk) -> None:
    ann, everybody = desk.sit(ANN, "mail"), desk.open(desk.addresses["mail"])
    ben = desk.sit(BEN, "mail")
    ann.page.locator("text=No mail yet").wait_for()
    server = urlsplit(desk.addresses["smtp"])
    with smtplib.SMTP(server.hostname or "", server.port or 0) as client:
        client.sendmail(
            "zhixing@small.example",
            ["ann.li@small.example"],
            "From: zhixing@small.example\nTo: ann.li@small.example\nSubject: Hello <b>Ann</b>\n\n"
            "<script>document.title='broken'</script>\nRegards\n",
        )
    for page in (ann.page, everybody):
        row = page.get_by_role("option", name="Hello <b>Ann</b>")
        row.click()
        page.locator(".letter-text", has_text="Regards").wait_for()
        assert "broken" not in page.title()
    assert ben.page.locator(".mail", has_text="Hello").count() == 0
