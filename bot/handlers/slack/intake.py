"""What stands between an event and its acknowledgement: questions are written down first."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse

from bot.handlers.slack.screening import Ignored, screen_change, screen_message
from bot.inbox.amendments import Amendment, Amendments
from bot.inbox.questions import Question
from bot.inbox.store import Inbox
from bot.preferences.store import Preferences, ReplyMode
from core.chat_settings import SlackSettings
from core.errors import ZhixingError

QUESTION = "zhixing_question"
_UNAVAILABLE = 503

_log = structlog.get_logger(__name__)


class Intake:
    """Screens messages, accepts questions, and takes changes of them.

    Bolt acknowledges an event before its listener runs. A question is therefore accepted in front
    of the listener: a process that dies after the acknowledgement has it in the inbox, one that
    could not write it down does not acknowledge, and Slack delivers it again.

    Attributes:
        accepted: How many questions were accepted.
        ignored: How many events were ignored, by reason.
    """

    def __init__(
        self,
        inbox: Inbox,
        settings: SlackSettings,
        preferences: Preferences,
        amendments: Amendments,
        *,
        bot_user_id: str,
    ) -> None:
        self._inbox = inbox
        self._amendments = amendments
        self._preferences = preferences
        self._settings = settings
        self._bot_user_id = bot_user_id
        self.accepted = 0
        self.ignored: Counter[str] = Counter()

    async def accept(
        self,
        body: dict[str, Any],
        context: AsyncBoltContext,
        next_: Callable[[], Awaitable[None]],
    ) -> BoltResponse | None:
        """Listener middleware for `message` and `app_mention`."""
        try:
            context[QUESTION] = await self._accept(body)
        except ZhixingError as error:
            _log.warning("slack_event_not_accepted", reason=str(error))
            return BoltResponse(status=_UNAVAILABLE, body="")
        await next_()
        return None

    async def _accept(self, body: dict[str, Any]) -> Question | None:
        change = screen_change(body, bot_user_id=self._bot_user_id)
        if change is not None:
            return await self._amend(change)
        screened = screen_message(
            body,
            bot_user_id=self._bot_user_id,
            settings=self._settings,
            mode=await self._find_mode(body),
        )
        if isinstance(screened, Ignored):
            self.note_ignored(screened.reason)
            return None
        question = await self._inbox.accept(screened)
        if question is None:
            self.note_ignored("accepted before, or a thread we were not called into")
        else:
            self.accepted += 1
        return question

    async def _amend(self, change: Amendment) -> Question | None:
        question = await self._amendments.apply(change)
        if question is None:
            self.note_ignored("a change of what is no question, or of one that is worked on")
        else:
            self.accepted += 1
        return question

    async def _find_mode(self, body: dict[str, Any]) -> ReplyMode:
        """Return what is answered where a message stands that does not mention us."""
        found = body.get("event")
        event = found if isinstance(found, dict) else {}
        channel = event.get("channel")
        if not isinstance(channel, str) or channel.startswith("D"):
            return ReplyMode.DEFAULT
        if f"<@{self._bot_user_id}" in str(event.get("text")):
            return ReplyMode.DEFAULT
        return (await self._preferences.load_channel(channel)).reply_mode

    def note_ignored(self, reason: str) -> None:
        """Count an event that asks us nothing."""
        self.ignored[reason] += 1
        _log.debug("slack_event_ignored", reason=reason)
