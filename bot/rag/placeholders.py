"""Stable placeholders for sensitive text on its way to a model, and the way back.

A model may change the case, the brackets or the separators of a placeholder; the way back
understands it all the same. Text that looks like a placeholder already is replaced too, so that
nothing is restored that was not replaced.
"""

import re

from bot.rag.personal_data import Finding, Sensitive, SensitiveFinder

_KINDS = "|".join(kind.value for kind in Sensitive)
_OPEN = r"[<\[⟨《【]"
_CLOSE = r"[>\]⟩》】]"
_PLACEHOLDER = re.compile(
    rf"(?P<open>{_OPEN}[ ]?)?(?<![A-Za-z0-9_])(?P<kind>{_KINDS})[ _-]?(?P<number>\d{{1,6}})"
    rf"(?![A-Za-z0-9_])(?(open)(?:[ ]?{_CLOSE})?)",
    re.IGNORECASE,
)
# What may be one once its neighbours are replaced: a letter or digit before it may go.
_LOOKALIKE = re.compile(
    rf"(?:{_OPEN}[ ]?)?(?:{_KINDS})[ _-]?\d{{1,6}}(?:[ ]?{_CLOSE})?", re.IGNORECASE
)
# Longer than any placeholder with a blank at each place where one may stand.
LONGEST_CHARS = 2 + max(len(kind.value) for kind in Sensitive) + 1 + 6 + 2


class Placeholders:
    """The placeholders of one conversation: equal text always gets the same one."""

    def __init__(self, finder: SensitiveFinder | None) -> None:
        """Use a finder of sensitive text; None = the text may go as it is."""
        self._finder = finder
        self._by_text: dict[tuple[Sensitive, str], str] = {}
        self._texts: dict[tuple[str, int], str] = {}

    @property
    def count(self) -> int:
        """How many different pieces have been replaced."""
        return len(self._texts)

    def replace(self, text: str) -> str:
        """Replace every sensitive piece; `restore` undoes it exactly."""
        if self._finder is None:
            return text
        sensitive = self._finder.find(text)
        literals = [
            Finding(start=match.start(), end=match.end(), kind=Sensitive.LITERAL)
            for match in _LOOKALIKE.finditer(text)
            # Never half of something sensitive, the rest of which would go as it is.
            if not any(match.start() < one.start < match.end() < one.end for one in sensitive)
        ]
        pieces: list[str] = []
        end = 0
        findings = sorted([*literals, *sensitive], key=lambda f: (f.start, -f.end))
        for finding in findings:
            if finding.start < end:
                continue
            pieces.append(text[end : finding.start])
            pieces.append(self._assign(finding.kind, text[finding.start : finding.end]))
            end = finding.end
        pieces.append(text[end:])
        return "".join(pieces)

    def restore(self, text: str) -> str:
        """Put the original text back wherever one of our placeholders stands."""
        return _PLACEHOLDER.sub(self._restore_one, text)

    def _assign(self, kind: Sensitive, original: str) -> str:
        known = self._by_text.get((kind, original))
        if known is not None:
            return known
        number = sum(1 for key in self._by_text if key[0] is kind) + 1
        placeholder = f"<{kind.value}_{number}>"
        self._by_text[(kind, original)] = placeholder
        self._texts[(kind.value, number)] = original
        return placeholder

    def _restore_one(self, match: re.Match[str]) -> str:
        key = (match["kind"].upper(), int(match["number"]))
        return self._texts.get(key, match.group())


class StreamRestorer:
    """Restores placeholders in text that arrives in pieces, whatever they are cut at."""

    def __init__(self, placeholders: Placeholders) -> None:
        self._placeholders = placeholders
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return what can be shown for certain; the rest waits for the next piece."""
        self._held += piece
        cut = _find_open_end(self._held)
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._placeholders.restore(ready)

    def finish(self) -> str:
        """Return what was held back."""
        rest, self._held = self._held, ""
        return self._placeholders.restore(rest)


def _build_prefix_pattern() -> re.Pattern[str]:
    """Match what a placeholder may have begun with, at the end of a text."""
    words = []
    for kind in Sensitive:
        nested = ""
        for letter in reversed(kind.value):
            nested = f"{letter}(?:{nested})?" if nested else letter
        words.append(nested)
    tail = rf"(?:(?:{_KINDS})(?:[ _-]?(?:\d{{1,6}}[ ]?)?)?|{'|'.join(words)})"
    return re.compile(rf"(?:{_OPEN}[ ]?{tail}?|(?<![A-Za-z0-9_]){tail})\Z", re.IGNORECASE)


_PREFIX = _build_prefix_pattern()


def _find_open_end(text: str) -> int:
    """Return where a placeholder may begin that the text's end cuts off; else the length."""
    base = max(0, len(text) - LONGEST_CHARS - 1)
    match = _PREFIX.search(text, base)
    return match.start() if match else len(text)
