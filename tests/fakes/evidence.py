"""Evidence and retrievals as search would hand them over, built from plain text."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bot.rag.question_type import analyse_question
from bot.rag.quote_scoring import AskedQuestion
from knowledge.analysis import Analyser
from knowledge.documents import DocumentId, Hit, PassageId, PassageKind, SectionId, Status
from knowledge.retrieval import Evidence, Retrieval, Sufficiency

ANALYSER = Analyser()
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


def build_hit(text: str, *, title: str = "Handbook", **changes: Any) -> Hit:
    """Build a hit; ids follow from the title unless they are given."""
    document_id = changes.pop("document_id", f"wiki:{title}")
    passage_id = changes.pop("passage_id", f"p:{title}:{abs(hash(text)) % 10**6}")
    moment = changes.pop("updated_at", MOMENT)
    values: dict[str, Any] = {
        "title": title,
        "heading_path": (),
        "text": text,
        "kind": PassageKind.PROSE,
        "url": f"https://wiki.example/{title.replace(' ', '-')}",
        "page": None,
        "space": "HR",
        "source": "wiki",
        "labels": (),
        "status": Status.CURRENT,
        "version_number": 3,
        "version_label": "",
        "updated_at": moment,
        "valid_from": moment,
        "valid_to": None,
        "access_no": 1,
        "position": 0,
        "score": 1.0,
    }
    return Hit(
        document_id=DocumentId(document_id),
        passage_id=PassageId(passage_id),
        section_id=SectionId(f"s:{passage_id}"),
        **{**values, **changes},
    )


def build_evidence(text: str, *, title: str = "Handbook", **changes: Any) -> Evidence:
    """Build a section that is a single passage."""
    hit = build_hit(text, title=title, **changes)
    return Evidence(hit=hit, section_text=text, passages=(hit,))


def ask(question: str, weights: Mapping[str, float] | None = None) -> AskedQuestion:
    """Build a question as quotes are scored against it; every term weighs the same by default."""
    terms = ANALYSER.query_terms(question) if weights is None else weights
    return AskedQuestion(text=question, analysis=analyse_question(question), weights=terms)


def build_retrieval(
    question: str, evidence: Sequence[Evidence], *, is_enough: bool = True
) -> Retrieval:
    """Build what a search hands over."""
    return Retrieval(
        question=question,
        terms=ANALYSER.query_terms(question),
        hits=tuple(one.hit for one in evidence),
        evidence=tuple(evidence),
        sufficiency=Sufficiency(
            is_enough=is_enough,
            confidence=0.9 if is_enough else 0.1,
            features={},
            reasons=() if is_enough else ("low coverage",),
        ),
        stages=(),
        took_ms=1.0,
    )
