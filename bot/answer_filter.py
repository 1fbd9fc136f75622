"""The last thing before anything is said: no credentials, no destructive commands, in any answer.

Whatever an answer was made by (pages, records, an agent, memory), it passes here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.rag.language import detect_language
from bot.rag.secrets_filter import (
    filter_stream,
    find_hidden,
    mask_hidden,
    remove_secrets,
    tell_whom_to_ask,
)
from bot.texts import Texts, get_texts
from bot.watching import Step, Watcher
from core.messages import Answer, ProposedAction
from knowledge.documents import DocumentId, Hit

FindOwner = Callable[[DocumentId], Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredAnswer:
    """An answer that may be said, and the kinds of what was taken out of it."""

    answer: Answer
    removed: tuple[str, ...]


class AnswerFilter:
    """Masks what must not be said, and names whom to ask for it."""

    def __init__(self, find_owner: FindOwner, *, contact: str = "") -> None:
        """Prepare.

        Args:
            find_owner: Who answers for a page; empty = nobody is known.
            contact: Whom to ask instead of the page's owner.
        """
        self._find_owner = find_owner
        self._contact = contact

    async def filter(self, answer: Answer, cited: Sequence[Hit], question: str) -> FilteredAnswer:
        """Return the answer without what must not be said.

        Args:
            answer: As it was made.
            cited: What it rests on, all of it readable by the asker.
            question: The asker's own words; a draft keeps what stands in them.
        """
        texts = get_texts(detect_language(question))
        public = remove_secrets(answer.text, texts)
        private = remove_secrets(answer.private_answer or "", texts)
        action, kinds = _filter_action(answer.proposed_action, question, texts)
        removed = (*public.removed, *private.removed, *kinds)
        if not removed:
            return FilteredAnswer(answer=answer, removed=())
        shown = {one.document_id for one in answer.citations}
        for_all = await self._find_contact([hit for hit in cited if hit.document_id in shown])
        alone = await self._find_contact(cited) if private.removed else ""
        told = None if answer.private_answer is None else tell_whom_to_ask(private, texts, alone)
        return FilteredAnswer(
            answer=replace(
                answer,
                text=tell_whom_to_ask(public, texts, for_all),
                private_answer=told,
                proposed_action=action,
            ),
            removed=removed,
        )

    def watch(self, watcher: Watcher | None, question: str) -> Watcher | None:
        """Let a watcher see what is written, masked as it comes."""
        if watcher is None:
            return None
        return _FilteredWatcher(watcher, get_texts(detect_language(question)))

    async def _find_contact(self, cited: Sequence[Hit]) -> str:
        if self._contact:
            return self._contact
        for document_id in dict.fromkeys(hit.document_id for hit in cited):
            if owner := await self._find_owner(document_id):
                return owner
        return ""


class _FilteredWatcher:
    """Passes on what is done, and what is written without what must not be said."""

    def __init__(self, watcher: Watcher, texts: Texts) -> None:
        self._watcher = watcher
        self._show = filter_stream(watcher.show, texts)

    async def note(self, step: Step) -> None:
        """See `Watcher`."""
        await self._watcher.note(step)

    async def show(self, text: str) -> None:
        """See `Watcher`."""
        await self._show(text)


def _filter_action(
    action: ProposedAction | None, question: str, texts: Texts
) -> tuple[ProposedAction | None, tuple[str, ...]]:
    """Mask what must not be said in a draft and does not stand in the asker's own words."""
    if action is None:
        return None, ()
    kinds: list[str] = []

    def mask(value: object) -> object:
        if isinstance(value, str):
            hidden = [
                one for one in find_hidden(value) if value[one.start : one.end] not in question
            ]
            kinds.extend(one.kind for one in hidden)
            return mask_hidden(value, hidden, texts)
        if isinstance(value, list | tuple):
            return [mask(one) for one in value]
        if isinstance(value, Mapping):
            return {key: mask(one) for key, one in value.items()}
        return value

    params = {name: mask(value) for name, value in action.params.items()}
    return (replace(action, params=params) if kinds else action), tuple(kinds)
