"""What the demo shows: the sample company, synced into an empty home and asked by its people.

Its files are read as they are, its wiki and its notes through stand-ins of Confluence and Notion,
where a page is edited in the end.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from bot.bootstrap import Product
from bot.commands.ask import describe
from bot.commands.context import store_clock
from bot.commands.output import print_notice, print_result
from bot.commands.sync import describe as describe_sync
from bot.commands.sync import sync_source
from core.clock import Clock, FixedClock, parse_moment
from core.settings import load_settings
from playground.company import Company, StepReport, load_changes, open_company
from playground.home import FILES, write_settings

# The company's "today", so that questions about this month have an answer.
TODAY = "2026-10-15"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A question, who asks it where, and what to look at."""

    question: str
    asker: str
    where: str | None
    point: str


SCENES = (
    Scene(
        question="磁盘满了怎么清理？",
        asker="jonas.wendt",
        where=None,
        point="a procedure comes back whole, above the background page about RAID",
    ),
    Scene(
        question="K7-031 是什么告警，馆员能做什么？",
        asker="miao.qing",
        where=None,
        point="an exact code always hits; a table row keeps its header",
    ),
    Scene(
        question="What is the meal allowance per day in Europe?",
        asker="pieter.maas",
        where=None,
        point="English questions on English pages, with heading, version and date",
    ),
    Scene(
        question="What does Spine Cloud Professional cost a library with 4 to 15 branches?",
        asker="kang.duo",
        where=None,
        point="from a table in the wiki, which department heads and finance may read",
    ),
    Scene(
        question="How do I stop a firmware roll-out?",
        asker="sui.ning",
        where=None,
        point="from a page in Notion",
    ),
    Scene(
        question="年假结转上限以前是多少，什么时候改的？",
        asker="lou.yi",
        where=None,
        point="what was in force before, and when it changed",
    ),
    Scene(
        question="2027 年研发费用预算是多少千元？",
        asker="lin.baitang",
        where=None,
        point="an executive may read the budget",
    ),
    Scene(
        question="2027 年研发费用预算是多少千元？",
        asker="jonas.wendt",
        where=None,
        point="the same question by somebody who may not: as if there were no such page",
    ),
    Scene(
        question="2027 年运维部的设备投入是多少？",
        asker="ouyang.shu",
        where="c-budget",
        point="in a channel where not everybody may read the budget: a private answer",
    ),
    Scene(
        question="公司有班车吗，几点发车？",
        asker="sui.ning",
        where=None,
        point="not written anywhere: it says so and names the nearest pages",
    ),
)

CHANGES = "changes_dev.json"
EDIT = "c01"
EDITED = Scene(
    question="What is the target for the kiosk fleet?",
    asker="tu.nan",
    where=None,
    point="a page of the wiki, before and after it is edited there",
)


async def play(home: Path, folder: Path) -> None:
    """Sync the company into an empty home, ask the questions, and let a page be edited."""
    shutil.rmtree(home, ignore_errors=True)
    write_settings(home, folder)
    settings = load_settings(home)
    clock: Clock = FixedClock(parse_moment(TODAY))
    async with open_company(settings, clock, folder) as company:
        product = company.product
        print_notice("syncing the sample company: its files, its wiki and its notes …")
        files_report = await sync_source(
            product, FILES, settings.sources[FILES], accept_deletions=False
        )
        print_result(f"files: {describe_sync(files_report)}")
        print_result(f"wiki and notes: {_describe_step(await company.sync())}")
        for scene in SCENES:
            await _show(product, scene)
        await _show_edit(company, folder)
    store_clock(home, product.state.clock.now())


async def _show_edit(company: Company, folder: Path) -> None:
    """Ask about a page of the wiki, edit it there, and ask again."""
    await _show(company.product, EDITED)
    change = next(one for one in load_changes(folder / CHANGES) if one["id"] == EDIT)
    print_notice(f"\nthe page is edited in the wiki ({change['payload']['version']['message']}) …")
    print_result(f"the next sync: {_describe_step(await company.play(change))}")
    await _show(company.product, EDITED)


def _describe_step(step: StepReport) -> str:
    calls = ", ".join(f"{count} calls to {name}" for name, count in step.calls.items())
    return f"{describe_sync(step.report)} ({calls})"


async def _show(product: Product, scene: Scene) -> None:
    reader = await product.resolve_reader(as_=scene.asker, in_=scene.where)
    answer = await product.conversation.ask(scene.question, reader)
    place = scene.where or "dm"
    print_result(f"\n{'─' * 78}\n{scene.asker} in {place}: {scene.question}")
    print_notice(f"({scene.point})")
    print_result(describe(answer))
