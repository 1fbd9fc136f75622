"""The tool that reads a page, or a part of it, in any of its versions."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.toolbox.reading import PageReading, is_for_asker_alone, is_page_for_asker_alone
from bot.agent.tools import JsonSchema, ToolResult
from knowledge.analysis import Analyser, fold
from knowledge.retrieval import Evidence

MOST_HEADINGS = 30


class GetPage:
    """Reads one page."""

    name = "get_page"
    description = "Read one page, or the part of it about something, today or in an older version."
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {
            "page": {"type": "string", "minLength": 1, "description": "id, title or URL"},
            "section": {"type": "string", "description": "heading or words to look for"},
            "version": {"type": "string", "description": "number or label; default current"},
        },
        "required": ["page"],
        "additionalProperties": False,
    }
    timeout_s = 20.0

    def __init__(self, reading: PageReading, analyser: Analyser) -> None:
        self._reading = reading
        self._analyser = analyser

    def is_offered_to(self, caller: Caller) -> bool:  # noqa: ARG002 - rights decide what is found
        """See `Tool`."""
        return True

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """See `Tool`. The sections asked for come first, the rest in the order of the page."""
        page = await self._reading.open(str(arguments["page"]), caller)
        version = page.choose(str(arguments.get("version") or ""))
        sections = await self._reading.load_evidence(page, version, caller)
        ordered = self._put_first(sections, str(arguments.get("section") or ""))
        state = "in force" if version.until is None else f"replaced on {version.until:%Y-%m-%d}"
        head = (
            f"{version.record.title} ({page.record.document_id}), {version.name}, "
            f"{version.record.at:%Y-%m-%d}, {state}"
        )
        parts = await page.pages.load_text(page.record, version)
        headings = [" > ".join(one.heading_path) for one in parts]
        listed = "; ".join(list(dict.fromkeys(filter(None, headings)))[:MOST_HEADINGS])
        return ToolResult(
            text=f"{head}\nHeadings: {listed}" if listed else head,
            evidence=tuple(ordered),
            is_for_asker_alone=is_page_for_asker_alone(page, caller)
            or is_for_asker_alone(sections, caller),
            has_found=bool(sections),
        )

    def _put_first(self, sections: Sequence[Evidence], wanted: str) -> list[Evidence]:
        if not wanted.strip():
            return list(sections)
        heading = fold(wanted).strip()
        terms = set(self._analyser.index_terms(wanted))

        def rank(one: Evidence) -> tuple[bool, int]:
            path = " > ".join(one.hit.heading_path)
            text_terms = set(self._analyser.index_terms(f"{path}\n{one.section_text}"))
            return heading in fold(path), len(terms & text_terms)

        return sorted(sections, key=rank, reverse=True)
