"""What the app offers in the workspace, as deploy/slack-manifest.yaml declares it."""

from collections.abc import Sequence

COMMANDS: Sequence[dict[str, str]] = (
    {
        "command": "/kb",
        "hint_zh": "关键词 [in:空间 by:作者 after:日期]",
        "hint": "words [in:SPACE by:NAME after:DATE]",
    },
)
SHORTCUTS: Sequence[dict[str, str]] = ()
MESSAGE_SHORTCUTS: Sequence[dict[str, str]] = ()
