"""Every error of the OpenAI client as one of ours, with what the operator can do about it."""

import re
from collections.abc import Collection
from email.utils import parsedate_to_datetime

import openai

from core.clock import Clock
from core.errors import (
    ModelReplyError,
    PromptTooLongError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
    ZhixingError,
)
from core.logging import mask_secrets

# Servers name an overlong prompt differently; only some send the code.
_TOO_LONG = re.compile(
    r"(?i)context[_ ](length|size|window)|maximum (context|prompt|input)|too many (input )?tokens"
    r"|prompt is too long|exceeds? .{0,30}tokens"
)
# "does not support tools", "tools param requires --jinja flag", "extra inputs are not permitted",
# '"auto" tool choice requires --enable-auto-tool-choice', "support tool use".
_TOOLS = re.compile(r"(?i)\btools?\b|tool[_ ](?:use|call|choice)|function[_ ]call")
_TOOL_CHOICE = re.compile(r"(?i)tool[_ ]choice")
_REFUSES = re.compile(
    r"(?i)support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|requires?|invalid"
    r"|extra"
)
_NOT_ABOUT_OPTIONS = frozenset({401, 403, 408, 409, 413, 429})
_CONTENT_TOO_LARGE = 413
_SERVER_FAULTS = 500
_DEFAULT_RETRY_AFTER_S = 1.0


def translate_error(
    error: Exception, *, model: str, base_url: str, timeout_s: float, clock: Clock
) -> ZhixingError:
    """Return our error for a foreign one; the caller raises it from the original."""
    place = f"chat model {model!r} at {base_url!r}"
    match error:
        case openai.APITimeoutError():
            return ServiceUnavailableError(f"{place} did not answer within {timeout_s:g} s")
        case openai.APIConnectionError():
            cause = error.__cause__ or error
            return ServiceUnavailableError(f"{place} can't be reached: {_describe(cause)}")
        case openai.APIStatusError():
            return _translate_status(error, place, clock)
        case openai.APIError():
            # An error object inside a stream that began with status 200.
            return _translate_text(error, place, "broke off")
        case _:
            return ModelReplyError(f"{place} sent what is no reply: {_describe(error)}")


def find_refused_option(error: openai.APIStatusError, *, sent: Collection[str]) -> str | None:
    """Return the request option that this model does not take, when that is the complaint.

    OpenAI names it; servers that know no tools say so in words of their own, under any status.
    """
    body = error.body if isinstance(error.body, dict) else {}
    if str(body.get("code")) in {"unsupported_parameter", "unsupported_value"}:
        option = body.get("param")
        return option if isinstance(option, str) else None
    if "tools" not in sent or error.status_code in _NOT_ABOUT_OPTIONS:
        return None
    said = str(error)
    if not _REFUSES.search(said):
        return None
    if "tool_choice" in sent and _TOOL_CHOICE.search(said):
        return "tool_choice"
    return "tools" if _TOOLS.search(said) else None


def _translate_status(error: openai.APIStatusError, place: str, clock: Clock) -> ZhixingError:
    said = f"{place} answered {error.status_code}: {_describe(error)}"
    match error.status_code:
        case 401 | 403:
            return SettingsError(f"{said}; check models.api_key and what it may use")
        case 404:
            return SettingsError(
                f"{said}; check models.chat_model and that models.base_url ends in /v1"
            )
        case 429:
            return _translate_429(error, said, clock)
        case 408 | 409:
            return ServiceUnavailableError(said)
        case _:
            return _translate_text(error, place, f"answered {error.status_code}")


def _translate_429(error: openai.APIStatusError, said: str, clock: Clock) -> ZhixingError:
    if _get_code(error) == "insufficient_quota":
        return SettingsError(f"{said}; the account behind models.api_key has no credit left")
    return RateLimitedError(said, retry_after_s=_parse_retry_after(error, clock))


def _translate_text(error: openai.APIError, place: str, what: str) -> ZhixingError:
    said = f"{place} {what}: {_describe(error)}"
    if _is_too_long(error):
        return PromptTooLongError(said)
    is_our_request = isinstance(error, openai.APIStatusError) and error.status_code < _SERVER_FAULTS
    return ModelReplyError(said) if is_our_request else ServiceUnavailableError(said)


def _is_too_long(error: openai.APIError) -> bool:
    if isinstance(error, openai.APIStatusError) and error.status_code == _CONTENT_TOO_LARGE:
        return True
    return _get_code(error) == "context_length_exceeded" or bool(_TOO_LONG.search(str(error)))


def _get_code(error: openai.APIError) -> str:
    return str(error.code or "")


def _parse_retry_after(error: openai.APIStatusError, clock: Clock) -> float:
    """Read Retry-After, in seconds or as a date."""
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - clock.now()).total_seconds())
    except (TypeError, ValueError):
        return _DEFAULT_RETRY_AFTER_S


def _describe(error: BaseException) -> str:
    text = " ".join(mask_secrets(str(error)).split())
    return text[:300] or type(error).__name__
