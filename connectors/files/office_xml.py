"""Parses the XML of Office files: names without their prefixes, no entities, no network."""

import posixpath
import zipfile

from lxml import etree

from core.errors import UnsupportedContentError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_CORE = {
    "title": "{http://purl.org/dc/elements/1.1/}title",
    "creator": "{http://purl.org/dc/elements/1.1/}creator",
    "keywords": "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}keywords",
}
# The strict variant of the format writes the same elements under other names.
_STRICT = (
    (b"http://purl.oclc.org/ooxml/wordprocessingml/main", W[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/relationships", R[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/officeDocument/math", M[1:-1].encode()),
    (b"http://purl.oclc.org/ooxml/drawingml/chart", C[1:-1].encode()),
)


def build_parser() -> etree.XMLParser:
    """Return a parser for XML of unknown origin."""
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )


def read_xml(archive: zipfile.ZipFile, member: str, name: str) -> etree._Element | None:
    """Parse a member; None when the archive has none of that name.

    Raises:
        UnsupportedContentError: It is there but is damaged.
    """
    try:
        data = archive.read(member)
    except KeyError:
        return None
    except Exception as error:
        raise UnsupportedContentError(
            f"{name!r} is damaged: {member!r} can't be unpacked; save it again"
        ) from error
    if b"purl.oclc.org" in data[:4096]:
        for strict, usual in _STRICT:
            data = data.replace(strict, usual)
    try:
        return etree.fromstring(data, build_parser())
    except etree.XMLSyntaxError as error:
        raise UnsupportedContentError(
            f"{name!r} is damaged: {member!r} is not valid XML ({error}); save it again"
        ) from error


def read_relations(archive: zipfile.ZipFile, member: str, name: str) -> dict[str, tuple[str, bool]]:
    """Return what a member's relation ids point to, and whether that is outside the file."""
    folder, _, base = member.rpartition("/")
    root = read_xml(archive, f"{folder}/_rels/{base}.rels", name)
    relations: dict[str, tuple[str, bool]] = {}
    for relation in root.iter(f"{_PACKAGE}Relationship") if root is not None else ():
        target = str(relation.get("Target") or "")
        is_outside = relation.get("TargetMode") == "External"
        if not is_outside:
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        relations[str(relation.get("Id"))] = (target, is_outside)
    return relations


def read_properties(archive: zipfile.ZipFile, name: str) -> dict[str, str]:
    """Return title, creator and keywords of a file; missing ones are empty."""
    try:
        root = read_xml(archive, "docProps/core.xml", name)
    except UnsupportedContentError:
        root = None  # the text does not depend on it
    if root is None:
        return dict.fromkeys(_CORE, "")
    return {key: (root.findtext(tag) or "").strip() for key, tag in _CORE.items()}


def is_on(element: etree._Element | None) -> bool:
    """Tell whether a switch such as `<w:b/>` is there and not turned off."""
    if element is None:
        return False
    return str(element.get(f"{W}val") or "1") not in {"0", "false", "off"}
