import re

import pytest

from core.errors import (
    AccessDeniedError,
    ModelReplyError,
    PermanentError,
    PromptTooLongError,
    RateLimitedError,
    RefusedError,
    ResourceGoneError,
    ServiceUnavailableError,
    SettingsError,
    TransientError,
    UnsupportedContentError,
    ZhixingError,
)

SECRET = "the folder 'salaries/board' answered 403"
KINDS = [
    ZhixingError,
    SettingsError,
    PermanentError,
    AccessDeniedError,
    ResourceGoneError,
    UnsupportedContentError,
    TransientError,
    ServiceUnavailableError,
    RefusedError,
    ModelReplyError,
    PromptTooLongError,
]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_chat_shows_never_holds_what_operators_read(kind: type[ZhixingError]) -> None:
    error = kind(SECRET)
    assert str(error) == SECRET
    assert "salaries" not in error.public_message


@pytest.mark.parametrize("kind", KINDS)
def test_public_messages_speak_both_languages(kind: type[ZhixingError]) -> None:
    assert re.search("[a-z]{3}", kind.public_message)
    assert re.search("[\u4e00-\u9fff]{3}", kind.public_message)


def test_a_rate_limit_says_how_long_to_wait_and_may_be_tried_again() -> None:
    error = RateLimitedError("wiki.example answered 429", retry_after_s=2.5)
    assert isinstance(error, TransientError)
    assert (str(error), error.retry_after_s) == ("wiki.example answered 429", 2.5)


@pytest.mark.parametrize("kind", [AccessDeniedError, ResourceGoneError, UnsupportedContentError])
def test_what_trying_again_cannot_mend_is_not_transient(kind: type[ZhixingError]) -> None:
    assert issubclass(kind, PermanentError)
    assert not issubclass(kind, TransientError)
