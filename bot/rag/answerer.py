"""From evidence to a reply: quoted or written, checked, cited, or a plain "not found"."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.rag.extractive import Extract, extract_answer
from bot.rag.question_type import QuestionAnalysis, analyse_question
from bot.rag.quote_scoring import AskedQuestion
from bot.rag.quote_selection import Similarity
from bot.rag.secrets_filter import remove_secrets
from bot.texts import Texts, get_texts
from core.messages import Answer, Citation, NearPage, Outcome
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.retrieval import Evidence, Retrieval

NEAR_PAGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with what a trace has to know of it.

    Attributes:
        cited: The hits behind the citations, in order of n.
        notes: What was left out or changed, and why.
    """

    answer: Answer
    cited: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()


class Answerer:
    """Answers from evidence that the reader may see."""

    def __init__(self, analyser: Analyser, *, similarity: Similarity | None = None) -> None:
        self._analyser = analyser
        self._similarity = similarity

    async def answer(self, question: str, retrieval: Retrieval) -> Reply:
        """Answer a question that stands on its own, in its language."""
        analysis = analyse_question(question)
        texts = get_texts(analysis.language)
        if not retrieval.sufficiency.is_enough:
            return _not_found(retrieval, texts)
        extract = await self._extract(question, analysis, retrieval)
        if extract is None:
            return _not_found(retrieval, texts)
        return _build_reply(extract, retrieval.evidence, texts)

    async def _extract(
        self, question: str, analysis: QuestionAnalysis, retrieval: Retrieval
    ) -> Extract | None:
        asked = AskedQuestion(text=question, analysis=analysis, weights=retrieval.terms)
        return await extract_answer(
            asked, retrieval.evidence, self._analyser, similarity=self._similarity
        )


def _build_reply(extract: Extract, evidence: Sequence[Evidence], texts: Texts) -> Reply:
    numbers: dict[int, int] = {}
    pieces: list[str] = []
    for part in extract.parts:
        n = numbers.setdefault(part.source, len(numbers) + 1)
        pieces.append(part.render(f"[{n}]"))
    cited = tuple(evidence[source].hit for source in numbers)
    filtered = remove_secrets("\n\n".join(pieces), mask=texts.hidden)
    answer = Answer(
        outcome=Outcome.ANSWERED,
        text=filtered.text,
        citations=tuple(build_citation(n, hit) for n, hit in enumerate(cited, 1)),
    )
    return Reply(answer=answer, cited=cited)


def _not_found(retrieval: Retrieval, texts: Texts) -> Reply:
    pages: dict[str, NearPage] = {}
    for hit in retrieval.hits:
        page = NearPage(document_id=hit.document_id, title=hit.title, url=hit.url)
        pages.setdefault(hit.document_id, page)
    near = tuple(pages.values())[:NEAR_PAGES]
    lines = [texts.not_found]
    if near:
        lines.append(texts.near_pages)
        lines += [f"- [{page.title}]({page.url})" for page in near]
    answer = Answer(outcome=Outcome.NOT_FOUND, text="\n".join(lines), near_pages=near)
    return Reply(answer=answer, notes=retrieval.sufficiency.reasons)


def build_citation(n: int, hit: Hit) -> Citation:
    """Build the citation of a passage."""
    return Citation(
        n=n,
        document_id=hit.document_id,
        passage_id=hit.passage_id,
        title=hit.title,
        heading_path=hit.heading_path,
        url=hit.url,
        page=hit.page,
        version=hit.version_number,
        version_label=hit.version_label,
        updated_at=hit.updated_at,
    )
