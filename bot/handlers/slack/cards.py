"""Keeps the messages of actions as the actions are, whichever process changes those."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from bot.agent.actions import ActionId, PendingAction
from bot.agent.card_store import Card, CardStore
from bot.agent.confirmation import Confirmation
from bot.handlers.slack.api import Place, SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.rendering import SlackMessage
from core.errors import TransientError, ZhixingError

# Between the clocks of Slack and of this machine.
CLOCK_MARGIN_S = 120.0

Render = Callable[[Card], Awaitable[Sequence[SlackMessage]]]

_log = structlog.get_logger(__name__)


class CardKeeper:
    """Posts cards, and updates them after every step.

    A card is claimed while it is worked on. What can't be done now is done by a later round, of
    this process or another one.

    Args:
        api: Of the workspace.
        store: Which cards there are, and which are out of date.
        render: Returns a card's messages, for the action as it was claimed.
        every_s: How often cards are looked for that somebody else made stale.
    """

    def __init__(self, api: SlackApi, store: CardStore, render: Render, *, every_s: float) -> None:
        self._api = api
        self._store = store
        self._render = render
        self._every_s = every_s
        self._tasks: set[asyncio.Task[None]] = set()

    async def notify(self, action: PendingAction) -> None:
        """Bring an action's cards up to date, without keeping anybody waiting."""
        self.hurry(action.action_id)

    def hurry(self, action_id: ActionId) -> None:
        """Have an action's cards brought up to date as soon as possible."""
        self._begin(lambda: self.refresh(action_id))

    async def serve(self, confirmation: Confirmation, stop: asyncio.Event) -> None:
        """Look for stale cards, and for actions of processes that died, until told to stop."""

        async def look() -> None:
            await confirmation.recover()
            await self.refresh()

        told = asyncio.create_task(stop.wait())
        while not stop.is_set():
            # Slack may ask to wait for long; a stop does not wait for that.
            await asyncio.wait({self._begin(look), told}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({told}, timeout=self._every_s)

    async def finish(self, *, timeout_s: float) -> None:
        """Wait for what is under way; what takes too long is left to the next process."""
        if tasks := set(self._tasks):
            _, late = await asyncio.wait(tasks, timeout=timeout_s)
            for one in late:
                one.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def refresh(self, action_id: ActionId | None = None) -> None:
        """Bring stale cards up to date; of one action, or all there are."""
        # A card that went stale while it was worked on is claimed once more.
        while cards := await self._store.claim_stale(action_id):
            for card in cards:
                await self._bring_up_to_date(card)

    def _begin(self, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(_guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _bring_up_to_date(self, card: Card) -> None:
        try:
            await self._put(card, await self._render(card))
        except SlackRefusedError as error:
            _log.warning("action_card_lost", card=card.card_id, reason=str(error))
            await self._store.note_lost(card)
        except TransientError as error:
            _log.warning("action_card_put_off", card=card.card_id, reason=str(error))
            await self._store.put_off(card, seconds=self._every_s)
        else:
            await self._store.note_shown(card)

    async def _put(self, card: Card, messages: Sequence[SlackMessage]) -> None:
        channel = card.place.channel or await self._open(card.place.account)
        posts = list(card.posts)
        place = Place(channel=channel, thread=card.place.thread, since=_since(card.action))
        if card.tries > 1 and len(posts) < len(messages):
            found = await self._api.find_posts(place, card.card_id)
            while (ts := found.get(len(posts))) is not None:
                posts.append(ts)
        # Only the last message tells the state, so what was posted before stays as it is.
        if len(posts) >= len(messages):
            is_there = await self._update(channel, posts[-1], messages[-1])
            if is_there or card.action.state.is_final:
                return
            posts = posts[: len(messages) - 1]
        for part in range(len(posts), len(messages)):
            ts = await self._api.post(place, messages[part], question_id=card.card_id, part=part)
            posts.append(ts)
            await self._store.save_posts(card, channel, posts)

    async def _update(self, channel: str, ts: str, message: SlackMessage) -> bool:
        """Update a message; False when somebody has deleted it."""
        try:
            await self._api.update(channel, ts, message)
        except SlackRefusedError as error:
            if error.code != "message_not_found":
                raise
            return False
        return True

    async def _open(self, account: str) -> str:
        opened = await self._api.read("conversations.open", users=account)
        return str(opened["channel"]["id"])


async def _guard(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except ZhixingError as error:
        _log.warning("action_cards_not_refreshed", reason=str(error))
    except Exception:  # noqa: BLE001 - an edge: the next round tries again
        _log.exception("action_cards_not_refreshed")


def _since(action: PendingAction) -> str:
    return f"{action.created_at.timestamp() - CLOCK_MARGIN_S:.6f}"
