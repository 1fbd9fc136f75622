"""Emoticons of the storage format as characters. Pure."""

from collections.abc import Mapping

from bs4 import Tag

_NAMED: Mapping[str, str] = {
    "smile": "🙂", "sad": "🙁", "cheeky": "😛", "laugh": "😀", "wink": "😉", "thumbs-up": "👍",
    "thumbs-down": "👎", "information": "ℹ️", "tick": "✅", "cross": "❌", "warning": "⚠️",
    "plus": "➕", "minus": "➖", "question": "❓", "light-on": "💡", "light-off": "💡",
    "yellow-star": "⭐", "red-star": "⭐", "green-star": "⭐", "blue-star": "⭐", "heart": "❤️",
    "broken-heart": "💔",
}  # fmt: skip


def write_emoticon(tag: Tag) -> str:
    """Return the character, or `:name:` when none is known."""
    fallback = str(tag.get("ac:emoji-fallback") or "")
    if fallback and not fallback.startswith(":"):
        return fallback
    name = str(tag.get("ac:name") or "")
    if known := _NAMED.get(name):
        return known
    if drawn := _read_code_points(str(tag.get("ac:emoji-id") or "")):
        return drawn
    named = str(tag.get("ac:emoji-shortname") or "") or fallback or name
    return f":{named.strip(':')}:" if named else ""


def _read_code_points(emoji_id: str) -> str:
    try:
        points = [int(part, 16) for part in emoji_id.split("-")] if emoji_id else []
        return "".join(chr(point) for point in points if point)
    except (ValueError, OverflowError):
        return ""
