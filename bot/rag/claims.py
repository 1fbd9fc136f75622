"""What a statement claims that can be checked word for word: values, codes, commands, names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot.rag.language import is_chinese
from bot.rag.numerals import fold_width
from bot.rag.values import Value, extract_values, is_supported
from knowledge.analysis import Analyser, fold

_FENCED = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(?P<body>[\s\S]*?)(?:^ {0,3}\1|\Z)", re.MULTILINE
)
_INLINE = re.compile(r"``(?P<long>[^\n]+?)``|`(?P<short>[^`\n]+)`")
_LIST_NUMBER = re.compile(r"^\s*(?:\d{1,3}[.)、]|[（(]\d{1,2}[)）])\s*", re.MULTILINE)
# Capitalised words inside a sentence, several of them also at its start.
_PROPER_NAME = re.compile(
    r"(?<=[a-z0-9,;:)] )[A-Z][A-Za-z0-9]{2,}(?:[ -][A-Z][A-Za-z0-9]+)*"
    r"|(?<![A-Za-z])[A-Z][a-z]+(?: [A-Z][a-z]+)+"
)
_LATIN_IN_CHINESE = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
_BLANKS = re.compile(r"\s+")
_MARKUP = re.compile(r"[*_`\\]")
# Underscores are part of codes.
_EMPHASIS = re.compile(r"[*`\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The checkable parts of a statement."""

    values: tuple[Value, ...]
    codes: tuple[str, ...]
    commands: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def are_any(self) -> bool:
        """Whether there is anything to check."""
        return bool(self.values or self.codes or self.commands or self.names)


class KnownNames:
    """Names of people, each with the other spellings of the same person."""

    def __init__(self, people: Iterable[Sequence[str]] = ()) -> None:
        """Take the names of each person, such as ("苏木", "Su Mu")."""
        self._others: Mapping[str, tuple[str, ...]] = {
            fold(name): tuple(fold(other) for other in names)
            for names in people
            for name in names
            if len(name.strip()) > 1
        }
        longest_first = sorted(self._others, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(pattern) if longest_first else None

    def find(self, folded: str) -> list[str]:
        """Return the known names in folded text."""
        return self._pattern.findall(folded) if self._pattern else []

    def spellings(self, name: str) -> tuple[str, ...]:
        """Return every spelling of the person's name, the one given included."""
        return self._others.get(name, (name,))


class ClaimReader:
    """Reads claims out of statements."""

    def __init__(self, analyser: Analyser, names: KnownNames) -> None:
        self._analyser = analyser
        self._names = names

    def read(self, statement: str) -> Claims:
        """Return what a statement claims; list numbers and citation markers are no claims."""
        # Line by line: a block may be quoted in part.
        commands = [
            _squeeze(line) for m in _FENCED.finditer(statement) for line in m["body"].split("\n")
        ]
        prose = _FENCED.sub(" ", statement)
        commands += [_squeeze(m["long"] or m["short"]) for m in _INLINE.finditer(prose)]
        prose = _LIST_NUMBER.sub("", _INLINE.sub(" ", prose))
        values = extract_values(prose)
        return Claims(
            values=tuple(values),
            codes=tuple(self._analyser.codes(prose)),
            commands=tuple(command for command in commands if command),
            names=tuple(self._find_names(_blank_values(prose, values))),
        )

    def _find_names(self, prose: str) -> list[str]:
        bare = _MARKUP.sub("", prose)
        pattern = _LATIN_IN_CHINESE if is_chinese(bare) else _PROPER_NAME
        found = [fold(name) for name in pattern.findall(bare)]
        return list(dict.fromkeys([*found, *self._names.find(fold(bare))]))


class SourceText:
    """A text that statements are checked against."""

    def __init__(self, text: str, analyser: Analyser, names: KnownNames) -> None:
        self.text = text
        self._analyser = analyser
        self._names = names

    @cached_property
    def values(self) -> list[Value]:
        """The values of the text."""
        return extract_values(self.text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The index terms of the text."""
        return frozenset(self._analyser.index_terms(self.text))

    @cached_property
    def is_chinese(self) -> bool:
        """Whether the text is mostly Chinese."""
        return is_chinese(self.text)

    @cached_property
    def _folded(self) -> str:
        return fold(_MARKUP.sub("", self.text))

    @cached_property
    def _joined(self) -> str:
        return _BLANKS.sub("", fold(_EMPHASIS.sub("", self.text)))

    @cached_property
    def _code(self) -> str:
        return _squeeze(self.text)

    def find_missing(self, claims: Claims, *, is_same_language: bool) -> list[str]:
        """Return the claims that do not stand in this text.

        Names other than those of known people are translated with the text around them: they are
        checked where statement and source are in one language.
        """
        missing = [v.text for v in claims.values if not is_supported(v, self.values)]
        missing += [code for code in claims.codes if not self._holds(code)]
        missing += [command for command in claims.commands if not self._holds_command(command)]
        for name in claims.names:
            is_known = name in self._names.find(name)
            if (is_known or is_same_language) and not self._holds_name(name):
                missing.append(name)
        return missing

    def _holds(self, code: str) -> bool:
        return _BLANKS.sub("", code) in self._joined

    def _holds_command(self, command: str) -> bool:
        return command in self._code or fold(_MARKUP.sub("", command)) in self._folded

    def _holds_name(self, name: str) -> bool:
        if any(spelling in self._folded for spelling in self._names.spellings(name)):
            return True
        return all(part in self._folded for part in name.split())


def _blank_values(text: str, values: Sequence[Value]) -> str:
    """Take values out, so that months and currencies are not read as names."""
    for value in reversed(values):
        text = f"{text[: value.start]} {text[value.end :]}"
    return text


def _squeeze(text: str) -> str:
    """Fold width and collapse blanks; case counts in commands."""
    return _BLANKS.sub(" ", fold_width(text)).strip()
