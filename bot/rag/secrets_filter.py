"""Take credentials out of answers; what only shows where a credential goes stays."""

import math
import re
from collections import Counter
from dataclasses import dataclass

_PLAIN_FORMS: dict[str, str] = {
    "private key": (
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?"
        r"(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)"
    ),
    "token": (
        r"\bxox[abeprs]-[\w-]{8,}|\bxapp-[\w-]{8,}|\bsk-[A-Za-z0-9_-]{16,}|\bgh[oprsu]_[A-Za-z0-9]{20,}"
        r"|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bASIA[0-9A-Z]{16}\b"
        r"|\bLTAI[0-9A-Za-z]{12,}|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bsecret_[A-Za-z0-9]{30,}"
        r"|\bntn_[A-Za-z0-9]{20,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
    ),
}
_URL_CREDENTIALS = re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]*://[^\s/:@]+:)(?P<value>[^\s/@]+)(?=@)")
_BEARER = re.compile(r"(?P<head>\b(?:Bearer|Basic)\s+)(?P<value>[A-Za-z0-9._~+/-]{16,}=*)")
_NAME = (
    r"(?:(?:[\w-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|credential)s?)|初始密码|密码|口令|密钥|令牌|访问码)"
)
_ASSIGNED = re.compile(
    rf"(?P<head>{_NAME}[\"'`*]*\s*(?:是|为|：|:=|:|=|\bis\b)\s*[\"'`*]*)"
    r"(?P<value>[^\s\"'`*，。；,;|（）()<>【】]{4,})",
    re.IGNORECASE,
)
# What stands where a credential goes, in documentation.
_STAND_IN = re.compile(
    r"^[<\[{$%]|[>\]}]$|^\*+$|^[xX.•·…-]+$|your|example|sample|changeme|placeholder|redacted|dummy"
    r"|^(?:none|null|true|false|env|vault|required|optional|string|here|stored|kept|valid|sent|not"
    r"|only|rotated|shared|needed|expired|missing|wrong|invalid|the|a|an|in|at|by|set|reset|used)\b"
    r"|你的|您的|示例|占位",
    re.IGNORECASE,
)
_HAN = re.compile(r"[\u3400-\u9fff]")
# Names of variables, files and pages: where a credential is kept, not what it is.
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)+|[A-Z]+(?:_[A-Z\d]+)+")
_REFERENCE = re.compile(r"://|^[/~.]|\$\{?\w|\bprocess\.env|\(|\)")
_DIGIT = re.compile(r"\d")
_SIGN = re.compile(r"[^A-Za-z0-9\u3400-\u9fff]")
_MIN_DIGITS = 6
_MIN_ENTROPY_BITS = 3.2
_MIN_RANDOM_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class FilteredText:
    """A text without credentials, and the kinds of what was taken out, in order."""

    text: str
    removed: tuple[str, ...]


def remove_secrets(text: str, *, mask: str) -> FilteredText:
    """Replace every credential by the mask.

    A value after `password:`, `密码是` and the like counts when it looks like one: it holds a
    digit or a sign, or looks random. `<your password>`, `${TOKEN}` and words stay.
    """
    removed: list[str] = []
    for kind, pattern in _PLAIN.items():
        text, count = pattern.subn(mask, text)
        removed += [kind] * count

    def mask_value(match: re.Match[str]) -> str:
        value = match["value"]
        if value == mask or mask.startswith(value) or not _looks_secret(value):
            return match.group()
        removed.append("credential")
        return match["head"] + mask

    for pattern in (_URL_CREDENTIALS, _BEARER, _ASSIGNED):
        text = pattern.sub(mask_value, text)
    return FilteredText(text=text, removed=tuple(removed))


def find_secrets(text: str) -> list[str]:
    """Return every credential of a text as it stands there, without repetition."""
    found = [match.group() for pattern in _PLAIN.values() for match in pattern.finditer(text)]
    for pattern in (_URL_CREDENTIALS, _BEARER, _ASSIGNED):
        found += [m["value"] for m in pattern.finditer(text) if _looks_secret(m["value"])]
    return list(dict.fromkeys(found))


def _looks_secret(value: str) -> bool:
    value = value.rstrip(".!?。！？:：")
    if _STAND_IN.search(value) or _HAN.search(value) or _REFERENCE.search(value):
        return False
    if value.isdigit():
        # A short run of digits is as likely a length or a number of days.
        return len(value) >= _MIN_DIGITS
    if _IDENTIFIER.fullmatch(value):
        return False
    has_other = _DIGIT.search(value) or _SIGN.search(value)
    return bool(has_other) or _looks_random(value)


def _looks_random(letters: str) -> bool:
    """Tell a random string of letters from a word: both cases are mixed in it."""
    is_mixed = letters[1:].lower() != letters[1:] and letters.upper() != letters
    is_long = len(letters) >= _MIN_RANDOM_CHARS
    return is_mixed and is_long and _measure_entropy(letters) >= _MIN_ENTROPY_BITS


def _measure_entropy(value: str) -> float:
    """Return the entropy of the characters in bits; random strings of 12 have about 3.4."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


_PLAIN = {kind: re.compile(pattern) for kind, pattern in _PLAIN_FORMS.items()}
