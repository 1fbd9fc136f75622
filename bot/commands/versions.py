"""`zhixing history`, `diff` and `forget`: the versions of a page."""

from enum import StrEnum
from typing import Annotated

import typer

from bot.bootstrap import Product, open_product
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, JsonOption
from bot.commands.output import print_json, print_result, show_address
from bot.index_switch import require_index
from bot.memory.turns import TurnStore
from core.errors import SettingsError
from knowledge.access import OPERATOR
from knowledge.forgetting import ForgetReport, Forgetting
from knowledge.ledger_records import DocumentRecord
from knowledge.page_versions import PageVersion, PageVersions, SectionText, choose_version
from knowledge.runs import RunKind
from knowledge.text_diff import SectionDiff, diff_sections, diff_unified

PageArgument = Annotated[str, typer.Argument(help="A page's id, title or URL.")]
VersionArgument = Annotated[str, typer.Argument(help="A number, `v3`, a label or `current`.")]
ForgottenArgument = Annotated[
    str | None, typer.Argument(help="A former version; none = the whole page.")
]


class DiffForm(StrEnum):
    """How a difference is shown."""

    WORDS = "words"
    UNIFIED = "unified"


FormOption = Annotated[DiffForm, typer.Option("--format", help="Word by word, or as `diff -u`.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""

    @app.command()
    def history(
        context: typer.Context,
        page: PageArgument,
        as_: AsOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """List the versions of a page that are kept: when, by whom, what for."""
        found, versions = run(_load(get_context(context), page, as_))
        if as_json:
            print_json(history_to_json(found, versions))
        else:
            print_result(describe_history(found, versions))

    @app.command()
    def diff(
        context: typer.Context,
        page: PageArgument,
        old: VersionArgument,
        new: VersionArgument,
        as_: AsOption = None,
        form: FormOption = DiffForm.WORDS,
        as_json: JsonOption = False,
    ) -> None:
        """Show what changed between two versions of a page."""
        compared = run(_compare(get_context(context), page, old, new, as_))
        if as_json:
            print_json(compared.to_json())
        else:
            print_result(compared.describe(form))

    @app.command()
    def forget(
        context: typer.Context,
        page: PageArgument,
        version: ForgottenArgument = None,
        as_json: JsonOption = False,
    ) -> None:
        """Purge a page, or one former version, from ledger, index, caches and traces."""
        found, number, report = run(_forget(get_context(context), page, version))
        if as_json:
            print_json(forgotten_to_json(found, number, report))
        else:
            print_result(describe_forgotten(found, number, report))


class Comparison:
    """Two versions of a page, compared."""

    def __init__(
        self,
        page: DocumentRecord,
        old: tuple[PageVersion, list[SectionText]],
        new: tuple[PageVersion, list[SectionText]],
    ) -> None:
        self._page = page
        self._old, self._old_text = old
        self._new, self._new_text = new
        self._sections = diff_sections(self._old_text, self._new_text)

    def to_json(self) -> dict[str, object]:
        """Return the stable `--json` form."""
        return {
            "document_id": self._page.document_id,
            "url": self._page.url,
            "from": version_to_json(self._old),
            "to": version_to_json(self._new),
            "is_title_changed": self._old.record.title != self._new.record.title,
            "sections": [section_to_json(one) for one in self._sections],
            "unified": self._unified(),
        }

    def describe(self, form: DiffForm) -> str:
        """Put the difference into words."""
        old, new = self._old, self._new
        lines = [f"{new.record.title}: {_name(old)} → {_name(new)}"]
        if old.record.title != new.record.title:
            lines.append(f"title: [-{old.record.title}-]{{+{new.record.title}+}}")
        if form is DiffForm.UNIFIED:
            lines.append(self._unified())
        else:
            lines += [_describe_section(one) for one in self._sections]
        if len(lines) == 1 or (form is DiffForm.UNIFIED and not self._sections):
            lines.append("no difference that you may read")
        return "\n\n".join(filter(None, lines))

    def _unified(self) -> str:
        return diff_unified(
            self._old_text, self._new_text, old_name=_name(self._old), new_name=_name(self._new)
        )


async def _load(
    context: CommandContext, page: str, as_: str | None
) -> tuple[DocumentRecord, list[PageVersion]]:
    async with open_product(context.load_settings(), context.clock) as product:
        pages = await _open_pages(product, as_)
        found = await pages.get_page(page)
        return found, await pages.load_versions(found)


async def _compare(
    context: CommandContext, page: str, old: str, new: str, as_: str | None
) -> Comparison:
    async with open_product(context.load_settings(), context.clock) as product:
        pages = await _open_pages(product, as_)
        found = await pages.get_page(page)
        versions = await pages.load_versions(found)
        one, other = choose_version(versions, old), choose_version(versions, new)
        return Comparison(
            found,
            (one, await pages.load_text(found, one)),
            (other, await pages.load_text(found, other)),
        )


async def _forget(
    context: CommandContext, page: str, version: str | None
) -> tuple[DocumentRecord, int | None, ForgetReport]:
    async with open_product(context.load_settings(), context.clock) as product:
        await require_index(product)
        state = product.state
        pages = PageVersions(store=product.store, ledger=state.ledger, access=OPERATOR)
        found = await pages.get_page(page)
        async with product.sync_lock.hold(found.source, RunKind.FORGETTING) as tools:
            forgetting = Forgetting(
                tools.parts,
                tools.logs,
                memories={
                    "traces": state.traces.forget_passages,
                    "turns": TurnStore(state.database).forget_passages,
                },
            )
            if version is None:
                return found, None, await forgetting.forget_page(found)
            chosen = choose_version(await pages.load_versions(found), version)
            if chosen.until is None:
                raise SettingsError(
                    f"version {version!r} of {found.document_id!r} is in force; change the page at "
                    "its source, or forget it whole"
                )
            report = await forgetting.forget_version(found, chosen.record)
            return found, chosen.record.number, report


async def _open_pages(product: Product, as_: str | None) -> PageVersions:
    reader = await product.resolve_reader(as_=as_)
    return PageVersions(
        store=product.store, ledger=product.state.ledger, access=reader.asker_readable
    )


def version_to_json(version: PageVersion) -> dict[str, object]:
    """Return a version in the stable `--json` form."""
    record = version.record
    return {
        "number": record.number,
        "label": record.label,
        "title": record.title,
        "at": record.at.isoformat(),
        "until": version.until.isoformat() if version.until else None,
        "author": record.author,
        "message": record.message,
        "is_current": version.until is None,
    }


def history_to_json(page: DocumentRecord, versions: list[PageVersion]) -> dict[str, object]:
    """Return a page's versions in the stable `--json` form."""
    return {
        "document_id": page.document_id,
        "title": page.title,
        "url": page.url,
        "status": page.status.value,
        "versions": [version_to_json(one) for one in versions],
    }


def section_to_json(section: SectionDiff) -> dict[str, object]:
    """Return a section's difference in the stable `--json` form."""
    return {
        "heading_path": list(section.heading_path),
        "change": section.change,
        "spans": [{"operation": one.operation, "text": one.text} for one in section.spans],
    }


def forgotten_to_json(
    page: DocumentRecord, number: int | None, report: ForgetReport
) -> dict[str, object]:
    """Return what was forgotten in the stable `--json` form."""
    return {
        "document_id": page.document_id,
        "version": number,
        "versions": report.versions,
        "rows": report.rows,
        "vectors": report.vectors,
        **report.memories,
    }


def describe_history(page: DocumentRecord, versions: list[PageVersion]) -> str:
    """Put a page's versions into words, the newest first."""
    state = "" if page.status == "current" else f" ({page.status.value})"
    lines = [f"{page.title}{state}  {show_address(page.url)}"]
    for one in reversed(versions):
        record = one.record
        until = f" to {one.until:%Y-%m-%d}" if one.until else ", in force"
        by = f", {record.author}" if record.author else ""
        why = f": {record.message}" if record.message else ""
        called = f" “{record.title}”" if record.title != page.title else ""
        lines.append(f"  {one.name:8} {record.at:%Y-%m-%d %H:%M}{until}{by}{why}{called}")
    return "\n".join(lines)


def describe_forgotten(page: DocumentRecord, number: int | None, report: ForgetReport) -> str:
    """Say what was forgotten."""
    what = f"version {number} of {page.document_id}" if number else page.document_id
    rest = ", ".join(f"{count} {name}" for name, count in report.memories.items())
    back = "" if number else "; it comes back once it changes at its source"
    return (
        f"forgot {what}: {report.versions} versions, {report.rows} index rows, "
        f"{report.vectors} vectors, {rest}{back}"
    )


def _describe_section(section: SectionDiff) -> str:
    path = " › ".join(section.heading_path) or "(top)"
    return f"## {path} ({section.change})\n{section.render()}"


def _name(version: PageVersion) -> str:
    return f"{version.name} ({version.record.at:%Y-%m-%d})"
