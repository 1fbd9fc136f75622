"""Makes text harmless: what a page or a person wrote must not ring, mention or disguise a link."""

import re

ZERO_WIDTH_SPACE = "\u200b"
# `<!channel>`, `<@U1>`, `<#C1>` ring or name somebody; `<http://a|b>` shows b and leads to a.
_CONTROL = re.compile(r"<(?=[!@#]|[a-z][a-z0-9+.-]*:[^>|\n]*\|)", re.IGNORECASE)
_LINK = re.compile(r"(?<!!)\[(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\((?P<target>[^()\s]+)\)")
_MARKER = re.compile(r"(?P<marker>\[\d{1,3}\])(?=\()")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_SPECIAL = re.compile(r"([\\\[\]*_~`])")
_WEB = ("http://", "https://")


def neutralise(text: str) -> str:
    """Break every control sequence of Slack's, in code too: Slack looks for them there as well."""
    return _CONTROL.sub(f"<{ZERO_WIDTH_SPACE}", text)


def prepare_markdown(text: str) -> str:
    """Return Markdown that Slack may render: harmless, links to the web alone.

    A link that leads into a folder of files is shown as its label.
    """
    parts = _CODE.split(text)
    prose = [part if index % 2 else _mend_links(part) for index, part in enumerate(parts)]
    return neutralise("".join(prose))


def escape_mrkdwn(text: str) -> str:
    """Escape the three characters that mean something in Slack's own text format."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_markdown(text: str) -> str:
    """Return a title or name that reads as it is inside Markdown, on one line."""
    return neutralise(_SPECIAL.sub(r"\\\1", " ".join(text.split())))


def shorten(text: str, chars: int) -> str:
    """Return the beginning of a text on one line, harmless; escaped it has as many characters."""
    line = " ".join(neutralise(text).split())
    size = min(len(line), chars)
    while len(escape_mrkdwn(line[:size])) > chars:
        size -= 1
    return escape_mrkdwn(line[:size]) + ("…" if size < len(line) else "")


def build_link(label: str, url: str) -> str:
    """Return a Markdown link; only the label where the address is none of the web."""
    shown = escape_markdown(label)
    if not url.lower().startswith(_WEB):
        return shown
    return f"[{shown}]({_quote(url)})"


def _quote(url: str) -> str:
    for character, code in ((" ", "%20"), ("(", "%28"), (")", "%29"), ("<", "%3C"), (">", "%3E")):
        url = url.replace(character, code)
    return url


def _mend_links(text: str) -> str:
    # `[1](` would be read as a link, and is a marker in front of a bracket.
    spaced = _MARKER.sub(lambda match: match["marker"] + " ", text)
    return _LINK.sub(_keep_web_link, spaced)


def _keep_web_link(match: re.Match[str]) -> str:
    is_web = match["target"].lower().startswith(_WEB)
    return match[0] if is_web else match["label"]
