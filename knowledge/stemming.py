"""A light English stemmer: joins the forms of a word, and does not cut words down to roots."""

_SHORTEST = 4
_VOWELS = frozenset("aeiouy")
# Endings that are part of the word: class, status, analysis.
_KEEP_S = ("ss", "us", "is")
_TAKE_ES = ("sses", "shes", "ches", "xes", "zes")
# Doubled by the word itself, not by the ending: install-ing, pass-ed, buzz-ing.
_OWN_DOUBLES = frozenset("lsz")


def stem(word: str) -> str:
    """Return the stem of a lower-case English word; words with digits come back unchanged."""
    if len(word) < _SHORTEST or not word.isalpha() or not word.isascii():
        return word
    return _drop_final_e(_drop_verb_ending(_drop_plural(word)))


def _drop_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith(_KEEP_S):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > _SHORTEST else word[:-1]
    if word.endswith(_TAKE_ES):
        return word[:-2]
    return word[:-1]


def _drop_verb_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        # "need", "string" and "bring" are not forms of "ne", "str" and "br".
        if word.endswith(ending) and len(base) >= len("add") and _VOWELS & set(base):
            return word if word.endswith("eed") else _undouble(base)
    return word


def _undouble(base: str) -> str:
    if base[-1] == base[-2] and base[-1] not in _OWN_DOUBLES and base[-1] not in _VOWELS:
        return base[:-1]
    return base


def _drop_final_e(word: str) -> str:
    """Drop a silent e, so that "configure" meets "configured"."""
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word
