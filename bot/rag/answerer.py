"""From evidence to a reply: quoted or written, checked, cited, or a plain "not found"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.rag.ambiguity import find_options, names_nothing
from bot.rag.claims import KnownNames
from bot.rag.conflict import Disagreement, find_disagreement
from bot.rag.extractive import Extract, extract_answer
from bot.rag.grounding import GroundingGate
from bot.rag.history import build_states, choose_states, find_title_change
from bot.rag.page_history import PageHistory
from bot.rag.question_type import HistoryKind, analyse_question
from bot.rag.quote_scoring import AskedQuestion
from bot.rag.quote_selection import Similarity
from bot.rag.relevance import measure_relevance
from bot.rag.replies import (
    Reply,
    add_line,
    add_marks,
    add_no_past,
    add_stale_copies,
    add_states,
    build_clarify,
    build_conflict,
    build_history,
    build_not_found,
    build_reply,
    render_extract,
    summarise_removed,
)
from bot.rag.writer import LoadPeople, People, Writer, describe_sources
from bot.rag.written import ShowText
from bot.texts import Texts, get_texts
from knowledge.analysis import Analyser, fold
from knowledge.documents import DocumentId, Hit
from knowledge.retrieval import Evidence, Retrieval

__all__ = ["Answerer", "Reply"]


# An error code, a part or ticket number: letters, then at least two digits.
_IDENTIFIER = re.compile(r"[a-z]{1,6}-?\d{2,}(?:-\d+)*|[a-z]{1,3}\d?-\d{2,}(?:-\d+)*")
_JOINTS = re.compile(r"[-_ ]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Everything about one question that the steps share."""

    asked: AskedQuestion
    retrieval: Retrieval
    evidence: Sequence[Evidence]
    texts: Texts
    history: PageHistory | None
    show: ShowText | None
    memory: str


class Answerer:
    """Answers from evidence that the reader may see."""

    def __init__(
        self,
        analyser: Analyser,
        *,
        similarity: Similarity | None = None,
        writer: Writer | None = None,
        load_people: LoadPeople | None = None,
    ) -> None:
        """Prepare.

        Args:
            analyser: The one the index was made with.
            similarity: Compares meanings across languages; None = by words alone.
            writer: Writes answers; None = they are quoted.
            load_people: The directory's names, to be checked in answers and kept from endpoints.
        """
        self._analyser = analyser
        self._similarity = similarity
        self._writer = writer
        self._load_people = load_people

    async def answer(
        self,
        question: str,
        retrieval: Retrieval,
        *,
        history: PageHistory | None = None,
        show: ShowText | None = None,
        now: datetime | None = None,
        memory: str = "",
    ) -> Reply:
        """Answer a question that stands on its own, in its language.

        Args:
            question: Without reference to earlier turns.
            retrieval: What was found for whoever listens.
            history: The past of pages for the same readers; without it nothing is said of former
                values and no page is recognised as a stale copy.
            show: Takes the text of a written answer as it comes, already checked. The reply that
                is returned holds, also when it differs.
            now: What time it is.
            memory: What was said before, fenced; it helps a model to understand the question.
        """
        analysis = analyse_question(question, now=now)
        case = _Case(
            asked=AskedQuestion(text=question, analysis=analysis, weights=retrieval.terms),
            retrieval=retrieval,
            evidence=retrieval.evidence,
            texts=get_texts(analysis.language),
            history=history,
            show=show,
            memory=memory,
        )
        return await self._reply(case)

    async def _reply(self, case: _Case) -> Reply:
        if names_nothing(case.asked.text, self._analyser):
            return build_clarify([], case.texts)
        if not case.retrieval.sufficiency.is_enough:
            return build_not_found(case.retrieval, case.texts)
        if missing := self._find_unknown_codes(case):
            note = f"{len(missing)} codes of the question stand in no evidence"
            return build_not_found(case.retrieval, case.texts, notes=(note,))
        case = replace(case, evidence=self._keep_those_with_codes(case))
        extract = await self._extract(case)
        if extract is None:
            return build_not_found(case.retrieval, case.texts)
        return await self._reply_from(case, extract)

    def _keep_those_with_codes(self, case: _Case) -> Sequence[Evidence]:
        """Leave out what does not hold the codes asked for where something does."""
        codes = set(self._analyser.codes(case.asked.text))
        if not codes or case.asked.analysis.is_comparison:
            return case.evidence
        kept = [one for one in case.evidence if codes <= set(self._list_terms(one))]
        return kept or case.evidence

    def _list_terms(self, evidence: Evidence) -> list[str]:
        hit = evidence.hit
        return self._analyser.index_terms(
            "\n".join((hit.title, *hit.heading_path, evidence.section_text))
        )

    def _is_beside_the_point(self, case: _Case, extract: Extract) -> bool:
        """Tell whether nothing but a near page was found; a model tells that by itself."""
        is_fitted = "cosine" in case.retrieval.sufficiency.features
        if self._writer is not None or extract.is_cross_lingual or not is_fitted:
            return False
        evidence = case.evidence[extract.best.source]
        language = case.asked.analysis.language
        relevance = measure_relevance(case.asked, extract.best, evidence, language, self._analyser)
        return relevance is not None and relevance < 0

    def _find_unknown_codes(self, case: _Case) -> list[str]:
        """Return the identifiers asked for that the evidence does not hold: another's won't do."""
        asked = [c for c in self._analyser.codes(case.asked.text) if _IDENTIFIER.fullmatch(c)]
        if not asked:
            return []
        held = _JOINTS.sub("", fold("\n".join(describe_sources(case.evidence))))
        return [code for code in asked if _JOINTS.sub("", code) not in held]

    async def _reply_from(self, case: _Case, extract: Extract) -> Reply:
        if options := find_options(case.asked, extract.ranked, self._analyser):
            return build_clarify(options, case.texts)
        if self._is_beside_the_point(case, extract):
            note = "the best quote hardly speaks of what is asked"
            return build_not_found(case.retrieval, case.texts, notes=(note,))
        if former := await self._tell_history(case, extract):
            return former
        reply = await self._reply_of_today(case, extract)
        hit = case.evidence[extract.best.source].hit
        return add_no_past(reply, hit, case.texts) if self._has_no_past(case, hit) else reply

    async def _reply_of_today(self, case: _Case, extract: Extract) -> Reply:
        disagreement = await self._find_disagreement(case, extract)
        if disagreement is None and self._may_be_contradicted(case, extract):
            best = case.evidence[extract.best.source]
            wider = replace(case, evidence=[best, *case.retrieval.further])
            others = await self._extract(wider)
            if others is not None:
                disagreement = await self._find_disagreement(wider, others)
            case = wider if disagreement else case
        if disagreement is None:
            return await self._state(case, extract)
        if not disagreement.is_stale_copy:
            return await self._put_side_by_side(case, disagreement)
        return await self._answer_newest(case, disagreement)

    def _may_be_contradicted(self, case: _Case, extract: Extract) -> bool:
        """Tell whether a single value is asked for and found; pages farther off may differ."""
        return bool(case.retrieval.further and extract.best.values)

    async def _state(self, case: _Case, extract: Extract) -> Reply:
        """Write the answer, or quote it where there is no model or it fails."""
        people = await self._load_people() if self._load_people else ()
        if self._writer is None:
            return add_states(self._quote(case, extract, people), case.texts)
        evidence = self._writer.may_see(case.evidence)
        if not evidence:
            quoted = self._quote(case, extract, people)
            return add_states(replace(quoted, notes=(*quoted.notes, "kept here")), case.texts)
        written = await self._writer.write(
            case.asked.text,
            evidence,
            case.asked.analysis.language,
            self._analyser,
            people,
            show=case.show,
            memory=case.memory,
        )
        if written is None:
            quoted = self._quote(case, extract, people)
            quoted = add_line(quoted, case.texts.model_failed, note="the model failed")
            return add_states(quoted, case.texts)
        notes = summarise_removed(written.removed)
        if not written.text:
            said = ("the model found no answer",) if written.said_not_found else ()
            return build_not_found(case.retrieval, case.texts, notes=(*said, *notes))
        cited = [evidence[index].hit for index in written.cited]
        return add_states(build_reply(written.text, cited, notes=notes), case.texts)

    def _quote(self, case: _Case, extract: Extract, people: People) -> Reply:
        text, cited = render_extract(extract, case.evidence)
        gate = GroundingGate(
            describe_sources(cited), self._analyser, KnownNames(people), is_quoted=True
        )
        checked = gate.check(text)
        if not checked.kept:
            notes = summarise_removed(checked.removed)
            return build_not_found(case.retrieval, case.texts, notes=notes)
        reply = build_reply(
            checked.text,
            [cited[index].hit for index in gate.cited],
            notes=summarise_removed(checked.removed),
        )
        return add_line(reply, case.texts.quoted_abroad) if extract.is_cross_lingual else reply

    async def _extract(self, case: _Case) -> Extract | None:
        return await extract_answer(
            case.asked, case.evidence, self._analyser, similarity=self._similarity
        )

    def _has_no_past(self, case: _Case, hit: Hit) -> bool:
        """Tell whether the question is about a past of which nothing is known."""
        analysis = case.asked.analysis
        if case.history is None or not analysis.is_about_past or hit.valid_to is not None:
            return False
        if analysis.history != (HistoryKind.AS_OF,) or analysis.as_of is None:
            return True
        return hit.valid_from > analysis.as_of

    async def _tell_history(self, case: _Case, extract: Extract) -> Reply | None:
        """Answer what held before; None when nothing else is known to have held."""
        kinds = set(case.asked.analysis.history) - {HistoryKind.AS_OF}
        if not kinds or case.history is None:
            return None
        hit = case.evidence[extract.best.source].hit
        rows = await case.history.load_rows(hit.document_id)
        states = build_states(case.asked, extract.best, rows, self._analyser)
        analysis = case.asked.analysis
        chosen = choose_states(states, tuple(kinds), case.asked.text, moment=analysis.as_of)
        versions = await case.history.load_versions(hit.document_id)
        title = find_title_change(versions, case.asked.text)
        if title is not None:
            chosen = []
        if not chosen and title is None:
            return None
        return add_marks(build_history(chosen, title, hit, case.texts), case.texts)

    async def _find_disagreement(self, case: _Case, extract: Extract) -> Disagreement | None:
        history = case.history

        async def load_former(document_id: DocumentId) -> Sequence[str]:
            rows = await history.load_rows(document_id) if history else ()
            return [row.text for row in rows if row.valid_to is not None]

        return await find_disagreement(
            case.asked,
            case.evidence,
            extract.ranked,
            self._analyser,
            is_cross_lingual=extract.is_cross_lingual,
            former_texts=load_former,
        )

    async def _put_side_by_side(self, case: _Case, disagreement: Disagreement) -> Reply:
        owners = [
            await case.history.find_owner(side.hit.document_id) if case.history else ""
            for side in disagreement.sides
        ]
        return build_conflict(disagreement, owners, case.texts)

    async def _answer_newest(self, case: _Case, disagreement: Disagreement) -> Reply:
        """Answer from the newest page, and say which pages still give a former value."""
        stale = {side.hit.document_id for side in disagreement.sides[1:]}
        kept = [one for one in case.evidence if one.hit.document_id not in stale]
        narrowed = replace(case, evidence=kept)
        extract = await self._extract(narrowed)
        if extract is None:
            return build_not_found(case.retrieval, case.texts)
        return add_stale_copies(await self._state(narrowed, extract), disagreement, case.texts)
