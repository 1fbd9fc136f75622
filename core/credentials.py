"""Find credentials in a text: passwords, tokens, private keys. Pure.

Forms that vendors have fixed come from `detect-secrets`; what stands beside a name ("password:",
"密码是", a column of a table) and keys cut in pieces are ours. Randomness alone is no credential:
hashes of commits, ids and examples in base64 are random too.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

# Left out: what is beside a name or random, and Artifactory, whose form many order numbers have.
_TOKEN_DETECTORS: Sequence[RegexBasedDetector] = (
    AWSKeyDetector(),
    AzureStorageKeyDetector(),
    CloudantDetector(),
    DiscordBotTokenDetector(),
    GitHubTokenDetector(),
    GitLabTokenDetector(),
    IbmCloudIamDetector(),
    IbmCosHmacDetector(),
    MailchimpDetector(),
    NpmDetector(),
    OpenAIDetector(),
    PypiTokenDetector(),
    SendGridDetector(),
    SlackDetector(),
    SoftlayerDetector(),
    SquareOAuthDetector(),
    StripeDetector(),
    TelegramBotTokenDetector(),
    TwilioKeyDetector(),
)
_JWT = JwtTokenDetector()
_ENTROPY = Base64HighEntropyString()

# Vendors, and wider forms of tokens, that the library does not know.
_TOKEN = re.compile(
    r"\bxox[a-z]-[\w-]{8,}|\bxapp-[\w-]{8,}|\bsk-[A-Za-z0-9_-]{16,}|\bgh[oprsu]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bLTAI[0-9A-Za-z]{12,}|\bAKID[0-9A-Za-z]{16,}"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bsecret_[A-Za-z0-9]{30,}|\bntn_[A-Za-z0-9]{20,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bhf_[A-Za-z0-9]{30,}|\bnpm_[A-Za-z0-9]{30,}"
    r"|(?<=webhook/send\?key=)[\w-]{16,}|(?<=open-apis/bot/v2/hook/)[\w-]{16,}"
)
_PRIVATE_KEY = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}[\s\S]*?"
    r"(?:-{4,5} ?END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}|\Z)"
    # A passage that begins inside a key.
    r"|(?:^[ \t>|]*[A-Za-z0-9+/=]{16,}[ \t|]*\n)+"
    r"[ \t>|]*-{4,5} ?END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|\bb3BlbnNzaC1rZXk[A-Za-z0-9+/=\s>|]*"
    r"|^Private-Lines: \d+\n(?:[A-Za-z0-9+/=]+\n?)+",
    re.MULTILINE,
)
# The library's own form of these stops at many signs that passwords have.
_URL_PASSWORD = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?P<value>[^\s/@]+)(?=@)")
_BEARER = re.compile(r"\b(?:Bearer|Basic)\s+(?P<value>[A-Za-z0-9._~+/-]{16,}=*)")
_HAN_NAMES = r"密码|口令|密钥|秘钥|令牌|访问码|提取码|验证码|PIN ?码"
_NAME = (
    r"(?:(?:[\w-]*(?:password|passwd|passphrase|passcode|pwd|secret|token|api[ _-]?key"
    rf"|access[ _-]?key|private[ _-]?key|credential)s?)|{_HAN_NAMES})"
)
_VALUE = r"(?P<value>[^\s\"'`*，。；,;|（）()<>【】]{4,})"
_ASSIGNED = re.compile(
    rf"{_NAME}[\"'`*]*(?:\s+(?:of|for|to|on)\s+[^.\n:;,，。]{{1,40}}?|[（(][^）)\n]{{1,16}}[）)])?\s*"
    r"(?:(?:现在|目前|已|都|均|统一|默认|初始|一律)*(?:是|为|：|:=|:|=>|=|叫|(?:改|设|重置|更换|换)"
    r"(?:成|为)了?|用)|"
    r"\b(?:(?:is|was|has been)(?: now)?(?: (?:re)?set to| changed to)?|to)\b)[：: ]*"
    rf"[\"'`*]*\s*[\"'`*]*{_VALUE}",
    re.IGNORECASE,
)
# Nothing but a blank between them: only what is plainly no word counts.
_BESIDE = re.compile(rf"{_NAME}[ \t]+[\"'`*]*{_VALUE}", re.IGNORECASE)
_LOGIN_PAIR = re.compile(
    r"(?:账号密码|帐号密码|账密|账户密码|用户名(?:和|/|、)?密码|账号[/、和及]密码|用户名|账号|帐号|登录名"
    r"|\b(?:credentials?|log ?in|user(?:name)?(?:\s*(?:/|and)\s*pass(?:word)?)?|account))"
    r"\s*(?:是|为|：|:|=|\bis\b|\bare\b)?\s*[\"'`*]*"
    r"(?P<login>[A-Za-z][\w.@-]{1,30})[\"'`*]*\s*[/／|，,、]\s*[\"'`*]*" + _VALUE,
    re.IGNORECASE,
)
_COLUMN = re.compile(rf"(?:^|\b){_NAME}\b|(?:{_HAN_NAMES})", re.IGNORECASE)
_RULE_LINE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+(?:[ \t]*:?-{2,}:?[ \t]*)?")
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
# Dates, sizes, versions and addresses have signs and digits of their own.
_MEASURE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|v?\d+(?:\.\d+)+\S*|\d+(?:[-–~]\d+)?\s?(?:bits?|chars?|days?"
    r"|hours?|minutes?|min|[smhd]|[kmg]i?b|%)|sha-?\d+|aes-?\d+|rsa-?\d+|ed25519|oauth2?|[\d.]+/\d+"
    r"|https?|tls\S*|utf-?8|base64|hs256|rs256|mfa|2fa|k8s",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_SIGN = re.compile(r"[^A-Za-z0-9\u3400-\u9fff]")
_MIN_DIGITS = 6
_MIN_BARE_CHARS = 6
_MIN_ENTROPY_BITS = 3.2
_MIN_RANDOM_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A credential in a text, or the name it is used with.

    Attributes:
        kind: `private key`, `token`, `credential` or `login`.
    """

    start: int
    end: int
    kind: str


def find_credentials(text: str) -> list[Credential]:
    """Return the credentials of a text in order, none overlapping.

    A value beside a name counts when it looks like one: it holds a digit or a sign, or looks
    random. `<your password>`, `${TOKEN}` and words do not. The login of a pair goes with it.
    """
    found = sorted(_find_all(text), key=lambda one: (one.start, -one.end))
    kept: list[Credential] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
        elif one.end > kept[-1].end:
            kept[-1] = Credential(start=kept[-1].start, end=one.end, kind=kept[-1].kind)
    return kept


def mask_credentials(text: str, mask: str) -> str:
    """Replace every credential of a text by the mask."""
    return replace_spans(text, ((one.start, one.end, mask) for one in find_credentials(text)))


def replace_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Replace parts of a text: start, end and what stands there instead, in order."""
    pieces: list[str] = []
    done = 0
    for start, end, instead in spans:
        pieces += (text[done:start], instead)
        done = end
    return "".join((*pieces, text[done:]))


def _find_all(text: str) -> Iterator[Credential]:
    for match in _PRIVATE_KEY.finditer(text):
        yield Credential(start=match.start(), end=match.end(), kind="private key")
    for detector in _TOKEN_DETECTORS:
        for pattern in detector.denylist:
            yield from (_build(match, "token") for match in pattern.finditer(text))
    for pattern in _JWT.denylist:
        for match in pattern.finditer(text):
            if _JWT.is_formally_valid(match.group()):
                yield _build(match, "token")
    yield from (_build(match, "token") for match in _TOKEN.finditer(text))
    yield from _find_named(text)
    yield from _find_in_tables(text)


def _find_named(text: str) -> Iterator[Credential]:
    for pattern, looks in (
        (_URL_PASSWORD, _looks_secret),
        (_BEARER, _looks_secret),
        (_ASSIGNED, _looks_secret),
        (_BESIDE, _is_plainly_no_word),
    ):
        for match in pattern.finditer(text):
            if looks(match["value"]):
                yield _build(match, "credential", "value")
    for match in _LOGIN_PAIR.finditer(text):
        if _is_plainly_no_word(match["value"]):
            yield _build(match, "login", "login")
            yield _build(match, "credential", "value")


def _find_in_tables(text: str) -> Iterator[Credential]:
    """Look into columns that are named like a credential, and the cell beside such a name."""
    columns: set[int] = set()
    rows = [*_cut_rows(text), []]
    for row, following in pairwise(rows):
        is_header = bool(following) and all(set(c.text) <= set("-: ") for c in following)
        if is_header or not row:
            columns = {n for n, cell in enumerate(row) if _COLUMN.search(cell.text)}
        named = {n + 1 for n, cell in enumerate(row) if _is_name(cell.text)}
        for n in sorted(named if is_header else columns | named):
            if n < len(row) and _looks_secret(row[n].text):
                yield Credential(start=row[n].start, end=row[n].end, kind="credential")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    start: int
    end: int
    text: str


def _cut_rows(text: str) -> Iterator[list[_Cell]]:
    """Yield the cells of each line, without what marks them as code; no cells: not of a table."""
    place = 0
    for line in text.splitlines(keepends=True):
        cells = []
        if line.lstrip().startswith("|"):
            start = place
            for piece in line.split("|"):
                bare = piece.strip().strip("`*")
                at = start + (piece.find(bare) if bare else 0)
                cells.append(_Cell(start=at, end=at + len(bare), text=bare))
                start += len(piece) + 1
        yield cells
        place += len(line)


def _is_name(cell: str) -> bool:
    return bool(re.fullmatch(rf"(?:\S{{0,8}}\s?)?{_NAME}", cell, re.IGNORECASE))


def _build(match: re.Match[str], kind: str, group: str | int = 0) -> Credential:
    value = match[group]
    end = match.end(group) - (len(value) - len(value.rstrip(".!?。！？:：")) if group else 0)
    return Credential(start=match.start(group), end=end, kind=kind)


def _looks_secret(value: str) -> bool:
    value = unicodedata.normalize("NFKC", value).rstrip(".!?。！？:：")
    if _STAND_IN.search(value) or _HAN.search(value) or _REFERENCE.search(value):
        return False
    if value.isdigit():
        # A short run of digits is as likely a length or a number of days.
        return len(value) >= _MIN_DIGITS
    if _IDENTIFIER.fullmatch(value) or _MEASURE.fullmatch(value):
        return False
    has_other = _DIGIT.search(value) or _SIGN.search(value)
    return bool(has_other) or _looks_random(value)


def _is_plainly_no_word(value: str) -> bool:
    """Tell what has letters and digits or signs of a password, and is long enough."""
    folded = unicodedata.normalize("NFKC", value).rstrip(".!?。！？:：")
    has_both = _LETTER.search(folded) and (_DIGIT.search(folded) or re.search(r"[@#$!&^]", folded))
    return len(folded) >= _MIN_BARE_CHARS and bool(has_both) and _looks_secret(folded)


def _looks_random(letters: str) -> bool:
    """Tell a random string of letters from a word: both cases are mixed in it."""
    is_mixed = letters[1:].lower() != letters[1:] and letters.upper() != letters
    is_long = len(letters) >= _MIN_RANDOM_CHARS
    entropy = _ENTROPY.calculate_shannon_entropy(letters)
    return is_mixed and is_long and entropy >= _MIN_ENTROPY_BITS
