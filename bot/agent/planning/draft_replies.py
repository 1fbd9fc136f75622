"""Replies that show a draft in full, or ask for what it lacks. Pure."""

from bot.agent.planning.drafting import Draft
from bot.rag.replies import Reply, build_clarify
from bot.texts import Texts
from core.messages import Answer, Outcome, ProposedAction


def build_draft_reply(draft: Draft, texts: Texts) -> Reply:
    """Show what would be done; nothing happens before a person confirms it."""
    if draft.missing:
        if draft.options:
            return build_clarify(draft.options, texts)
        said = texts.draft_missing[f"{draft.skill}.{draft.missing}"]
        return Reply(answer=Answer(outcome=Outcome.CLARIFY, text=said))
    lines = [texts.draft]
    for name, value in draft.parameters.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if shown:
            line = texts.draft_item.format(name=name, value=shown)
            lines.append(line + texts.draft_from_pages * (name in draft.from_pages))
    answer = Answer(
        outcome=Outcome.PROPOSED,
        text="\n".join(lines),
        proposed_action=ProposedAction(
            skill=draft.skill, params=dict(draft.parameters), from_pages=draft.from_pages
        ),
        tools=(*(("search_docs",) if draft.cited else ()), draft.skill),
    )
    return Reply(answer=answer, cited=draft.cited)
