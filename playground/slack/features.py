"""What the app offers in the workspace, as deploy/slack-manifest.yaml declares it."""

from collections.abc import Sequence

COMMANDS: Sequence[dict[str, str]] = (
    {
        "command": "/kb",
        "hint": "words in:SPACE @base | email TO SUBJECT | memory | forget | status | help",
        "hint_zh": "关键词 in:空间 @知识库 | email 收件人 主题 | memory | forget | status | help",
    },
)
# Each with `name` and `callback_id`: those of the whole workspace, and those in a message's menu.
SHORTCUTS: Sequence[dict[str, str]] = (
    {"callback_id": "ask_zhixing", "name": "Ask Zhixing 询问知行"},
)
MESSAGE_SHORTCUTS: Sequence[dict[str, str]] = (
    {"callback_id": "ask_about_message", "name": "Ask about this 就此提问"},
)
