"""Who listens in a channel, as Slack says at the moment."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.payloads import Conversation, User
from bot.handlers.slack.roster import SYSTEM, Roster
from core.chat_settings import SlackSettings
from core.errors import TransientError
from knowledge.directory import Directory
from knowledge.people import Channel, ChannelId, DirectorySnapshot, Visibility

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Listing:
    """A channel and the accounts in it, as Slack last said."""

    conversation: Conversation
    accounts: tuple[str, ...]
    at: float


class Rooms:
    """Channels with their listeners, as fresh as the settings say; the directory keeps a copy.

    In a private channel its members listen, in a public one every full member of the workspace
    too. An account nobody knows, another company, or a channel that Slack does not describe any
    more make it a place where only what is public is said.
    """

    def __init__(
        self,
        api: SlackApi,
        settings: SlackSettings,
        *,
        roster: Roster,
        directory: Directory,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._settings = settings
        self._roster = roster
        self._directory = directory
        self._monotonic = monotonic
        self._listings: dict[str, _Listing] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._doubtful: set[str] = set()

    async def describe(self, channel_id: str) -> Channel:
        """Return a channel and who listens in it now."""
        try:
            listing = await self._list(channel_id)
            accounts = await self._find_accounts(listing)
        except (TransientError, SlackRefusedError) as error:
            _log.warning("slack_channel_unknown", channel=channel_id, reason=str(error))
            return _build_unknown(channel_id)
        directory = await self._directory.load()
        channel = self._build(listing.conversation, accounts, directory)
        held = directory.find_channel(f"{SYSTEM}:{channel_id}")
        if held is not None:
            channel = replace(channel, channel_id=held.channel_id)
        if held != channel:
            await self._directory.put_channel(channel)
        return channel

    async def has_member(self, channel_id: str, user_id: str) -> bool:
        """Tell whether an account is in a channel."""
        return user_id in (await self._list(channel_id)).accounts

    def forget(self, channel_id: str) -> None:
        """Ask anew before the next answer in a channel."""
        self._doubtful.add(channel_id)

    async def _list(self, channel_id: str) -> _Listing:
        async with self._locks[channel_id]:
            known = self._listings.get(channel_id)
            age = self._monotonic() - known.at if known else 0.0
            is_fresh = channel_id not in self._doubtful and age <= self._settings.members_fresh_s
            if known and is_fresh:
                return known
            try:
                listing = await self._fetch(channel_id)
            except TransientError as error:
                # What is known to have changed does not hold.
                if known is None or channel_id in self._doubtful or age > self._settings.hold_s:
                    raise
                _log.warning("slack_members_not_refreshed", reason=str(error))
                return known
            self._listings[channel_id] = listing
            return listing

    async def _fetch(self, channel_id: str) -> _Listing:
        # A change that is told while we ask makes it doubtful again.
        was_doubtful = channel_id in self._doubtful
        self._doubtful.discard(channel_id)
        at = self._monotonic()
        try:
            info = await self._api.read("conversations.info", channel=channel_id)
            members = await self._api.read_pages(
                "conversations.members", "members", channel=channel_id
            )
        except Exception:
            if was_doubtful:
                self._doubtful.add(channel_id)
            raise
        conversation = Conversation.model_validate(info["channel"])
        return _Listing(conversation, tuple(map(str, members)), at)

    async def _find_accounts(self, listing: _Listing) -> list[User | None]:
        accounts = [await self._roster.find(one) for one in listing.accounts]
        if not listing.conversation.is_private:
            accounts += await self._roster.full_members()
        return accounts

    def _build(
        self, conversation: Conversation, accounts: list[User | None], directory: DirectorySnapshot
    ) -> Channel:
        # Machines of our own workspace were let in by it, and those who left no longer read.
        readers = [
            one
            for one in accounts
            if one is None or not (one.deleted or (one.is_machine and self._roster.is_ours(one)))
        ]
        people = [self._roster.identify(one, directory) for one in readers]
        is_shared = conversation.is_ext_shared or conversation.is_pending_ext_shared
        return Channel(
            channel_id=ChannelId(f"{SYSTEM}:{conversation.id}"),
            platform=SYSTEM,
            native_id=conversation.id,
            name=conversation.name or conversation.id,
            visibility=Visibility.PRIVATE if conversation.is_private else Visibility.PUBLIC,
            has_external_member=is_shared or any(one is None for one in people),
            members=frozenset(one.person_id for one in people if one is not None),
        )


def _build_unknown(channel_id: str) -> Channel:
    return Channel(
        channel_id=ChannelId(f"{SYSTEM}:{channel_id}"),
        platform=SYSTEM,
        native_id=channel_id,
        name=channel_id,
        visibility=Visibility.PRIVATE,
        has_external_member=True,
        is_membership_known=False,
    )
