"""The App Home: what the assistant knows of somebody, and what administrators set for channels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from bot.agent.action_store import ActionStore
from bot.agent.actions import ActionId
from bot.agent.card_store import CardStore
from bot.agent.skills.skill_set import SkillSet
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.calls import SlackRefusedError
from bot.handlers.slack.channel_form import build_channel_form, read_channel_form
from bot.handlers.slack.home_rendering import (
    ACTIONS_SHOWN,
    QUESTIONS_SHOWN,
    HomeView,
    OpenAction,
    render_home,
)
from bot.handlers.slack.memory_desk import MemoryDesk
from bot.handlers.slack.payloads import Click, Submission
from bot.handlers.slack.rights import Rights
from bot.home_texts import get_home_texts
from bot.inbox.store import Inbox
from bot.preferences.languages import Languages
from bot.preferences.store import LanguageChoice, Preferences
from core.clock import SystemClock
from core.errors import TransientError
from knowledge.people import Person

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Publishes the App Home and takes what is pressed there.

    Whose facts are shown goes by the account that Slack names, never by what a button carries.

    Attributes:
        bases: Names of all knowledge bases and sources.
    """

    api: SlackApi
    rights: Rights
    inbox: Inbox
    memory: MemoryDesk
    preferences: Preferences
    languages: Languages
    actions: ActionStore
    cards: CardStore
    bases: Sequence[str]
    skills: SkillSet

    async def open(self, event: Mapping[str, Any]) -> None:
        """Show somebody their Home."""
        if event.get("tab") == "home" and event.get("user"):
            await self.publish(str(event["user"]))

    async def publish(self, account: str, *, notice: str = "") -> None:
        """Show an account what is its own."""
        person = await self.rights.identify(account)
        questions = await self.inbox.list_recent(account, limit=QUESTIONS_SHOWN)
        latest = questions[0].text if questions else ""
        actions = await self._find_actions(account, person)
        language = await self.languages.for_person(account, latest)
        names = {one.action.skill for one in actions}
        view = HomeView(
            person=person,
            groups=await self._find_groups(person),
            questions=questions,
            actions=actions,
            titles={one: self.skills.get_title(one, is_chinese=language == "zh") for one in names},
            language=language,
            choice=await self.preferences.load_language(account),
            is_admin=await self.rights.is_admin(account),
            command=self.rights.settings.command,
            now=SystemClock().now(),
            notice=notice,
        )
        await self.api.call("views.publish", user_id=account, view=render_home(view))

    async def choose_language(self, click: Click) -> None:
        """Keep which language somebody wants."""
        chosen: LanguageChoice = "auto"
        match click.action.selected_option.value:
            case "zh" | "en" as value:
                chosen = value
            case _:
                pass
        await self.preferences.save_language(click.user.id, chosen)
        await self.publish(click.user.id)

    async def forget(self, click: Click) -> None:
        """Forget what somebody said, and what they asked."""
        account = click.user.id
        questions = await self.inbox.list_recent(account, limit=1)
        language = await self.languages.for_person(account, questions[0].text if questions else "")
        await self.memory.forget(account)
        await self.publish(account, notice=get_home_texts(language).forgotten)

    async def choose_channel(self, click: Click) -> None:
        """Open the settings of a channel, for administrators."""
        channel = click.action.selected_conversation
        if not channel or not await self.rights.is_admin(click.user.id):
            return
        form = build_channel_form(
            channel,
            await self.preferences.load_channel(channel),
            bases=self.bases,
            language=await self.languages.for_person(click.user.id),
        )
        await self.api.call("views.open", trigger_id=click.trigger_id, view=form)

    async def save_channel(self, body: Mapping[str, Any]) -> None:
        """Keep what an administrator has set for a channel."""
        sent = Submission.model_validate(body)
        account = sent.user.id
        # Somebody may have ceased to be one while the form was open.
        if not await self.rights.is_admin(account):
            _log.warning("slack_channel_form_refused", account=account)
            return
        memory, choice = read_channel_form(sent.view)
        await self.preferences.save_channel(memory.channel, choice, changed_by=account)
        texts = get_home_texts(memory.language)
        await self.publish(account, notice=texts.channel_saved.format(channel=memory.channel))

    async def _find_groups(self, person: Person | None) -> list[str]:
        if person is None:
            return []
        directory = (await self.rights.registry.readership()).directory
        return [
            group.name or group.group_id
            for group in directory.content.groups
            if person.person_id in group.members
        ]

    async def _find_actions(self, account: str, person: Person | None) -> list[OpenAction]:
        if person is None:
            return []
        found = await self.actions.list_open(person.person_id)
        return [
            OpenAction(action=one, url=await self._find_link(one.action_id, account))
            for one in found[:ACTIONS_SHOWN]
        ]

    async def _find_link(self, action_id: ActionId, account: str) -> str:
        for channel, ts in await self.cards.list_posts(action_id, account):
            try:
                found = await self.api.read("chat.getPermalink", channel=channel, message_ts=ts)
            except (SlackRefusedError, TransientError) as error:
                _log.info("slack_card_without_link", action=action_id, reason=str(error))
            else:
                return str(found["permalink"])
        return ""
