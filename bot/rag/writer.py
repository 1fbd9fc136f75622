"""The language model as it is used for answers: what it may see, and what when it fails."""

from collections.abc import Awaitable, Callable, Collection, Sequence

import structlog

from bot.rag.claims import KnownNames
from bot.rag.grounding import GroundingGate
from bot.rag.language import Language
from bot.rag.personal_data import SensitiveFinder
from bot.rag.placeholders import Placeholders
from bot.rag.written import (
    MOST_REFERENCE_CHARS,
    ShowText,
    WrittenAnswer,
    build_messages,
    write_answer,
)
from core.errors import PromptTooLongError, ZhixingError
from core.models import ChatModel
from knowledge.analysis import Analyser
from knowledge.retrieval import Evidence

# No model needs them, wherever it runs.
_SECRETS = SensitiveFinder(only_secrets=True)
_log = structlog.get_logger(__name__)

People = tuple[tuple[str, ...], ...]
"""The names of every person of the directory, each with its spellings."""
LoadPeople = Callable[[], Awaitable[People]]


class Writer:
    """Writes answers with a model, or says that it can't.

    No endpoint is shown secrets. For one that is not private, personal data and the directory's
    names are replaced as well, and evidence of spaces that must never leave stays here.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        max_tokens: int,
        never_to_leave: Collection[str] = (),
    ) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._never_to_leave = frozenset(never_to_leave)
        self._people: People | None = None
        self._finder: SensitiveFinder | None = None

    def may_see(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the evidence that may be sent; nothing when the best of it may not."""
        allowed = [one for one in evidence if not self.is_kept(one)]
        return allowed if evidence and not self.is_kept(evidence[0]) else []

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        language: Language,
        analyser: Analyser,
        people: People,
        *,
        show: ShowText | None = None,
        most_chars: int = MOST_REFERENCE_CHARS,
        memory: str = "",
    ) -> WrittenAnswer | None:
        """Write an answer from evidence that may be sent; None when the model failed.

        Args:
            most_chars: Of evidence in the prompt.
            memory: What was said before, fenced; left out where the prompt is too long.
        """
        placeholders = self.build_placeholders(people)
        names = KnownNames(people)
        least_chars = most_chars // 8
        while True:
            gate = GroundingGate(describe_sources(evidence), analyser, names)
            messages = build_messages(
                question, evidence, language, placeholders, most_chars=most_chars, memory=memory
            )
            try:
                return await write_answer(
                    self._model,
                    messages,
                    gate,
                    placeholders,
                    max_tokens=self._max_tokens,
                    show=show,
                )
            except PromptTooLongError as error:
                most_chars, memory = most_chars // 2, ""
                if most_chars < least_chars:
                    _log.warning("model_failed", reason=str(error))
                    return None
            except ZhixingError as error:
                _log.warning("model_failed", reason=str(error))
                return None

    def is_kept(self, evidence: Evidence) -> bool:
        """Tell whether a piece of evidence must never be sent to this model."""
        places = {evidence.hit.space, evidence.hit.source}
        return not self._model.is_private and bool(places & self._never_to_leave)

    def build_placeholders(self, people: People) -> Placeholders:
        """Return what keeps sensitive text from this model, for one conversation with it."""
        return Placeholders(_SECRETS if self._model.is_private else self._find_for(people))

    def _find_for(self, people: People) -> SensitiveFinder:
        if self._finder is None or people != self._people:
            self._people = people
            self._finder = SensitiveFinder(name for names in people for name in names)
        return self._finder


def describe_sources(evidence: Sequence[Evidence]) -> list[str]:
    """Return the text each source is checked against: what the reader sees of it as well."""
    return [
        "\n".join(
            (
                one.hit.title,
                *one.hit.heading_path,
                f"{one.hit.version_label or f'v{one.hit.version_number}'}",
                f"{one.hit.updated_at:%Y-%m-%d}",
                one.section_text,
                *(hit.text for hit in one.passages),
            )
        )
        for one in evidence
    ]
