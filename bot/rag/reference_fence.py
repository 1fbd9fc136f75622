"""Reference material for a model, fenced so that nothing inside can pass for anything else."""

import hashlib
import re
from collections.abc import Sequence

from knowledge.documents import Hit
from knowledge.retrieval import Evidence

_KEY_CHARS = 12
# Invisible characters could hide a look-alike of the fence from whoever reads the prompt.
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\x00-\x08\x0b-\x1f]")


def build_references(evidence: Sequence[Evidence], *, most_chars: int) -> str:
    """Number the evidence from 1 and fence it.

    Every fence line ends in a key that occurs nowhere in the material, so that no page can close
    its fence, open another or end the material; equal material gets the equal key. Sections are
    cut to equal shares of `most_chars` where they are longer, the matched passages kept.
    """
    share = max(1, most_chars // max(1, len(evidence)))
    heads = [_INVISIBLE.sub("", _describe(one.hit)) for one in evidence]
    bodies = [_INVISIBLE.sub("", _cut(one, share)) for one in evidence]
    key = choose_key([*heads, *bodies])
    sources = [
        f"<source {number} {key}>\n{head}\n\n{body}\n</source {number} {key}>"
        for number, (head, body) in enumerate(zip(heads, bodies, strict=True), 1)
    ]
    return "\n\n".join([f"<references {key}>", *sources, f"</references {key}>"])


def fence(kind: str, head: str, body: str) -> str:
    """Fence one piece of material, such as a tool's result, with a key it does not hold."""
    head, body = _INVISIBLE.sub("", head), _INVISIBLE.sub("", body)
    key = choose_key([head, body])
    return f"<{kind} {key}>\n{head}\n{body}\n</{kind} {key}>"


def choose_key(texts: Sequence[str]) -> str:
    """Derive a key from the texts that occurs in none of them."""
    digest = hashlib.sha256("\x1f".join(texts).encode("utf-8", "surrogatepass"))
    while True:
        key = digest.hexdigest()[:_KEY_CHARS]
        if not any(key in text for text in texts):
            return key
        digest.update(key.encode())


def _describe(hit: Hit) -> str:
    place = " > ".join((hit.title, *hit.heading_path))
    version = hit.version_label or (f"v{hit.version_number}" if hit.version_number else "")
    state = "" if hit.valid_to is None else f" (replaced on {hit.valid_to:%Y-%m-%d})"
    return f"{place}\nversion {version}, updated {hit.updated_at:%Y-%m-%d}{state}".strip()


def _cut(evidence: Evidence, share: int) -> str:
    if len(evidence.section_text) <= share:
        return evidence.section_text
    passages = sorted(evidence.passages, key=lambda hit: hit.position)
    text = "\n\n".join(dict.fromkeys(hit.text for hit in passages))
    return text[:share]
