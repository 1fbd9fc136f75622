"""Drafts of tickets: the person's own words, in the queue that the company's pages name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.caller import Caller
from bot.agent.planning.drafting import Draft, Search, write_subject
from bot.agent.planning.requests import Request
from bot.rag.quote_selection import Similarity
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.retrieval import Evidence

CREATE_TICKET = "create_ticket"
_QUEUES = {
    "zh": "工单队列 哪类问题提到哪个队列",
    "en": "ticket queues, which request goes to which queue",
}
_QUEUE = re.compile(r"`?(?P<code>[A-Z][A-Z0-9]{1,9}-[A-Z][A-Z0-9]{1,9})`?")
_FEWEST_QUEUES = 3
_WORD_SHARE = 0.05
"""What a shared word adds to the likeness of meanings, which is a cosine."""
_URGENT = re.compile(
    r"紧急|马上|立刻|立即|尽快|宕机|全部|停摆|中断|大面积|\burgent(?:ly)?\b|\basap\b|\boutage\b"
    r"|\b(?:is|are) down\b|\beverybody\b|\beveryone\b",
    re.IGNORECASE,
)
_LEAD_ZH = re.compile(
    r"^(?:请|麻烦|帮忙|帮我|替我|给我|一下|吧|谢谢)+|(?:请|麻烦|帮我|帮忙|替我|给我)+$"
)
_REST = re.compile(
    r"^(?:\s*(?:一下|吧|please|thanks|for me|谢谢|了)[\s,.，。!！]*)+$", re.IGNORECASE
)
_TRIM = " \t\n，,。.：:;；!！"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Queue:
    code: str
    about: str
    hit: Hit


class TicketDrafter:
    """Drafts tickets; which queues there are is read on pages that all who listen may see."""

    def __init__(
        self, search: Search, analyser: Analyser, *, similarity: Similarity | None = None
    ) -> None:
        self._search = search
        self._analyser = analyser
        self._similarity = similarity

    async def draft(self, text: str, request: Request, caller: Caller) -> Draft:
        """Draft what a request asks for; nothing is created."""
        content = _read_content(text, request)
        if not self._analyser.words(content):
            return Draft(skill=CREATE_TICKET, parameters={}, missing="content")
        queue = await self._find_queue(content, caller)
        return Draft(
            skill=CREATE_TICKET,
            parameters={
                "queue": queue.code if queue else "",
                "priority": "P2" if _URGENT.search(content) else "P3",
                "title": write_subject(content),
                "description": content,
            },
            from_pages=frozenset({"queue"}) if queue else frozenset(),
            cited=(queue.hit,) if queue else (),
        )

    async def _find_queue(self, content: str, caller: Caller) -> _Queue | None:
        queues: dict[str, _Queue] = {}
        for words in _QUEUES.values():
            found = await self._search(words, caller.reader.audience_readable)
            for one in _list_queues(found.evidence):
                queues.setdefault(one.code, one)
        if not queues:
            return None
        choices = list(queues.values())
        scores = await self._score(content, choices)
        return max(zip(scores, choices, strict=True), key=lambda pair: pair[0])[1]

    async def _score(self, content: str, queues: Sequence[_Queue]) -> list[float]:
        meanings: Sequence[float] = [0.0] * len(queues)
        if self._similarity is not None:
            meanings = await self._similarity(content, [one.about for one in queues])
        asked = set(self._analyser.index_terms(content))
        return [
            meaning + _WORD_SHARE * len(asked & set(self._analyser.index_terms(one.about)))
            for meaning, one in zip(meanings, queues, strict=True)
        ]


def _read_content(text: str, request: Request) -> str:
    """Return what the ticket is about: what is said before and after the request itself."""
    before = _LEAD_ZH.sub("", text[: request.start].strip(_TRIM)).strip(_TRIM)
    after = text[request.end :].strip(_TRIM)
    if _REST.match(after + " ") or after in {"一下", "吧"}:
        after = ""
    # "报修" tells what is wanted of what was said before; "file it" stands for all of it.
    return "\n".join(filter(None, (before, after)))


def _list_queues(evidence: Sequence[Evidence]) -> list[_Queue]:
    """Return the lines that begin with the code of a queue, where several do so on one page."""
    found: list[_Queue] = []
    for one in evidence:
        here = []
        for line in one.section_text.split("\n"):
            plain = line.strip().lstrip("|-*•").strip().lstrip("*`").strip()
            match = _QUEUE.match(plain)
            if match:
                here.append(_Queue(code=match["code"], about=plain, hit=one.hit))
        if len({queue.code for queue in here}) >= _FEWEST_QUEUES:
            found += here
    return found
