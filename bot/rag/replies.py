"""Replies put together from what was found: text, citations, and notes for the trace."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.rag.conflict import Disagreement
from bot.rag.extractive import Extract, ExtractedPart
from bot.rag.grounding import Removed
from bot.rag.history import State, TitleChange
from bot.rag.quotes import Quote
from bot.texts import Texts
from core.messages import Answer, Citation, NearPage, Outcome
from knowledge.documents import Hit, Status, name_version
from knowledge.retrieval import Evidence, Retrieval

NEAR_PAGES = 3
FROM_VERSIONS = "from the versions of the page"
"""Note of a reply that tells what a page said before."""
NO_PAST = "no earlier version says otherwise"
"""Note of a reply that would have told the past, had it known one."""
_MARKER = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with what a trace has to know of it.

    Attributes:
        cited: The hits behind the citations, in order of n.
        notes: What was left out or changed, and why; no text of pages.
    """

    answer: Answer
    cited: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()


def build_reply(
    text: str,
    cited: Sequence[Hit],
    *,
    outcome: Outcome = Outcome.ANSWERED,
    notes: Iterable[str] = (),
) -> Reply:
    """Build a reply whose markers count the cited hits from 1."""
    citations = tuple(build_citation(n, hit) for n, hit in enumerate(cited, 1))
    answer = Answer(outcome=outcome, text=text, citations=citations)
    return Reply(answer=answer, cited=tuple(cited), notes=tuple(notes))


def build_not_found(retrieval: Retrieval, texts: Texts, *, notes: Iterable[str] = ()) -> Reply:
    """Say that nothing was found, and name the nearest pages the reader may see."""
    pages: dict[str, NearPage] = {}
    for hit in retrieval.hits:
        page = NearPage(document_id=hit.document_id, title=hit.title, url=hit.url)
        pages.setdefault(hit.document_id, page)
    near = tuple(pages.values())[:NEAR_PAGES]
    lines = [texts.not_found]
    if near:
        lines.append(texts.near_pages)
        lines += [
            f"- [{page.title}]({page.url})" if page.url else f"- {page.title}" for page in near
        ]
    answer = Answer(outcome=Outcome.NOT_FOUND, text="\n".join(lines), near_pages=near)
    return Reply(answer=answer, notes=(*notes, *retrieval.sufficiency.reasons))


def build_clarify(options: Sequence[str], texts: Texts) -> Reply:
    """Ask which of several things is meant, or to say more."""
    if not options:
        return Reply(answer=Answer(outcome=Outcome.CLARIFY, text=texts.clarify_open))
    lines = [texts.clarify, *(f"- {option}" for option in options)]
    return Reply(answer=Answer(outcome=Outcome.CLARIFY, text="\n".join(lines)))


def render_extract(extract: Extract, evidence: Sequence[Evidence]) -> tuple[str, list[Evidence]]:
    """Render the parts with markers.

    Returns:
        The text, and the evidence it cites in order, each with the cited passage as its hit.
    """
    cited: dict[str, Evidence] = {}
    pieces = []
    for part in extract.parts:
        hit = find_passage(evidence[part.source], part.quotes)
        cited.setdefault(hit.passage_id, replace(evidence[part.source], hit=hit))
        n = list(cited).index(hit.passage_id) + 1
        pieces.append(part.render(f"[{n}]"))
    return "\n\n".join(pieces), list(cited.values())


def find_passage(evidence: Evidence, quotes: Sequence[Quote]) -> Hit:
    """Return the matched passage that holds the quotes; the best one when none does."""
    for hit in evidence.passages:
        if all(quote.text in hit.text for quote in quotes):
            return hit
    return evidence.hit


def build_conflict(disagreement: Disagreement, owners: Sequence[str], texts: Texts) -> Reply:
    """Put the values side by side with page, date and owner, each with its sentence."""
    lines = [texts.conflict]
    for n, (side, owner) in enumerate(zip(disagreement.sides, owners, strict=True), 1):
        lines.append(
            texts.conflict_item.format(
                value=side.value.text,
                title=side.hit.title,
                date=f"{side.hit.valid_from:%Y-%m-%d}",
                owner=texts.owner.format(name=owner) if owner else "",
                n=n,
            )
        )
        quoted = _render_quote(side.quote.quote, f"[{n}]")
        lines.append("  > " + quoted.replace("\n", "\n  > "))
    return build_reply(
        "\n".join(lines),
        [side.hit for side in disagreement.sides],
        outcome=Outcome.CONFLICT,
        notes=(f"{len(disagreement.sides)} pages disagree",),
    )


def add_stale_copies(reply: Reply, disagreement: Disagreement, texts: Texts) -> Reply:
    """Mention the pages that still give a former value."""
    cited = list(reply.cited)
    lines = [reply.answer.text]
    for side in disagreement.sides[1:]:
        if side.hit not in cited:
            cited.append(side.hit)
        note = texts.stale_copy.format(title=side.hit.title, value=side.value.text)
        lines.append(f"{note} [{cited.index(side.hit) + 1}]")
    notes = (*reply.notes, f"{len(disagreement.sides) - 1} stale copies")
    return build_reply("\n\n".join(lines), cited, outcome=reply.answer.outcome, notes=notes)


def build_history(
    states: Sequence[State], title: TitleChange | None, hit: Hit, texts: Texts
) -> Reply:
    """Tell what held when, the present first, each state with version and dates."""
    pieces: list[str] = []
    cited: list[Hit] = []
    for state in reversed(states):
        cited.append(state.hit)
        is_now = state.until is None
        label = (texts.state_now if is_now else texts.state_former).format(
            version=name_writing_version(state.hit),
            since=f"{state.since:%Y-%m-%d}",
            until="" if state.until is None else f"{state.until:%Y-%m-%d}",
        )
        pieces.append(f"{label}{_render_quote(state.quote.quote, f'[{len(cited)}]')}")
    if title is not None:
        cited.append(hit)
        renamed = texts.title_change.format(
            before=title.before.title,
            after=title.after.title,
            date=f"{title.after.at:%Y-%m-%d}",
            version=title.after.label or f"v{title.after.number}",
        )
        pieces.insert(0, f"{renamed} [{len(cited)}]")
    return build_reply("\n\n".join(pieces), cited, notes=(FROM_VERSIONS,))


def add_states(reply: Reply, texts: Texts) -> Reply:
    """Say of cited passages that are archived, former or not confirmed what they are."""
    lines = [
        texts.state_as_of.format(
            version=name_writing_version(hit),
            since=f"{hit.valid_from:%Y-%m-%d}",
            until=f"{hit.valid_to:%Y-%m-%d}",
        )
        for hit in reply.cited
        if hit.valid_to is not None
    ]
    return add_marks(_append(reply, lines), texts)


def add_marks(reply: Reply, texts: Texts) -> Reply:
    """Say of cited pages that they are archived, or that their source does not confirm them."""
    lines: list[str] = []
    for hit in reply.cited:
        if hit.status is Status.ARCHIVED:
            lines.append(texts.archived)
        if hit.is_unconfirmed_since is not None:
            lines.append(texts.unconfirmed.format(date=f"{hit.is_unconfirmed_since:%Y-%m-%d}"))
    return _append(reply, lines)


def add_no_past(reply: Reply, hit: Hit, texts: Texts) -> Reply:
    """Say that nothing else is known to have held before what is answered."""
    if reply.answer.outcome is not Outcome.ANSWERED:
        return reply
    line = texts.no_past.format(
        version=name_writing_version(hit), since=f"{hit.valid_from:%Y-%m-%d}"
    )
    return _append(replace(reply, notes=(*reply.notes, NO_PAST)), [line])


def join_replies(first: Reply, second: Reply) -> Reply:
    """Put one reply under another one, with its citations counted on."""
    start = len(first.cited)

    def renumber(match: re.Match[str]) -> str:
        return f"[{int(match[1]) + start}]"

    text = f"{first.answer.text}\n\n{_MARKER.sub(renumber, second.answer.text)}"
    return build_reply(
        text,
        (*first.cited, *second.cited),
        outcome=first.answer.outcome,
        notes=(*first.notes, *second.notes),
    )


def list_sources(private: Answer) -> str:
    """Return a private text with its sources: the citations of the answer are the public ones."""
    lines = [
        f"[{one.n}] {' › '.join((one.title, *one.heading_path))}"
        + (f" ({one.url})" if one.url else "")
        for one in private.citations
    ]
    return "\n\n".join(filter(None, (private.text, "\n".join(lines))))


def _append(reply: Reply, lines: Sequence[str]) -> Reply:
    if not lines:
        return reply
    text = "\n\n".join([reply.answer.text, *dict.fromkeys(lines)])
    return replace(reply, answer=replace(reply.answer, text=text))


def add_line(reply: Reply, line: str, *, note: str = "") -> Reply:
    """Put a line of our own in front of the answer."""
    answer = replace(reply.answer, text=f"{line}\n\n{reply.answer.text}")
    return replace(reply, answer=answer, notes=(*reply.notes, *([note] if note else [])))


def name_writing_version(hit: Hit) -> str:
    """Return what people call the version in which a passage came to be as it is."""
    return hit.written_in or name_version(hit.version_number, hit.version_label)


def summarise_removed(removed: Sequence[Removed]) -> tuple[str, ...]:
    """Count removed statements by reason, without their text."""
    counts: dict[str, int] = {}
    for one in removed:
        reason = one.reason.split(":")[0]
        counts[reason] = counts.get(reason, 0) + 1
    return tuple(f"removed {count}: {reason}" for reason, count in counts.items())


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


def _render_quote(quote: Quote, marker: str) -> str:
    return ExtractedPart(source=0, position=0, quotes=(quote,)).render(marker)
