"""What is offered to whoever opens the conversation with the assistant: questions to begin with."""

from collections.abc import Mapping
from typing import Any

import structlog

from bot.chat_texts import get_chat_texts
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from core.chat_settings import SlackSettings

# Slack shows so many.
MOST_PROMPTS = 4

_log = structlog.get_logger(__name__)


class Welcome:
    """Suggests questions, in the messages tab and in the older assistant threads."""

    def __init__(self, api: SlackApi, settings: SlackSettings) -> None:
        self._api = api
        self._questions = settings.suggested_questions

    async def greet(self, event: Mapping[str, Any]) -> None:
        """Take `app_home_opened`, or `assistant_thread_started`, which older apps get."""
        thread = event.get("assistant_thread") or {}
        place = {
            "channel_id": str(thread.get("channel_id") or event.get("channel", "")),
            "thread_ts": str(thread.get("thread_ts", "")),
        }
        questions = self._questions or (
            get_chat_texts("zh").first_question,
            get_chat_texts("en").first_question,
        )
        prompts = [{"title": one, "message": one} for one in questions[:MOST_PROMPTS]]
        try:
            await self._api.call("assistant.threads.setSuggestedPrompts", prompts=prompts, **place)
        except SlackRefusedError as error:
            # They are a convenience, and older apps lack the scope.
            _log.info("slack_prompts_not_set", reason=str(error))
