"""Where commands write: results to standard output, everything else to standard error."""

import json
import sys
from collections.abc import Mapping

from rich.console import Console

_results = Console(soft_wrap=True, highlight=False)
_notices = Console(stderr=True, soft_wrap=True, highlight=False)


def print_result(text: str) -> None:
    """Write a result for a person, exactly as it is."""
    _results.print(text, markup=False)


def print_json(value: Mapping[str, object]) -> None:
    """Write one JSON object on one line; the stable interface of `--json`."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def print_notice(text: str) -> None:
    """Write something that is not the result: progress, hints."""
    _notices.print(text, markup=False)


def print_error(text: str) -> None:
    """Write why the command could not do its work."""
    _notices.print(f"zhixing: {text}", markup=False, style="red")
