"""Structured logging through structlog, with secrets taken out before a line is written."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

from core.credentials import mask_credentials

SECRET_KEYS = re.compile(r"(?i)(token|secret|password|passwd|api_?key|authorization|cookie)")
# Beyond what is a credential anywhere: in a log even a short one, and whose it is.
SECRET_VALUES = re.compile(
    r"(?i)(secret_\w{16,}|ntn_\w{16,}|bearer\s+[\w.~+/-]{8,}=*|(?<=://)[^/\s:@]+:[^/\s@]+(?=@))"
)
MASK = "***"


def mask_secrets(text: str) -> str:
    """Replace everything in the text that looks like a credential."""
    return mask_credentials(SECRET_VALUES.sub(MASK, text), MASK)


def _mask_value(value: object) -> object:
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, dict):
        return {key: _mask_entry(str(key), entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_mask_value(entry) for entry in value]
    return value


def _mask_entry(key: str, value: object) -> object:
    is_secret = SECRET_KEYS.search(key) and not isinstance(value, int | float | bool | None)
    return MASK if is_secret else _mask_value(value)


def mask_event(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Mask secrets in every field of a log event, the rendered traceback included."""
    return {key: _mask_entry(key, value) for key, value in event.items()}


def configure_logging(*, level: str = "INFO", is_json: bool = False) -> None:
    """Send our log to standard error: readable lines, or one JSON object a line."""
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if is_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            mask_event,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        # Looked up at every line: a test or a daemon may have replaced it meanwhile.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
