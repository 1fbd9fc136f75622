"""Replies that show a draft in full, or ask for what it lacks. Pure."""

from bot.agent.draft_text import build_proposal
from bot.agent.planning.drafting import Draft
from bot.rag.replies import Reply, build_clarify
from bot.texts import Texts
from core.messages import Answer, Outcome


def build_draft_reply(draft: Draft, texts: Texts) -> Reply:
    """Show what would be done; nothing happens before a person confirms it."""
    if draft.missing:
        if draft.options:
            return build_clarify(draft.options, texts)
        said = texts.draft_missing[f"{draft.skill}.{draft.missing}"]
        return Reply(answer=Answer(outcome=Outcome.CLARIFY, text=said))
    answer = build_proposal(
        draft.skill,
        draft.parameters,
        draft.from_pages,
        texts,
        tools=("search_docs",) if draft.cited else (),
    )
    return Reply(answer=answer, cited=draft.cited)
