"""Bytes to text, by one rule.

In order: a byte order mark; UTF-8; UTF-16 by its zero bytes; GB18030, then Big5, then Windows
Western when the outcome looks like such a language. What none of them fits is refused: guessed
characters would be found and quoted as facts.
"""

import codecs
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import UnsupportedContentError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES = 65_536
# Shares of a text that must look right before a guess is believed; round figures with a wide
# margin: running text reaches 0.9 and more in its own encoding and less than 0.5 in another.
_MIN_PLAUSIBLE = 0.7
_MAX_BROKEN_SHARE = 0.001
_MIN_ZERO_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedText:
    """Text, how it was encoded, and a note when some bytes made no sense."""

    text: str
    encoding: str
    note: str = ""


def decode_text(data: bytes, name: str) -> DecodedText:
    """Decode a text file.

    Raises:
        UnsupportedContentError: The bytes are no text, or text in an encoding that can't be told.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_leniently(data[len(mark) :], encoding, name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _guess(data, name)
    if "\x00" not in text:
        return DecodedText(text=text, encoding="utf-8")
    return _guess(data, name)


def _guess(data: bytes, name: str) -> DecodedText:
    if b"\x00" in data:
        encoding = _find_utf16(data)
        if encoding:
            return _decode_leniently(data, encoding, name)
        raise UnsupportedContentError(
            f"{name!r} is a binary file of a kind that is not read; exclude it or convert it"
        )
    broken = _decode_broken_utf8(data)
    if broken is not None:
        return broken
    for encoding, plausible in (
        ("gb18030", _plausible_gb18030),
        ("big5", _plausible_big5),
        ("cp1252", _plausible_western),
    ):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if plausible(text[:_SAMPLE_BYTES]) >= _MIN_PLAUSIBLE:
            return DecodedText(text=text, encoding=encoding)
    raise UnsupportedContentError(
        f"{name!r} is text in an encoding that can't be told (not UTF-8, UTF-16, GB18030, Big5 "
        "or Windows-1252); save it as UTF-8"
    )


def _decode_leniently(data: bytes, encoding: str, name: str) -> DecodedText:
    text = data.decode(encoding, errors="replace")
    broken = text.count("\ufffd")
    if broken > max(1, len(text) * _MAX_BROKEN_SHARE):
        raise UnsupportedContentError(
            f"{name!r} says it is {encoding.upper()} but {broken} places are not; save it as UTF-8"
        )
    note = f"{broken} places are not valid {encoding.upper()}" if broken else ""
    return DecodedText(text=text, encoding=encoding, note=note)


def _decode_broken_utf8(data: bytes) -> DecodedText | None:
    """Read UTF-8 with a few damaged bytes, when enough of it is beyond doubt."""
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    sound = sum(1 for char in text if char > "\x7f") - broken
    if sound < 20 * broken:
        return None
    return DecodedText(
        text=text, encoding="utf-8", note=f"{broken} places are not valid UTF-8 and were replaced"
    )


def _find_utf16(data: bytes) -> str:
    """Tell UTF-16 without a mark: ASCII and line ends have a zero in one half of the pairs."""
    sample = data[:_SAMPLE_BYTES]
    pairs = max(1, len(sample) // 2)
    low, high = sample[0::2].count(0) / pairs, sample[1::2].count(0) / pairs
    if len(data) % 2 == 0 and high >= _MIN_ZERO_SHARE and low < high / 10:
        encoding = "utf-16-le"
    elif len(data) % 2 == 0 and low >= _MIN_ZERO_SHARE and high < low / 10:
        encoding = "utf-16-be"
    else:
        return ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return ""
    is_text = all(char.isprintable() or char in "\t\r\n\f" for char in text[:2000])
    return encoding if is_text else ""


def _plausible_gb18030(text: str) -> float:
    """Share of characters beyond ASCII that are in everyday use in simplified Chinese."""
    return _share(text, _is_everyday_chinese)


def _is_everyday_chinese(char: str) -> bool:
    if char in "，。、；：？！“”‘’（）《》【】—…·　￥％":
        return True
    try:
        pair = char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return b"\xb0" <= pair[:1] <= b"\xd7" or pair[:1] in {b"\xa1", b"\xa3"}


def _plausible_big5(text: str) -> float:
    """Share of characters beyond ASCII that are in everyday use in traditional Chinese."""
    return _share(text, _is_everyday_traditional)


def _is_everyday_traditional(char: str) -> bool:
    try:
        pair = char.encode("big5")
    except UnicodeEncodeError:
        return False
    return b"\xa1" <= pair[:1] <= b"\xc6"


def _plausible_western(text: str) -> float:
    """Share of characters beyond ASCII that are letters or quotes; none when they abound."""
    foreign = sum(1 for char in text if char > "\x7f")
    if foreign > 0.2 * len(text):
        return 0.0
    return _share(text, lambda char: char.isalpha() or char in "‘’“”–—…€£°§©®«»·\u00a0")


def _share(text: str, accepts: Callable[[str], bool]) -> float:
    foreign = [char for char in text if char > "\x7f"]
    if not foreign:
        return 0.0
    return sum(1 for char in foreign if accepts(char)) / len(foreign)
