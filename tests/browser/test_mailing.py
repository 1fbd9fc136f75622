"""An e-mail from the form to somebody's mailbox, confirmed in between; and the App Home."""

from tests.browser.company import ANN, BEN, OPEN
from tests.browser.conftest import Desk

TO = "ben.ode@small.example"


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
