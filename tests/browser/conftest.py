"""The playground as a process of its own, and a real browser in front of it.

`BROWSER_SHOTS=FOLDER` keeps a picture of every open page at the end of each test.
"""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.browser.company import write_company

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
SHOTS = os.environ.get("BROWSER_SHOTS", "")
PATIENCE_MS = 60_000
TODAY = "2026-10-15"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = ""
    if importlib.util.find_spec("playwright") is None:
        reason = "playwright is not installed"
    elif not CHROMIUM:
        reason = "there is no chromium on this machine"
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


# Of each module alone: as long as playwright is open, no test that is a coroutine can run.
@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Run the playground, as people run it, and return what it prints."""
    company = write_company(tmp_path_factory.mktemp("company"))
    home = tmp_path_factory.mktemp("home")
    command = [sys.executable, "-m", "bot", "--home", str(home), "--now", TODAY, "playground"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ZHIXING_", "SLACK_"))}
    environment |= {"ZHIXING_EMBEDDER": "none", "PYTHONPATH": str(ROOT)}
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--company", str(company), "--headless"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            pytest.fail((home / "log").read_text("utf-8"))
        yield json.loads(line)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert (process.wait(), rest) == (0, b"")
        process.stdout.close()
    said = (home / "log").read_text("utf-8")
    assert "Traceback" not in said, said


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - may be missing

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@dataclass
class Desk:
    """Opens tabs, each for one person, and watches what they do behind people's backs."""

    browser: "Browser"
    addresses: dict[str, str]
    name: str
    contexts: "list[BrowserContext]" = field(default_factory=list)
    pages: "list[Page]" = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open(self, address: str, **options: Any) -> "Page":
        """Open an address in a tab of its own."""
        settings = {"locale": "en-GB", "viewport": {"width": 1280, "height": 820}, **options}
        context = self.browser.new_context(**settings)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("request", lambda request: self._check(request.url))
        page.on("pageerror", lambda error: self.faults.append(f"error {error}"))
        page.on("dialog", lambda dialog: self.faults.append(f"dialog {dialog.message}"))
        page.on("console", lambda said: self._hear(said.type, said.text))
        self.contexts.append(context)
        self.pages.append(page)
        page.goto(address)
        return page

    def sit(self, person: str, at: str, **options: Any) -> "Chat":
        """Open the chat as somebody, somewhere."""
        address = f"{self.addresses['slack']}#{urlencode({'as': person, 'at': at})}"
        return Chat(self.open(address, **options))

    def finish(self) -> None:
        """Keep pictures, close everything, and fail on what should not have happened."""
        for number, page in enumerate(self.pages if SHOTS else ()):
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{SHOTS}/{self.name}-{number + 1}.png")
        for context in self.contexts:
            context.close()
        assert self.faults == []

    def _check(self, url: str) -> None:
        if urlsplit(url).hostname not in {"127.0.0.1", None} and not url.startswith("data:"):
            self.faults.append(f"fetched {url}")

    def _hear(self, kind: str, text: str) -> None:
        # A refused request is told by the page in words.
        if kind in {"error", "warning"} and "status of 400" not in text:
            self.faults.append(f"{kind} {text}")


@dataclass
class Chat:
    """A tab in which somebody chats."""

    page: "Page"

    @property
    def room(self) -> "Locator":
        """The conversation."""
        return self.page.locator("section.pane")

    @property
    def thread(self) -> "Locator":
        """The thread beside it."""
        return self.page.locator("aside.thread")

    def type(self, text: str, *, into: str = "#composer") -> None:
        """Write something as typed, and send it."""
        self.page.locator(into).fill(text)
        if self.page.locator(".completion:not([hidden])").count():
            # The list of completions would take the first Enter.
            self.page.locator(into).press("Escape")
        self.page.locator(into).press("Enter")

    def ask(self, question: str) -> "Locator":
        """Mention the assistant, open the thread and return the finished answer."""
        asked = self.room.locator("article.message", has_text=question)
        before = asked.count()
        self.type(f"@Zhixing {question}")
        asked.nth(before).locator(".replies").click()
        return self.finished_answer()

    def finished_answer(self) -> "Locator":
        """Return the last answer in the thread once it has its buttons."""
        answer = self.thread.locator(
            "article.message", has=self.page.locator(".block.actions, .block.context_actions")
        )
        answer.last.wait_for()
        return answer.last

    def is_readable_at(self, width: int) -> bool:
        """Tell whether nothing sticks out sideways."""
        return bool(self.page.evaluate(f"document.documentElement.scrollWidth <= {width}"))


@pytest.fixture
def desk(
    browser: "Browser", addresses: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[Desk]:
    opened = Desk(browser, addresses, re.sub(r"\W+", "-", request.node.name).strip("-"))
    yield opened
    opened.finish()
