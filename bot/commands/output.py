"""Where commands write: results to standard output, everything else to standard error."""

import json
import re
import sys
from collections.abc import Mapping
from urllib.parse import unquote

from rich.console import Console

EXIT_FAILED = 1
"""The exit code of a command whose work failed, for it was called rightly."""

_results = Console(soft_wrap=True, highlight=False, emoji=False)
_notices = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
# What a page's author could steer a terminal with: control characters, and marks that turn the
# direction of text around.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def print_result(text: str) -> None:
    """Write a result for a person, as it is but for what would steer the terminal."""
    _results.print(_make_harmless(text), markup=False)


def print_json(value: Mapping[str, object]) -> None:
    """Write one JSON object on one line; the stable interface of `--json`."""
    text = json.dumps(value, ensure_ascii=False)
    # Halves of characters can't be written; JSON has no other way to hold them than escaped.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")
    sys.stdout.flush()


def print_notice(text: str) -> None:
    """Write something that is not the result: progress, hints."""
    _notices.print(_make_harmless(text), markup=False)


def print_error(text: str) -> None:
    """Write why the command could not do its work."""
    _notices.print(f"zhixing: {_make_harmless(text)}", markup=False, style="red")


def show_address(url: str) -> str:
    """Return an address as people read it: the path of a file without its percent signs."""
    return url if "://" in url else unquote(url)


def _make_harmless(text: str) -> str:
    return _STEERING.sub("\ufffd", text).encode("utf-8", "replace").decode("utf-8")
