"""The tools that list a page's versions and say what changed between two of them."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.toolbox.reading import PageReading, is_for_asker_alone, is_page_for_asker_alone
from bot.agent.tools import JsonSchema, ToolResult
from knowledge.page_versions import CURRENT
from knowledge.text_diff import diff_sections

MOST_VERSIONS = 20
MOST_DIFF_CHARS = 3_000


class ListVersions:
    """Lists when a page changed, by whom and what for."""

    name = "list_versions"
    description = "List a page's versions: number, date, author, message."
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {
            "page": {"type": "string", "minLength": 1, "description": "id, title or URL"}
        },
        "required": ["page"],
        "additionalProperties": False,
    }
    timeout_s = 10.0

    def __init__(self, reading: PageReading) -> None:
        self._reading = reading

    def is_offered_to(self, caller: Caller) -> bool:  # noqa: ARG002 - rights decide what is found
        """See `Tool`."""
        return True

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """See `Tool`. The newest version comes first."""
        page = await self._reading.open(str(arguments["page"]), caller)
        newest = list(reversed(page.versions))[:MOST_VERSIONS]
        rows: list[Mapping[str, JsonValue]] = [
            {
                "version": one.name,
                "date": f"{one.record.at:%Y-%m-%d}",
                "author": one.record.author,
                "message": one.record.message,
                "title": one.record.title,
            }
            for one in newest
        ]
        lines = [", ".join(str(value) for value in row.values() if value) for row in rows]
        sections = await self._reading.load_evidence(page, page.choose(CURRENT), caller)
        return ToolResult(
            text="\n".join((page.record.title, *(f"- {line}" for line in lines))),
            # One of the page's passages, so that the list can be cited.
            evidence=tuple(sections[:1]),
            rows=tuple(rows),
            is_for_asker_alone=is_page_for_asker_alone(page, caller),
            has_found=bool(rows),
        )


class CompareVersions:
    """Says what changed between two versions of a page."""

    name = "compare_versions"
    description = "Show what changed between two versions of a page."
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {
            "page": {"type": "string", "minLength": 1, "description": "id, title or URL"},
            "old": {"type": "string", "description": "default: the one before"},
            "new": {"type": "string", "description": "default: current"},
        },
        "required": ["page"],
        "additionalProperties": False,
    }
    timeout_s = 20.0

    def __init__(self, reading: PageReading) -> None:
        self._reading = reading

    def is_offered_to(self, caller: Caller) -> bool:  # noqa: ARG002 - rights decide what is found
        """See `Tool`."""
        return True

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """See `Tool`. Removals stand as `[-…-]`, additions as `{+…+}`."""
        page = await self._reading.open(str(arguments["page"]), caller)
        new = page.choose(str(arguments.get("new") or CURRENT))
        place = list(page.versions).index(new)
        before = page.versions[max(0, place - 1)]
        old = page.choose(str(arguments.get("old") or before.name))
        old_sections = await self._reading.load_evidence(page, old, caller)
        new_sections = await self._reading.load_evidence(page, new, caller)
        diffs = diff_sections(
            await page.pages.load_text(page.record, old),
            await page.pages.load_text(page.record, new),
        )
        head = (
            f"{page.record.title}: {old.name} ({old.record.at:%Y-%m-%d}) -> "
            f"{new.name} ({new.record.at:%Y-%m-%d})"
        )
        parts = [f"{' > '.join(one.heading_path)} ({one.change}): {one.render()}" for one in diffs]
        changed = {one.heading_path for one in diffs}
        touched = [
            one
            for one in new_sections
            if any(path[: len(one.hit.heading_path)] == one.hit.heading_path for path in changed)
        ]
        text = "\n\n".join((head, *parts)) if parts else f"{head}: no difference"
        return ToolResult(
            text=text[:MOST_DIFF_CHARS],
            evidence=tuple(touched or new_sections[:1]),
            is_for_asker_alone=is_page_for_asker_alone(page, caller)
            or is_for_asker_alone([*old_sections, *new_sections], caller),
        )
