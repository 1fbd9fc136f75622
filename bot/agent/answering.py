"""From what a run found to a reply: written from sources alone, checked by the gate of all answers.

The writer has no tools, and of results it sees what the gate sees. In a room it writes twice: for
all who listen from what all may see, and for the asker alone when there is more.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.agent.budget import StopReason
from bot.agent.loop import LoopResult
from bot.agent.notebook import is_record
from bot.agent.toolbox.calculate import NAME as CALCULATE
from bot.rag.claims import ClaimReader, KnownNames, SourceText
from bot.rag.language import Language
from bot.rag.replies import Reply, build_reply, list_sources, summarise_removed
from bot.rag.writer import People, Writer, describe_sources
from bot.rag.written import MOST_REFERENCE_CHARS, ShowText
from bot.texts import Texts, get_texts
from core.messages import Answer, NearPage, Outcome
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.embedding.token_estimate import estimate_tokens
from knowledge.retrieval import Evidence

MODEL_FAILED = "the model failed"
"""Note of a reply that had to do without the model."""
MOST_SOURCES = 9
NEAR_PAGES = 3
_MARKER = re.compile(r"[ \t]*(?<!\\)\[(\d{1,2})\](?!\()")
# Rules, question and the heads of sources take these.
_FRAME_TOKENS = 450
_LEAST_TOKENS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTask:
    """What is to be written about."""

    question: str
    language: Language
    people: People
    prompt_tokens: int
    memory: str = ""


class AgentAnswers:
    """Writes the replies of runs."""

    def __init__(self, writer: Writer, analyser: Analyser) -> None:
        self._writer = writer
        self._analyser = analyser

    async def write(self, task: AnswerTask, found: LoopResult, show: ShowText | None) -> Reply:
        """Write the reply, and say what is missing when the run was cut short."""
        sources = found.notebook.list_sources(for_all=True)
        public = await self._write(task, found, sources, show)
        everything = found.notebook.list_sources(for_all=False)
        if len(everything) == len(sources):
            return self._finish(public, found, task, sources)
        private = await self._write(task, found, everything, None)
        public = self._finish(public, found, task, sources)
        if private.answer.outcome is not Outcome.ANSWERED:
            return public
        private = self._finish(private, found, task, everything)
        outcome = public.answer.outcome
        if outcome is Outcome.NOT_FOUND:
            outcome = Outcome.NO_ACCESS
        answer = replace(
            public.answer, outcome=outcome, private_answer=list_sources(private.answer)
        )
        return replace(public, answer=answer, cited=(*public.cited, *private.cited))

    async def _write(
        self,
        task: AnswerTask,
        found: LoopResult,
        sources: Sequence[Evidence],
        show: ShowText | None,
    ) -> Reply:
        texts = get_texts(task.language)
        sources = [one for one in sources if not self._writer.is_kept(one)][:MOST_SOURCES]
        if not sources:
            return _build_nothing(found, texts)
        if found.reason is StopReason.MODEL_FAILED:
            return _tell_records(sources, texts, MODEL_FAILED)
        written = await self._writer.write(
            task.question,
            sources,
            task.language,
            self._analyser,
            task.people,
            show=show if not any(is_record(one.hit) for one in sources) else None,
            most_chars=_choose_chars(sources, task.prompt_tokens - estimate_tokens(task.memory)),
            memory=task.memory,
        )
        if written is None:
            return _tell_records(sources, texts, MODEL_FAILED)
        if not written.text:
            return _tell_records(sources, texts, "the model found no answer")
        hits = [sources[index].hit for index in written.cited]
        notes = summarise_removed(written.removed)
        return build_cited(written.text, hits, notes=notes)

    def _finish(
        self, reply: Reply, found: LoopResult, task: AnswerTask, sources: Sequence[Evidence]
    ) -> Reply:
        """Say why it may be incomplete and what is missing."""
        texts = get_texts(task.language)
        lines = [reply.answer.text]
        if not found.reason.is_complete:
            lines.append(texts.agent_stopped[found.reason.value])
        if not found.reason.is_complete and (missing := self._list_missing(found, task, sources)):
            lines.append(texts.agent_missing)
            lines += [f"- {one}" for one in missing]
        answer = replace(reply.answer, text=_join(lines), tools=found.notebook.tools)
        return replace(reply, answer=answer)

    def _list_missing(
        self, found: LoopResult, task: AnswerTask, sources: Sequence[Evidence]
    ) -> list[str]:
        """Return the plan's open steps that claim nothing beyond question and sources."""
        names = KnownNames(task.people)
        reader = ClaimReader(self._analyser, names)
        text = "\n".join((task.question, *describe_sources(sources)))
        known = SourceText(text, self._analyser, names)
        return [
            step
            for step in found.plan.steps
            if not known.find_missing(reader.read(step), is_same_language=True)
        ]


def build_cited(text: str, hits: Sequence[Hit], *, notes: Sequence[str] = ()) -> Reply:
    """Build a reply whose markers count pages alone; a record has no page to show.

    Args:
        text: With markers that count `hits` from 1.
        hits: What is cited, records among them.
        notes: For the trace.
    """
    pages: dict[str, Hit] = {}
    numbers: dict[int, int] = {}
    for place, hit in enumerate(hits, 1):
        if not is_record(hit):
            # What a tool says of a page cites a passage that may be cited itself.
            pages.setdefault(hit.passage_id, hit)
            numbers[place] = list(pages).index(hit.passage_id) + 1

    def renumber(match: re.Match[str]) -> str:
        n = numbers.get(int(match[1]))
        return "" if n is None else match.group().replace(f"[{match[1]}]", f"[{n}]")

    records = sum(is_record(hit) for hit in hits)
    said = (*notes, *([f"rests on {records} results of tools"] if records else []))
    return build_reply(_MARKER.sub(renumber, text), list(pages.values()), notes=said)


def _build_nothing(found: LoopResult, texts: Texts) -> Reply:
    notes = (MODEL_FAILED,) if found.reason is StopReason.MODEL_FAILED else ()
    answer = Answer(outcome=Outcome.NOT_FOUND, text=texts.not_found)
    return Reply(answer=answer, notes=notes)


def _tell_records(sources: Sequence[Evidence], texts: Texts, note: str) -> Reply:
    """Tell what records say in their tools' own words, where nothing could be written.

    A sum says nothing without what it was made for. Pages that were found are named.
    """
    told = [one for one in sources if _is_in_words(one) and one.hit.source != CALCULATE]
    near = _build_near(sources, texts)
    if not told:
        return replace(near, notes=(note,))
    pieces = [texts.agent_found]
    pieces += [f"{one.section_text} [{n}]" for n, one in enumerate(told, 1)]
    if near.answer.near_pages:
        pieces.append("\n".join((texts.near_pages, *_list_near(near.answer.near_pages))))
    notes = (note, f"{len(told)} results as they are")
    reply = build_cited("\n\n".join(pieces), [one.hit for one in told], notes=notes)
    answer = replace(reply.answer, near_pages=near.answer.near_pages)
    return replace(reply, answer=answer)


def _is_in_words(source: Evidence) -> bool:
    """Tell whether a source is what a tool said, of records or of a page."""
    return is_record(source.hit) or not source.passages


def _build_near(sources: Sequence[Evidence], texts: Texts) -> Reply:
    pages: dict[str, NearPage] = {}
    for one in sources:
        hit = one.hit
        if not is_record(hit):
            page = NearPage(document_id=hit.document_id, title=hit.title, url=hit.url)
            pages.setdefault(hit.document_id, page)
    near = tuple(pages.values())[:NEAR_PAGES]
    lines = [texts.not_found]
    if near:
        lines += [texts.near_pages, *_list_near(near)]
    answer = Answer(outcome=Outcome.NOT_FOUND, text="\n".join(lines), near_pages=near)
    return Reply(answer=answer)


def _choose_chars(sources: Sequence[Evidence], prompt_tokens: int) -> int:
    """Return how many characters of these sources fit; Chinese has fewer to a token."""
    text = "\n".join(one.section_text for one in sources)
    share = len(text) / max(1, estimate_tokens(text))
    tokens = max(_LEAST_TOKENS, prompt_tokens - _FRAME_TOKENS)
    return min(MOST_REFERENCE_CHARS, int(tokens * share))


def _list_near(pages: Sequence[NearPage]) -> list[str]:
    return [f"- [{one.title}]({one.url})" if one.url else f"- {one.title}" for one in pages]


def _join(lines: Sequence[str]) -> str:
    first, *rest = lines
    return "\n\n".join(filter(None, (first, "\n".join(rest))))
