"""A draft in words: every value in full, and which of them the person did not give. Pure."""

from collections.abc import Collection, Mapping

from bot.texts import Texts
from core.messages import Answer, Outcome, ProposedAction


def build_proposal(
    skill: str,
    parameters: Mapping[str, object],
    from_pages: Collection[str],
    texts: Texts,
    *,
    tools: tuple[str, ...],
) -> Answer:
    """Show what would be done; nothing happens before a person confirms it."""
    lines = [texts.draft]
    for name, value in parameters.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        if shown:
            line = texts.draft_item.format(name=name, value=shown)
            lines.append(line + texts.draft_from_pages * (name in from_pages))
    return Answer(
        outcome=Outcome.PROPOSED,
        text="\n".join(lines),
        proposed_action=ProposedAction(
            skill=skill, params=dict(parameters), from_pages=frozenset(from_pages)
        ),
        tools=(*tools, skill),
    )
