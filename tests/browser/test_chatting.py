"""People chat with the assistant in a browser: mentions, threads, search, rights, e-mail."""

from tests.browser.company import (
    ANN,
    BEN,
    DISK_QUESTION,
    GATE,
    GATE_QUESTION,
    GUEST,
    HR_ONLY,
    KIM,
    KIOSK,
    LEAVE,
    LEAVE_QUESTION,
    MIXED,
    NEW_GATE,
    NOTE,
    NOTE_QUESTION,
    NOTE_TITLE,
    OPEN,
    SALARY,
    SALARY_QUESTION,
)
from tests.browser.conftest import Chat, Desk

TO = "ben.ode@small.example"


def test_a_mention_is_answered_in_the_thread_with_its_source(desk: Desk) -> None:
    chat = desk.sit(BEN, OPEN)
    answer = chat.ask(DISK_QUESTION)
    link = answer.locator("a", has_text="Full disks")
    assert answer.locator("ol li").count() >= 3
    address = link.get_attribute("href")
    assert address is not None
    page = desk.open(address)
    page.locator("h1", has_text="Full disks").wait_for()


def test_the_thread_goes_on_without_a_mention(desk: Desk) -> None:
    chat = desk.sit(BEN, OPEN)
    chat.ask(LEAVE_QUESTION)
    before = chat.thread.locator("article").count()
    chat.type(DISK_QUESTION, into="#thread-composer")
    chat.thread.locator("article", has_text="du -xh").wait_for()
    assert chat.thread.locator("article").count() == before + 2


def test_a_direct_message_needs_no_mention(desk: Desk) -> None:
    chat = desk.sit(KIM, "D3")
    chat.type(LEAVE_QUESTION)
    chat.page.locator("article.message", has_text=LEAVE).first.wait_for()


def test_search_turns_pages_and_shares_a_result_with_the_channel(desk: Desk) -> None:
    ann, ben = desk.sit(ANN, MIXED), desk.sit(BEN, MIXED)
    ann.type(f"/kb {KIOSK}")
    found = ann.room.locator("article.ephemeral").last
    found.get_by_role("button", name="Next").click()
    found.get_by_role("button", name="Previous").wait_for()
    shared = found.locator(".block.section", has=ann.page.locator(".accessory")).first
    title = shared.locator("strong").inner_text().split(" › ")[0]
    shared.locator("button").click()
    ben.room.locator("article:not(.ephemeral)", has_text=title).wait_for()
    assert ben.room.locator("article.ephemeral").count() == 0


def test_feedback_is_for_whoever_asked(desk: Desk) -> None:
    ann = desk.sit(ANN, MIXED)
    answer = ann.ask(LEAVE_QUESTION)
    ben = desk.sit(BEN, MIXED)
    ben.room.locator("article", has_text=LEAVE_QUESTION).last.locator(".replies").click()
    ben.finished_answer().get_by_role("button", name="已解决").click()
    ben.page.locator("article.ephemeral", has_text="只有提问的人").wait_for()
    answer.get_by_role("button", name="没解决").click()
    form = ann.page.get_by_role("dialog")
    form.locator("textarea").fill("是 10 天")
    form.locator("button[type=submit]").click()
    form.wait_for(state="detached")
    ann.page.locator("article.ephemeral", has_text="已记录").wait_for()


def test_what_only_one_may_read_reaches_only_them(desk: Desk) -> None:
    ann, ben = desk.sit(ANN, MIXED), desk.sit(BEN, MIXED)
    ann.type(f"@Zhixing {SALARY_QUESTION}")
    asked = ann.room.locator("article", has_text=SALARY_QUESTION).last
    asked.locator(".replies").click()
    ann.page.locator("article.ephemeral", has_text=SALARY).first.wait_for()
    # Whatever Ben's tab was sent stands in its entries, shown or not.
    ben.room.locator("article", has_text=SALARY_QUESTION).last.locator(".replies").click()
    ben.finished_answer()
    assert SALARY not in ben.page.content()
    ben.type(SALARY_QUESTION, into="#thread-composer")
    ben.thread.locator("article", has_text=SALARY_QUESTION).nth(1).wait_for()
    ben.thread.locator("article:has(.face.bot)").nth(1).locator(".block").first.wait_for()
    assert SALARY not in ben.page.content()


def test_an_edited_page_shows_in_the_next_answer(desk: Desk) -> None:
    chat = desk.sit(KIM, OPEN)
    assert GATE in chat.ask(GATE_QUESTION).inner_text()
    wiki = desk.open(f"{desk.addresses['confluence']}/pages/103")
    body = wiki.locator("textarea[name=body]")
    body.fill(body.input_value().replace(GATE, NEW_GATE))
    wiki.get_by_role("button", name="Save").click()
    wiki.locator("p", has_text="v2").wait_for()
    assert wait_for_answer(chat, NEW_GATE)


def wait_for_answer(chat: Chat, wanted: str) -> bool:
    """Ask again until the sync has come round."""
    return any(wanted in chat.ask(GATE_QUESTION).inner_text() for _ in range(20))


def test_a_note_is_cited_by_an_address_that_leads_to_it(desk: Desk) -> None:
    chat = desk.sit(KIM, OPEN)
    answer = chat.ask(NOTE_QUESTION)
    address = answer.locator("a", has_text=NOTE_TITLE).get_attribute("href")
    assert address is not None
    page = desk.open(address)
    page.locator("h1", has_text=NOTE_TITLE).wait_for()
    assert page.locator("textarea").first.input_value() == NOTE


def test_people_see_only_their_rooms_and_switch_between_each_other(desk: Desk) -> None:
    chat = desk.sit(ANN, OPEN)
    chat.page.locator(f"#to-{HR_ONLY}").wait_for()
    chat.page.locator("#person").select_option(GUEST)
    chat.page.locator("#to-C0PARTNERS").wait_for()
    assert chat.page.locator(f"#to-{HR_ONLY}").count() == 0
    assert chat.page.locator(f"#to-{OPEN}").count() == 0
    names = chat.page.locator("#person option").all_inner_texts()
    assert "Robin Ferris · outsider" in names


def test_an_email_is_drafted_edited_confirmed_and_arrives(desk: Desk) -> None:
    ann, ben = desk.sit(ANN, OPEN), desk.sit(BEN, "mail")
    page = ann.page
    ann.type(f"/kb email {TO} Meeting moved")
    form = page.get_by_role("dialog")
    fields = form.locator("input.entry, textarea.entry")
    assert fields.first.input_value() == TO
    fields.first.fill("nobody at all")
    form.locator("textarea").first.fill("The meeting starts at ten.")
    form.locator("button[type=submit]").click()
    form.locator(".field-error:visible").first.wait_for()
    fields.first.fill(TO)
    form.locator("button[type=submit]").click()
    form.wait_for(state="detached")
    page.locator("#to-D1").click()
    card = ann.room.locator("article", has_text="The meeting starts at ten.").last
    assert ben.page.locator(".mail").count() == 0
    card.get_by_role("button", name="Edit").click()
    form.locator("textarea").first.fill("The meeting starts at eleven.")
    form.locator("button[type=submit]").click()
    changed = ann.room.locator("article", has_text="The meeting starts at eleven.").last
    changed.wait_for()
    changed.locator("button.primary").click()
    ben.page.get_by_role("option", name="Meeting moved").click()
    ben.page.locator(".letter-text", has_text="The meeting starts at eleven.").wait_for()
    ann.room.locator("article", has_text="taken").wait_for()


def test_the_home_shows_what_the_app_published(desk: Desk) -> None:
    ann = desk.sit(ANN, OPEN)
    ann.page.locator("#to-home").click()
    ann.page.locator(".home .block").first.wait_for()


def test_a_shortcut_asks_about_a_message_and_another_from_anywhere(desk: Desk) -> None:
    ann, ben = desk.sit(ANN, MIXED), desk.sit(BEN, MIXED)
    ben.type(LEAVE_QUESTION)
    message = ann.room.locator("article", has_text=LEAVE_QUESTION).last
    message.hover()
    message.get_by_role("button", name="More actions").click()
    ann.page.get_by_role("menuitem", name="Ask about this").click()
    form = ann.page.get_by_role("dialog")
    form.locator("button[type=submit]").click()
    form.wait_for(state="detached")
    # Unless she wished otherwise, she alone gets the answer.
    ann.page.locator("#to-D1").click()
    ann.room.locator("article", has_text=LEAVE).last.wait_for()
    ben.page.get_by_role("button", name="Shortcuts").click()
    ben.page.get_by_role("menuitem", name="Ask Zhixing").click()
    ben.page.get_by_role("dialog").wait_for()
