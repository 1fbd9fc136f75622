"""The labelled messages that routes are told by."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files

from bot.routing import Route

_FIELDS = 4


class Part(StrEnum):
    """What a labelled message is for.

    EXAMPLES are compared with questions; CALIBRATION chooses confidence and thresholds; TEST is
    only reported.
    """

    EXAMPLES = "examples"
    CALIBRATION = "calibration"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A message and the way it should take; `lang` is `zh` or `en`."""

    route: Route
    lang: str
    part: Part
    text: str


@lru_cache(maxsize=1)
def load_examples() -> tuple[Example, ...]:
    """Return the messages of the file beside this module, in its order."""
    text = files("bot.routing").joinpath("examples.tsv").read_text(encoding="utf-8")
    return tuple(_parse(text))


def _parse(text: str) -> Iterator[Example]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != _FIELDS:
            raise ValueError(f"examples.tsv:{number}: not route, language, part, text")
        route, lang, part, message = fields
        yield Example(route=Route(route), lang=lang, part=Part(part), text=message)
