"""Take credentials and destructive commands out of what is said, and say whom to ask for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.rag.destructive_commands import find_destructive
from bot.rag.written import ShowText
from bot.texts import Texts
from core.credentials import find_credentials, replace_spans

COMMAND = "command"
"""Kind of what was taken out because it destroys."""
_OPEN_WORD = re.compile(r"[A-Za-z0-9_+/=@#-]*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredText:
    """A text without credentials and destructive commands.

    Attributes:
        removed: The kinds of what was taken out, in order.
    """

    text: str
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A part of a text that must not be said; `kind` as of a credential, or `COMMAND`."""

    start: int
    end: int
    kind: str


def find_hidden(text: str) -> list[Hidden]:
    """Return what must not be said, in order, none overlapping."""
    found = [Hidden(start=one.start, end=one.end, kind=one.kind) for one in find_credentials(text)]
    found += [Hidden(start=start, end=end, kind=COMMAND) for start, end in find_destructive(text)]
    kept: list[Hidden] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if kept and one.start < kept[-1].end:
            kept[-1] = replace(kept[-1], end=max(kept[-1].end, one.end))
        else:
            kept.append(one)
    return kept


def mask_hidden(text: str, hidden: Sequence[Hidden], texts: Texts) -> str:
    """Put a mask in the reader's language in place of each part that must not be said."""
    return replace_spans(
        text,
        (
            (one.start, one.end, texts.hidden_command if one.kind == COMMAND else texts.hidden)
            for one in hidden
        ),
    )


def remove_secrets(text: str, texts: Texts) -> FilteredText:
    """Mask every credential and destructive command of a text."""
    hidden = find_hidden(text)
    return FilteredText(
        text=mask_hidden(text, hidden, texts), removed=tuple(one.kind for one in hidden)
    )


def tell_whom_to_ask(filtered: FilteredText, texts: Texts, contact: str) -> str:
    """Return the text with a line on what is missing and whom to ask for it.

    Args:
        filtered: What is said, already masked.
        texts: In the language of the reader.
        contact: A person, team or address; empty = the owner of the page, by no name.
    """
    if not filtered.removed:
        return filtered.text
    whom = contact or texts.page_owner
    lines = [filtered.text]
    if any(kind != COMMAND for kind in filtered.removed):
        lines.append(texts.ask_for_hidden.format(contact=whom))
    if COMMAND in filtered.removed:
        lines.append(texts.ask_before_command.format(contact=whom))
    return "\n\n".join(lines)


def filter_stream(show: ShowText, texts: Texts) -> ShowText:
    """Show text that comes in pieces without what is masked, wherever it is cut.

    Every piece is judged with all before it; a word at its end may go on in the next and waits.
    Once something that was shown turns out to be masked nothing more is shown: the reply as a
    whole takes its place anyway.
    """
    whole = ""
    shown = ""
    is_over = False

    async def show_filtered(text: str) -> None:
        nonlocal whole, shown, is_over
        whole += text
        safe = remove_secrets(whole, texts).text
        open_word = _OPEN_WORD.search(safe)
        safe = safe[: open_word.start()] if open_word else safe
        is_over = is_over or not safe.startswith(shown)
        if is_over or safe == shown:
            return
        added, shown = safe[len(shown) :], safe
        await show(added)

    return show_filtered
