"""Find commands in a text that destroy data, systems or a shared history. Pure.

Only what is wide counts: `rm -rf /`, not the removal of one deep folder that a procedure names.
"""

import re
from collections.abc import Iterator

_WORD = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|`\"'。，；）)])+"
# To the end of the command: a quoted statement closes at its quote.
_REST = r"[^\n`;|&。；]*"
_DANGEROUS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Disks and file systems.
        rf"\bmkfs(?:\.\w+)?\s+{_REST}",
        rf"\bdd\s+(?:\S+\s+)*?of=/dev/(?!null\b)\S+{_REST}",
        rf"\b(?:wipefs|shred|blkdiscard)\s+{_REST}/dev/\S+",
        r">\s*/dev/(?:sd[a-z]|nvme\d|vd[a-z]|hd[a-z]|disk\d)\w*",
        r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:",
        r"\bformat\s+[a-z]:(?=\s*(?:/|[`\"'\n]|$))(?:\s*/\S+)*",
        r"\bdiskpart\b[^\n]*\bclean\b|\bclean all\b(?=[^\n]*diskpart)",
        rf"\b(?:del|erase)\s+(?:/[a-z]\s+)*/s\b{_REST}",
        rf"\b(?:rd|rmdir)\s+(?:/[a-z]\s+)*/s\b{_REST}",
        r"\bRemove-Item\b(?=[^\n]*-Recurse)(?=[^\n]*-Force)[^\n`]*",
        rf"\bchmod\s+-R\s+0?777\s+/{_REST}",
        rf"\bchown\s+-R\s+\S+\s+/(?:\s|$){_REST}",
        # Databases.
        rf"\bDROP\s+(?:DATABASE|SCHEMA|TABLE|TABLESPACE|USER)\s+(?:IF\s+EXISTS\s+)?[\w`\"'.\[<]{_REST};?",
        rf"\bTRUNCATE\s+TABLE\s+[\w`\"'.\[<]{_REST};?",
        r"\bDELETE\s+FROM\s+[\w`\"'.\[\]]+\s*(?:;|(?=[`\"'\n])|$)",
        r"\bFLUSH(?:ALL|DB)\b(?!\w)",
        r"\bdb\.dropDatabase\(\)|\bdropdb\s+(?:-\S+\s+)*\w+",
        # Clusters and clouds.
        rf"\bkubectl\s+(?:\S+\s+)*?delete\s+(?:ns|namespaces?|pvc?|persistentvolumes?\w*|nodes?|crds?)\b{_REST}",
        rf"\bkubectl\s+(?:\S+\s+)*?delete\s+{_REST}--all\b{_REST}",
        rf"\bterraform\s+(?:\S+\s+)*?destroy\b{_REST}|\bpulumi\s+destroy\b{_REST}",
        rf"\baws\s+s3\s+(?:rb\s+{_REST}--force|rm\s+{_REST}--recursive){_REST}",
        rf"\bdocker\s+(?:system|volume)\s+prune\b{_REST}",
        rf"\bgcloud\s+projects\s+delete\b{_REST}|\baz\s+group\s+delete\b{_REST}",
        # Shared history.
        r"\bgit\s+push\b(?=[^\n`;]*(?:\s--force(?!-with-lease)\b|\s-f\b|\s\+))"
        rf"(?=[^\n`;]*\b(?:main|master|trunk|release|production|prod)\b){_REST}",
        r"\bgit\s+push\b(?=[^\n`;]*\s--(?:mirror|delete)\b)"
        rf"(?=[^\n`;]*(?:--mirror|\b(?:main|master|trunk|release|production|prod)\b)){_REST}",
    )
)
_REMOVAL = re.compile(
    r"\brm\s+(?P<options>(?:-{1,2}[\w=-]+\s+)+)(?P<paths>(?:" + _WORD + r"[ \t]*)+)"
)
_ROOTS = frozenset(
    {"bin", "boot", "data", "dev", "etc", "home", "lib", "lib64", "mnt", "opt", "proc", "root"}
    | {"sbin", "srv", "sys", "usr", "var"}
)
_FIND = re.compile(
    rf"\bfind\s+(?P<path>/\S*|~\S*|\.)\s+(?:[^\n`;|]*\s)?(?:-delete|-exec\s+rm\b){_REST}"
)


def find_destructive(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of every destructive command, in no particular order."""
    for pattern in _DANGEROUS:
        for match in pattern.finditer(text):
            yield match.start(), match.start() + len(match.group().rstrip())
    for match in _REMOVAL.finditer(text):
        options = match["options"]
        is_recursive = re.search(r"(?:^|\s)-\w*[rR]|--recursive", options) is not None
        is_certain = re.search(r"(?:^|\s)-\w*f|--force|--no-preserve-root", options) is not None
        if is_recursive and is_certain and any(map(_is_wide, match["paths"].split())):
            yield match.start(), match.start() + len(match.group().rstrip())
    for match in _FIND.finditer(text):
        if _is_wide(match["path"]):
            yield match.start(), match.start() + len(match.group().rstrip())


def _is_wide(path: str) -> bool:
    """Tell whether a path is the root, a home, the current folder, or one step below the root."""
    bare = re.sub("[\"']", "", path).rstrip(",;:")
    if bare in {"/", "/*", "~", "~/", "~/*", "*", ".", "./", "./*", "..", "../", "../*"}:
        return True
    if re.fullmatch(r"\$\{?\w+\}?/?\*?", bare) or re.fullmatch(r"[A-Za-z]:[\\/]?\*?", bare):
        # An empty variable makes it the root.
        return True
    if not bare.startswith("/"):
        return False
    steps = [one for one in bare.split("/") if one and one != "*"]
    return len(steps) <= 1 and (not steps or steps[0].casefold() in _ROOTS)
