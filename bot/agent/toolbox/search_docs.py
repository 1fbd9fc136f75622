"""The tool that searches pages, with the rights of the asker and of whoever listens."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.toolbox.reading import is_for_asker_alone
from bot.agent.tools import JsonSchema, ToolResult
from bot.rag.question_type import analyse_question, build_search_words
from bot.search_query import SearchQuery, build_filter
from core.errors import SettingsError, ToolRetryError
from core.settings import BaseSettings
from knowledge.access import ReadableClasses
from knowledge.retrieval import Evidence, Retrieval
from knowledge.retrieval.pipeline import Retriever

NEAR_PAGES = 3
NAME = "search_docs"


class SearchDocs:
    """Searches pages, files and databases of pages by meaning and by words."""

    name = NAME
    description = (
        "Search the company's pages for rules, procedures, facts, codes. One matter a call, in the "
        "words of the question."
    )
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 400},
            "space": {"type": "string", "description": "only this space, when asked for"},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    timeout_s = 20.0

    def __init__(
        self,
        retriever: Retriever,
        bases: Mapping[str, BaseSettings],
        *,
        scope: SearchQuery | None = None,
    ) -> None:
        """Prepare.

        Args:
            retriever: Searches.
            bases: Knowledge bases by name.
            scope: What the question itself restricts the search to.
        """
        self._retriever = retriever
        self._bases = bases
        self._scope = scope or SearchQuery(words="")

    def within(self, scope: SearchQuery) -> "SearchDocs":
        """Return the same tool for a question that restricts what is searched."""
        return SearchDocs(self._retriever, self._bases, scope=scope)

    def is_offered_to(self, caller: Caller) -> bool:  # noqa: ARG002 - rights decide what is found
        """See `Tool`."""
        return True

    async def run(self, arguments: Mapping[str, JsonValue], caller: Caller) -> ToolResult:
        """See `Tool`. What all who listen may read comes first, as if nobody else had asked."""
        query = replace(self._scope, words=str(arguments["query"]).strip())
        if space := str(arguments.get("space") or "").strip():
            query = replace(query, spaces=frozenset({space}))
        public, others = await self._search_for_all(query, caller)
        found = [one.evidence if one.sufficiency.is_enough else () for one in (public, others)]
        known = {one.hit.section_id for one in found[0]}
        more = [one for one in found[1] if one.hit.section_id not in known]
        evidence = (*found[0], *more)
        return ToolResult(
            text="" if evidence else _name_near_pages(public, caller),
            evidence=evidence,
            is_for_asker_alone=is_for_asker_alone(evidence, caller),
            has_found=bool(evidence),
            notes=tuple(
                f"{name} search, confidence {one.sufficiency.confidence:.2f}"
                for name, one in (("public", public), ("private", others))
                if name == "public" or others is not public
            ),
        )

    async def _search_for_all(
        self, query: SearchQuery, caller: Caller
    ) -> tuple[Retrieval, Retrieval]:
        reader = caller.reader
        public = await self._search(query, reader.audience_readable, caller)
        if reader.audience_readable == reader.asker_readable:
            return public, public
        return public, await self._search(query, reader.asker_readable, caller)

    async def _search(
        self, query: SearchQuery, access: ReadableClasses, caller: Caller
    ) -> Retrieval:
        analysis = analyse_question(query.words, now=caller.now)
        try:
            where = build_filter(query, access, self._bases)
        except SettingsError as error:
            raise ToolRetryError(str(error)) from error
        return await self._retriever.search(build_search_words(query.words, analysis), where)


def _name_near_pages(retrieval: Retrieval, caller: Caller) -> str:
    """Name pages that came near, for another try; none that somebody who listens may not read."""
    readable: Sequence[Evidence] = [
        one
        for one in retrieval.evidence
        if caller.reader.audience_readable.admits(one.hit.access_no)
    ]
    titles = list(dict.fromkeys(one.hit.title for one in readable))[:NEAR_PAGES]
    if not titles:
        return "Nothing found."
    return "Nothing certain found. Nearest pages: " + "; ".join(titles)
