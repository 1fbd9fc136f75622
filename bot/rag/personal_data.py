"""Find what must not reach a stranger: contacts, identity and card numbers, secrets, names."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.credentials import find_credentials


class Sensitive(StrEnum):
    """Kinds of sensitive text; the value is the word its placeholders are made of."""

    PERSON = "PERSON"
    EMAIL = "EMAIL"
    PHONE = "PHONE"
    IDENTITY = "IDNUMBER"
    CARD = "CARD"
    SECRET = "SECRET"  # noqa: S105 - a word, not a password
    LITERAL = "LITERAL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sensitive piece of a text."""

    start: int
    end: int
    kind: Sensitive


_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_PHONE = re.compile(
    r"(?<![\d.\-+])(?:\+?86[- ]?)?1[3-9]\d(?:[- ]?\d{4}){2}(?!\d)"
    r"|(?<![\d.\-+])\(?0\d{2,3}\)?[- ]?\d{7,8}(?:[-转 ]{1,3}\d{1,5})?(?!\d)"
    r"|(?<![\d.\-])\+\d{1,3}[-. ]?(?:\(\d{1,4}\)[-. ]?)?\d{2,4}(?:[-. ]?\d{2,4}){1,4}(?!\d)"
    r"|(?<![\d.\-+])(?:1[-. ])?\(?[2-9]\d{2}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)"
    r"|(?<![\d.\-+])[48]00[- ]\d{3}[- ]?\d{4}(?!\d)"
)
_IDENTITY = re.compile(r"(?<![0-9A-Za-z])\d{17}[\dXx](?![0-9A-Za-z])")
_CARD = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])")
_HAN = re.compile(r"[\u3400-\u9fff]")

_IDENTITY_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_IDENTITY_CHECKS = "10X98765432"


def is_identity_number(text: str) -> bool:
    """Check a Chinese resident identity number. Source: GB 11643-1999, MOD 11-2."""
    if not re.fullmatch(r"\d{17}[\dXx]", text):
        return False
    total = sum(
        int(digit) * weight for digit, weight in zip(text[:17], _IDENTITY_WEIGHTS, strict=True)
    )
    return _IDENTITY_CHECKS[total % 11] == text[17].upper()


def is_card_number(text: str) -> bool:
    """Check a payment card number, 13 to 19 digits. Source: ISO/IEC 7812-1, Luhn."""
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:  # noqa: PLR2004 - the standard's own
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]  # noqa: PLR2004
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


class SensitiveFinder:
    """Finds sensitive pieces; knows the names of the directory."""

    def __init__(self, names: Iterable[str] = (), *, only_secrets: bool = False) -> None:
        """Prepare.

        Args:
            names: Of people; those of a single letter or character are left out.
            only_secrets: Leave personal data alone.
        """
        self._only_secrets = only_secrets
        usable = sorted({name.strip() for name in names if len(name.strip()) > 1}, key=len)
        self._names = _build_name_pattern(list(reversed(usable)))

    def find(self, text: str) -> list[Finding]:
        """Return the sensitive pieces in order; where two overlap the earlier, longer one wins."""
        found = sorted(self._find_all(text), key=lambda f: (f.start, -f.end))
        kept: list[Finding] = []
        for finding in found:
            if not kept or finding.start >= kept[-1].end:
                kept.append(finding)
        return kept

    def _find_all(self, text: str) -> Iterator[Finding]:
        secrets = [(one.start, one.end) for one in find_credentials(text)]
        for secret in {text[start:end] for start, end in secrets}:
            # It may stand alone elsewhere, where nothing tells what it is.
            for match in re.finditer(re.escape(secret), text):
                yield Finding(start=match.start(), end=match.end(), kind=Sensitive.SECRET)
        if not self._only_secrets:
            yield from self._find_personal(text)

    def _find_personal(self, text: str) -> Iterator[Finding]:
        yield from _match(_EMAIL, text, Sensitive.EMAIL)
        for finding in _match(_IDENTITY, text, Sensitive.IDENTITY):
            if is_identity_number(text[finding.start : finding.end]):
                yield finding
        for finding in _match(_CARD, text, Sensitive.CARD):
            if is_card_number(text[finding.start : finding.end]):
                yield finding
        yield from _match(_PHONE, text, Sensitive.PHONE)
        if self._names is not None:
            yield from _match(self._names, text, Sensitive.PERSON)


def _match(pattern: re.Pattern[str], text: str, kind: Sensitive) -> Iterator[Finding]:
    for match in pattern.finditer(text):
        yield Finding(start=match.start(), end=match.end(), kind=kind)


def _build_name_pattern(names: Sequence[str]) -> re.Pattern[str] | None:
    """Chinese names stand anywhere in a run of text; others only as whole words, in any case."""
    chinese = [re.escape(name) for name in names if _HAN.search(name)]
    others = [r"\s+".join(map(re.escape, name.split())) for name in names if not _HAN.search(name)]
    parts = chinese + ([rf"(?<![\w.])(?:{'|'.join(others)})(?!\w)"] if others else [])
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None
