"""Which known document a listed file is: a rename keeps its document. Pure but for the hasher."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from connectors.files.file_token import parse_token
from connectors.files.walk import FoundFile
from knowledge.documents import DocumentId
from knowledge.source import KnownDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class Identities:
    """Document ids by path, for every listed file.

    Attributes:
        known: What the ledger holds of the file at a path, wherever it was before.
        hashes: Content hashes worked out on the way, by path.
    """

    ids: dict[str, DocumentId]
    known: dict[str, KnownDocument]
    hashes: dict[str, str] = field(default_factory=dict)


def identify(
    source: str,
    files: Mapping[str, FoundFile],
    known: Iterable[KnownDocument],
    *,
    find_hash: Callable[[FoundFile], str],
    find_access_id: Callable[[FoundFile], str],
) -> Identities:
    """Give every file its document id.

    A path the ledger knows keeps its document. Else a document whose path is gone has moved here
    when the bytes are the same, or when the file's name is the same, occurs once before and
    after, and the readers are the same: an edit on the way must not open older versions to people
    who could not read them. Everything else is new, by its path.

    Args:
        source: First part of the ids.
        files: The listing.
        known: What the ledger holds of the scope.
        find_hash: Content hash of a file; empty when it can't be read. Called only for new files
            as large as a missing one.
        find_access_id: Id of the file's rule today.
    """
    known = list(known)
    by_path = {one.locator: one for one in known}
    pairs = {path: by_path[path] for path in files if path in by_path}
    missing = {one.locator: one for one in known if one.locator not in files}
    new = [found for path, found in files.items() if path not in pairs]
    hashes: dict[str, str] = {}
    if missing and new:
        _match_bytes(new, missing, pairs, hashes, find_hash)
        _match_names(new, missing, pairs, files, find_access_id)
    taken = {one.document_id for one in known}
    ids = {path: one.document_id for path, one in pairs.items()}
    for found in new:
        if found.path not in ids:
            ids[found.path] = _build_id(source, found.path, taken)
    return Identities(ids=ids, known=pairs, hashes=hashes)


def _match_bytes(
    new: list[FoundFile],
    missing: dict[str, KnownDocument],
    pairs: dict[str, KnownDocument],
    hashes: dict[str, str],
    find_hash: Callable[[FoundFile], str],
) -> None:
    """Pair new files with missing documents of the same bytes, the same name preferred."""
    sizes = {token.size for one in missing.values() if (token := parse_token(one.token))}
    by_hash: defaultdict[str, list[str]] = defaultdict(list)
    for locator in sorted(missing):
        by_hash[missing[locator].content_hash].append(locator)
    for found in new:
        if found.size in sizes and found.size:
            hashes[found.path] = find_hash(found)
    for needs_name in (True, False):
        for found in new:
            candidates = by_hash.get(hashes.get(found.path, ""), [])
            if found.path in pairs or not hashes.get(found.path):
                continue
            for locator in candidates:
                if not needs_name or _name(locator) == found.name:
                    pairs[found.path] = missing.pop(locator)
                    candidates.remove(locator)
                    break


def _match_names(
    new: list[FoundFile],
    missing: dict[str, KnownDocument],
    pairs: dict[str, KnownDocument],
    files: Mapping[str, FoundFile],
    find_access_id: Callable[[FoundFile], str],
) -> None:
    """Pair edited files that went to another folder, where the name leaves no doubt."""
    before = Counter(_name(locator) for locator in missing)
    after = Counter(found.name for found in files.values())
    by_name = {_name(locator): locator for locator in missing}
    for found in new:
        locator = by_name.get(found.name)
        if found.path in pairs or locator is None:
            continue
        is_plain = before[found.name] == 1 and after[found.name] == 1
        if is_plain and missing[locator].access_id == find_access_id(found):
            pairs[found.path] = missing.pop(locator)


def _name(locator: str) -> str:
    return locator.rpartition("/")[2]


def _build_id(source: str, path: str, taken: set[DocumentId]) -> DocumentId:
    """Build a new id; a path whose id lives on elsewhere gets `~2`, `~3` ..."""
    document_id = DocumentId(f"{source}:{path}")
    number = 2
    while document_id in taken:
        document_id = DocumentId(f"{source}:{path}~{number}")
        number += 1
    taken.add(document_id)
    return document_id
