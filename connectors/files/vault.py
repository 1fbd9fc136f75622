"""Names in wikilinks and embeds to files, and headings to their sections. Pure."""

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from urllib.parse import unquote

from connectors.files.markdown import HEADING, split_code

EMBED = re.compile(r"!\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_PAGE_ENDINGS = (".md", ".markdown", ".mdx")


class VaultIndex:
    """Finds the file a link means: by its path, from the page's folder, or by its name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            key = _fold(path)
            self._by_path.setdefault(key, path)
            self._by_name[key.rpartition("/")[2]].append(path)

    def find(self, target: str, folder: str) -> str | None:
        """Return the path a target names, seen from a page in `folder`; None when there is none.

        A relative path wins, then a path from the root, then a name: in the same folder, else the
        one with the shortest path, else the first by the alphabet. Case is ignored, and `.md` may
        be left out.
        """
        wanted = unquote(target).strip().removeprefix("/")
        if not wanted:
            return None
        relative = posixpath.normpath(posixpath.join(folder, wanted))
        for candidate in (relative, posixpath.normpath(wanted)):
            for ending in ("", *_PAGE_ENDINGS):
                path = self._by_path.get(_fold(candidate + ending))
                if path is not None:
                    return path
        return self._find_by_name(wanted, folder)

    def _find_by_name(self, wanted: str, folder: str) -> str | None:
        if wanted.startswith("."):
            return None
        key = _fold(wanted)
        name = key.rpartition("/")[2]
        found: list[str] = []
        for ending in ("", *_PAGE_ENDINGS):
            found += [
                path
                for path in self._by_name.get(name + ending, ())
                if _fold(path) == key + ending or _fold(path).endswith(f"/{key}{ending}")
            ]
        if not found:
            return None
        return min(
            found, key=lambda path: (path.rpartition("/")[0] != folder, path.count("/"), path)
        )


def is_page(path: str) -> bool:
    """Tell whether a file can be embedded as text."""
    return path.lower().endswith(_PAGE_ENDINGS)


def extract_section(markdown: str, heading: str) -> str | None:
    """Return the section under a heading, heading included; None when there is no such heading.

    `heading` may be a path (`Disk#Clean-up`); its last part counts. `^id` names the paragraph that
    ends with that mark.
    """
    if heading.startswith("^"):
        return _extract_block(markdown, heading)
    wanted = _fold_heading(heading.rpartition("#")[2])
    taken: list[str] = []
    level = 0
    for block, is_code in split_code(markdown):
        for line in [block] if is_code else block.split("\n"):
            match = None if is_code else HEADING.match(line)
            if match and level and len(match[1]) <= level:
                return "\n".join(taken).strip()
            if match and not level and _fold_heading(match[2]) == wanted:
                level = len(match[1])
            if level:
                taken.append(line)
    return "\n".join(taken).strip() if level else None


def _extract_block(markdown: str, mark: str) -> str | None:
    for paragraph in re.split(r"\n\s*\n", markdown):
        for line in paragraph.split("\n"):
            if line.rstrip().endswith(f" {mark}"):
                is_item = re.match(r"\s*(?:[-*+]|\d+[.)])\s", line)
                found = line if is_item else paragraph
                return found.replace(f" {mark}", "").strip()
    return None


def _fold(path: str) -> str:
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", path).casefold()


def _fold_heading(heading: str) -> str:
    """Compare headings as Obsidian does: words only."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFC", heading).casefold()))
