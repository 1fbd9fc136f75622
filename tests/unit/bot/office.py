"""A small company in the form of the sample company, and the command line to use it with."""

import json
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from typer.testing import CliRunner, Result

from bot.bootstrap import Product, open_product
from bot.cli import build_app
from core.clock import FixedClock, parse_moment
from core.messages import Answer
from core.settings import SETTINGS_FILE, load_settings
from knowledge.readers import resolve_reader

TODAY = "2026-10-15"
SALARY_QUESTION = "L4 的薪酬带宽上限是多少？"
SALARY = "38,000"
LEAVE_QUESTION = "年假最多可以结转几天？"
HOTEL_QUESTION = "人事部的杭州住宿标准是每晚多少元？"
DISK_QUESTION = "How do I clean up a full disk on a build server?"
DESK_QUESTION = "How do I reach the facilities desk?"

HR, OPS, GUEST, FORMER = "mo.lan", "kit.hale", "gast.eins", "old.timer"
HR_MAIL = "mo.lan@nimbus.example"

PEOPLE: Sequence[Mapping[str, object]] = (
    {
        "id": HR,
        "name": "莫岚",
        "name_en": "Mo Lan",
        "email": HR_MAIL,
        "department": "HR",
        "title": "HR lead",
        "employment_type": "employee",
        "active": True,
        "slack_id": "U1",
    },
    {"id": "su.qin", "name": "苏沁", "name_en": "Su Qin", "email": "su.qin@nimbus.example"},
    {"id": OPS, "name": "柯特", "name_en": "Kit Hale", "email": "kit.hale@nimbus.example"},
    {"id": GUEST, "name": "Gast Eins", "employment_type": "guest"},
    {"id": FORMER, "name": "Old Timer", "employment_type": "former", "active": False},
)
GROUPS: Sequence[Mapping[str, object]] = (
    {"id": "hr", "name": "人事 HR", "members": [HR, "su.qin"]},
    {"id": "staff", "name": "Staff", "members": [HR, "su.qin", OPS]},
)
CHANNELS: Sequence[Mapping[str, object]] = (
    {
        "id": "c-mixed",
        "name": "mixed",
        "platform": "slack",
        "native_id": "C1",
        "visibility": "private",
        "has_external_member": False,
        "members": [HR, OPS],
    },
    {
        "id": "c-hr",
        "name": "人事组",
        "platform": "dingtalk",
        "native_id": "cid1",
        "visibility": "private",
        "has_external_member": False,
        "members": [HR, "su.qin"],
    },
)
PUBLIC_PAGES: Mapping[str, str] = {
    "handbook/休假制度.md": """\
# 休假制度

## 年假结转

未休完的年假最多可以结转 5 天，须在次年 3 月 31 日之前休完。

## 病假

病假期间照发工资，三天以上需要医院证明。
""",
    "handbook/差旅制度.md": """\
# 差旅制度

## 住宿标准

杭州的住宿标准为每晚 480 元，其他城市为每晚 400 元。
""",
    "ops/disk-clean-up.md": """\
# Cleaning up a full disk

## Build servers

1. Stop the build agent with `systemctl stop agent`.
2. Remove unused images with `docker image prune`.
3. Start the build agent with `systemctl start agent`.

## Database servers

Never remove files below the data folder; call the operations team.
""",
    "ops/facilities.md": """\
# Facilities

## Reaching the desk

To reach the facilities desk write to desk@nimbus.example or call +86 571 8765 4321; \
Mo Lan answers for the facilities desk.
""",
}
SECRET_PAGES: Mapping[str, str] = {
    "hr/.access.yaml": "read:\n  - group:company/hr\n",
    "hr/薪酬带宽.md": """\
# 薪酬带宽

## L4

L4 的薪酬带宽上限是每月 38,000 元，下限是每月 27,000 元。

## L5

L5 的薪酬带宽上限是每月 52,000 元，下限是每月 36,000 元。
""",
    "hr/住宿特批.md": """\
# 住宿特批

人事部的杭州住宿标准特批为每晚 650 元。
""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """A home folder and the company it was synced from."""

    home: Path
    company: Path

    @property
    def files(self) -> Path:
        """The folder that is the only source."""
        return self.company / "files"

    def run(self, *arguments: str | Path, input: str | None = None) -> Result:  # noqa: A002
        """Run the command line in this process."""
        line = ["--home", str(self.home), "--now", TODAY, *map(str, arguments)]
        try:
            return CliRunner().invoke(build_app(), line, input=input)
        finally:
            # The command logs to a standard error that ends with it.
            structlog.reset_defaults()

    def run_json(self, *arguments: str | Path) -> dict[str, Any]:
        """Run a command with `--json` that must succeed, and return its object."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, (result.output, result.exception)
        [line] = result.stdout.splitlines()
        found: dict[str, Any] = json.loads(line)
        return found

    def add_settings(self, text: str) -> None:
        """Write further tables into zhixing.toml."""
        with (self.home / SETTINGS_FILE).open("a", encoding="utf-8") as file:
            file.write(f"\n{text}\n")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Product]:
        """Open the product on this home."""
        clock = FixedClock(parse_moment(TODAY))
        async with open_product(load_settings(self.home), clock) as product:
            yield product


async def ask(
    product: Product, question: str, as_: str | None, *, in_: str | None = None, thread: str = ""
) -> Answer:
    """Ask as the command does, with the rights of this moment."""
    reader = await resolve_reader(product.state.registry, as_=as_, in_=in_)
    return await product.conversation.ask(question, reader, thread=thread)


def write_company(folder: Path, pages: Mapping[str, str]) -> Path:
    """Write the company's files and directory."""
    for name, text in pages.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    write_directory(folder)
    return folder


def write_directory(folder: Path, *, groups: Sequence[Mapping[str, object]] = GROUPS) -> None:
    """Write people, groups and channels."""
    for name, entries in (("people", PEOPLE), ("groups", groups), ("channels", CHANNELS)):
        text = json.dumps(entries, ensure_ascii=False, indent=1)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def build_office(folder: Path, pages: Mapping[str, str]) -> Office:
    """Write a company and sync it into a home by the commands themselves."""
    office = Office(home=folder / "home", company=write_company(folder / "company", pages))
    for arguments in (("directory", "import", office.company), ("sync", office.files)):
        result = office.run(*arguments)
        assert result.exit_code == 0, (result.output, result.exception)
    return office


def copy_office(office: Office, folder: Path) -> Office:
    """Copy home and company, so that a test can change both."""
    home = shutil.copytree(office.home, folder / "home")
    company = shutil.copytree(office.company, folder / "company")
    settings = home / SETTINGS_FILE
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace(str(office.company), str(company)), encoding="utf-8")
    return Office(home=home, company=company)
