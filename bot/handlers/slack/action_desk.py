"""What people do with actions in Slack: draft an e-mail, look at it, edit, confirm or drop it."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from pydantic import JsonValue, TypeAdapter

from bot.action_texts import ActionTexts, get_action_texts
from bot.agent.action_store import ActionStore
from bot.agent.actions import ActionId, ActionState, PendingAction, hash_parameters
from bot.agent.card_store import CardPlace, CardStore
from bot.agent.confirmation import Confirmation, keep_marks
from bot.agent.deciders import Deciders
from bot.agent.email_check import check_email
from bot.agent.email_skill import NAME as SEND_EMAIL
from bot.agent.verdicts import Decision, Verdict
from bot.handlers.slack.api import SlackApi
from bot.handlers.slack.card_rendering import list_names, read_value
from bot.handlers.slack.cards import CardKeeper
from bot.handlers.slack.mail_form import (
    SUBJECT,
    FormMemory,
    Parameters,
    build_mail_form,
    build_notice,
    describe_problems,
    give_draft_id,
    read_command,
    read_mail_form,
)
from bot.handlers.slack.payloads import Click, Command, Submission
from bot.handlers.slack.rendering import render_note
from bot.handlers.slack.rights import Rights
from bot.inbox.questions import Question
from bot.preferences.languages import Languages
from bot.preferences.store import Preferences
from bot.rag.language import Language
from core.errors import PermanentError, SettingsError, ZhixingError
from core.messages import ProposedAction
from core.settings import MailSettings
from knowledge.people import Person, PersonId

DIRECT = "dm"

_PARAMETERS: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])

Ack = Mapping[str, Any]
Step = Callable[[ActionId, str, str], Awaitable[Decision]]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDesk:
    """Takes what people press, type and fill in, and has cards brought up to date.

    A draft from the form is shown to its asker, and to whoever else has to confirm it, in a direct
    message each: a command is seen by nobody else, nor is what is about to be written. What was
    asked for aloud is shown in that thread. Both can be updated after a restart, which a message
    that only one person sees cannot.
    """

    api: SlackApi
    rights: Rights
    confirmation: Confirmation
    deciders: Deciders
    actions: ActionStore
    cards: CardStore
    keeper: CardKeeper
    preferences: Preferences
    languages: Languages
    mail: MailSettings

    async def open_form(self, command: Command, words: str) -> None:
        """Open the form for a new e-mail."""
        to, subject = read_command(words)
        language = await self.languages.for_person(command.user_id, subject)
        texts = get_action_texts(language)
        if refused := await self._refuse(command.user_id, texts):
            await self.api.respond(command.response_url, render_note(refused))
            return
        memory = FormMemory(draft=give_draft_id(), language=language)
        form = build_mail_form(memory, {"to": [*to], "subject": subject})
        await self.api.call("views.open", trigger_id=command.trigger_id, view=form)

    async def submit(self, body: Mapping[str, Any]) -> Ack:
        """Keep a draft before its form is acknowledged; returns what to say to Slack.

        What could not be kept leaves the form open. A form that is sent twice makes one draft.
        """
        sent = Submission.model_validate(body)
        memory, values = read_mail_form(sent.view)
        texts = get_action_texts(memory.language)
        problems = check_email(values, self.mail).problems
        if problems:
            return {"response_action": "errors", "errors": describe_problems(problems, texts)}
        try:
            said = await self._keep(sent.user.id, memory, values, texts)
        except ZhixingError as error:
            _log.warning("slack_draft_not_kept", reason=str(error))
            is_settings = isinstance(error, SettingsError)
            told = texts.nobody_decides if is_settings else texts.not_kept
            return {"response_action": "errors", "errors": {SUBJECT: told}}
        if said:
            return {"response_action": "update", "view": build_notice(said, texts)}
        return {}

    async def take_proposal(
        self, question: Question, proposed: ProposedAction, language: Language
    ) -> None:
        """Show what the assistant proposes to do where it was asked for; nothing is done yet.

        The same proposal to the same question makes one draft, also when it is answered anew.
        """
        texts = get_action_texts(language)
        try:
            said = await self._draft_proposal(question, proposed, language)
        except (PermanentError, SettingsError) as error:
            _log.warning("slack_proposal_not_kept", reason=str(error))
            is_settings = isinstance(error, SettingsError)
            said = texts.nobody_decides if is_settings else texts.no_draft
        if said:
            where = {"channel": question.channel, "user": question.account}
            await self.api.whisper(**where, message=render_note(said), thread=question.thread)

    async def confirm(self, click: Click) -> None:
        """Do the action."""
        await self._decide(click, self.confirmation.confirm)

    async def cancel(self, click: Click) -> None:
        """Drop the action."""
        await self._decide(click, self.confirmation.reject)

    async def send_again(self, click: Click) -> None:
        """Do once more what may or may not have been done."""
        await self._decide(click, self.confirmation.send_again)

    async def check_again(self, click: Click) -> None:
        """Ask the other side what became of it."""
        await self._decide(click, self.confirmation.check_again)

    async def note_arrived(self, click: Click) -> None:
        """Note that it was done after all."""
        await self._settle(click, has_arrived=True)

    async def note_not_arrived(self, click: Click) -> None:
        """Note that it was not done."""
        await self._settle(click, has_arrived=False)

    async def edit(self, click: Click) -> None:
        """Open the form with the draft in it."""
        action, _, language = await self._find(click, (ActionState.PENDING,))
        if action is not None:
            memory = FormMemory(
                draft=give_draft_id(),
                action=action.action_id,
                nonce=action.nonce,
                purpose="edit",
                language=language,
            )
            form = build_mail_form(memory, action.parameters)
            await self.api.call("views.open", trigger_id=click.trigger_id, view=form)

    async def draft_again(self, click: Click) -> None:
        """Open the form with what is over in it, for a draft of its own."""
        over = (ActionState.FAILED, ActionState.EXPIRED, ActionState.VOID)
        action, texts, language = await self._find(click, over)
        if action is None:
            return
        if refused := await self._refuse(click.user.id, texts):
            await self.api.respond(click.response_url, render_note(refused))
            return
        memory = FormMemory(
            draft=give_draft_id(), action=action.action_id, purpose="again", language=language
        )
        form = build_mail_form(memory, action.parameters)
        await self.api.call("views.open", trigger_id=click.trigger_id, view=form)

    async def _refuse(self, account: str, texts: ActionTexts) -> str:
        """Return why somebody can't write e-mails; empty when they can."""
        if not self.mail.is_configured:
            return texts.mail_missing
        person = await self.rights.identify(account)
        directory = (await self.rights.registry.readership()).directory
        is_ours = person is not None and directory.is_member(person)
        return "" if is_ours else texts.mail_not_for_you

    async def _keep(
        self, account: str, memory: FormMemory, values: Parameters, texts: ActionTexts
    ) -> str:
        """Keep what a form says; returns what to tell instead when it came too late."""
        if refused := await self._refuse(account, texts):
            return refused
        person = await self.rights.identify(account)
        if person is None:
            return texts.mail_not_for_you
        if memory.purpose == "edit":
            return await self._keep_edited(person, memory, values, texts)
        deciders = await self.deciders.choose(SEND_EMAIL, person.person_id)
        language = await self.languages.for_person(
            account, f"{values['subject']}\n{values['body']}"
        )
        places = await self._choose_places(account, person, deciders, language)
        action = await self.confirmation.propose(
            SEND_EMAIL,
            values,
            asker=person.person_id,
            place=DIRECT,
            deciders=deciders,
            from_pages=await self._recall_marks(person, memory, values),
            action_id=ActionId(memory.draft),
            announce=lambda action_id: self.cards.build_announcement(action_id, places),
        )
        self.keeper.hurry(action.action_id)
        return ""

    async def _draft_proposal(
        self, question: Question, proposed: ProposedAction, language: Language
    ) -> str:
        """Keep what is proposed; returns what to tell instead when it may not be."""
        texts = get_action_texts(language)
        if proposed.skill == SEND_EMAIL and (
            refused := await self._refuse(question.account, texts)
        ):
            return refused
        person = await self.rights.identify(question.account)
        if person is None:
            return texts.mail_not_for_you
        deciders = await self.deciders.choose(proposed.skill, person.person_id)
        own = CardPlace(channel=question.channel, thread=question.thread, language=language)
        others = await self._find_places(deciders - {person.person_id}, language)
        if person.person_id not in deciders and not others:
            raise SettingsError(f"none of those who confirm {proposed.skill!r} has an account here")
        skill = self.confirmation.get_skill(proposed.skill)
        parameters = skill.normalise(_PARAMETERS.validate_python(dict(proposed.params)))
        name = f"{question.question_id}:{proposed.skill}:{hash_parameters(parameters)}"
        action = await self.confirmation.propose(
            proposed.skill,
            parameters,
            asker=person.person_id,
            place=DIRECT if question.is_direct else question.channel,
            deciders=deciders,
            from_pages=proposed.from_pages,
            action_id=ActionId(hashlib.sha256(name.encode()).hexdigest()[:32]),
            announce=lambda action_id: self.cards.build_announcement(action_id, [own, *others]),
        )
        self.keeper.hurry(action.action_id)
        return ""

    async def _keep_edited(
        self, person: Person, memory: FormMemory, values: Parameters, texts: ActionTexts
    ) -> str:
        places = await self.cards.list_places(ActionId(memory.action))
        decision = await self.confirmation.edit(
            ActionId(memory.action),
            memory.nonce,
            person.person_id,
            values,
            fresh_id=ActionId(memory.draft),
            announce=lambda action_id: self.cards.build_announcement(action_id, places),
        )
        if decision.verdict is not Verdict.ACCEPTED or decision.action is None:
            return await self._word(decision, person.person_id, texts)
        self.keeper.hurry(decision.action.action_id)
        return ""

    async def _recall_marks(
        self, person: Person, memory: FormMemory, values: Parameters
    ) -> frozenset[str]:
        """Return which values still come from a page when an action is drafted again."""
        if memory.purpose != "again":
            return frozenset()
        action = await self.actions.find(ActionId(memory.action))
        if action is None or action.asker != person.person_id:
            return frozenset()
        return keep_marks(action, self.confirmation.get_skill(action.skill).normalise(values))

    async def _choose_places(
        self, account: str, person: Person, deciders: frozenset[str], language: Language
    ) -> list[CardPlace]:
        others = await self._find_places(deciders - {person.person_id}, language)
        if person.person_id not in deciders and not others:
            raise SettingsError(f"none of those who confirm {SEND_EMAIL!r} has an account here")
        return [CardPlace(account=account, language=language), *others]

    async def _find_places(self, people: frozenset[str], language: Language) -> list[CardPlace]:
        """Return the direct messages of people, as far as they have an account here."""
        places = []
        for one in sorted(people):
            if found := await self.rights.find_account(PersonId(one)):
                theirs = await self.preferences.load_language(found)
                chosen = language if theirs == "auto" else theirs
                places.append(CardPlace(account=found, language=chosen))
        return places

    async def _decide(self, click: Click, step: Step) -> None:
        texts, _ = await self._speak(click)
        person = await self.rights.identify(click.user.id)
        action_id, nonce = read_value(click.action.value)
        who = person.person_id if person else ""
        decision = await step(ActionId(action_id), nonce, who)
        # The card itself tells what became of it; whoever was too late may see an old one.
        if decision.action is not None:
            self.keeper.hurry(decision.action.action_id)
        if decision.verdict is not Verdict.ACCEPTED:
            said = await self._word(decision, who, texts)
            await self.api.respond(click.response_url, render_note(said))

    async def _settle(self, click: Click, *, has_arrived: bool) -> None:
        async def settle(action_id: ActionId, nonce: str, person: str) -> Decision:
            return await self.confirmation.settle_unknown(
                action_id, nonce, person, has_arrived=has_arrived
            )

        await self._decide(click, settle)

    async def _find(
        self, click: Click, states: tuple[ActionState, ...]
    ) -> tuple[PendingAction | None, ActionTexts, Language]:
        """Return the action of a button that opens a form; None when it may not, which is told."""
        texts, language = await self._speak(click)
        person = await self.rights.identify(click.user.id)
        action_id, nonce = read_value(click.action.value)
        action = await self.confirmation.find(ActionId(action_id), nonce)
        if action is None:
            said = texts.outdated
        elif person is None or person.person_id != action.asker:
            names = list_names([action.asker], await self._load_names())
            said = texts.only_asker_edits.format(names=names)
        elif action.state not in states:
            said = texts.already.format(state=texts.states[action.state])
        else:
            return action, texts, language
        await self.api.respond(click.response_url, render_note(said))
        return None, texts, language

    async def _speak(self, click: Click) -> tuple[ActionTexts, Language]:
        """Return the words for whoever pressed, in the language of the card."""
        action_id, _ = read_value(click.action.value)
        language: Language = "zh"
        for place in await self.cards.list_places(ActionId(action_id)):
            language = "zh" if place.language == "zh" else "en"
            if place.account == click.user.id:
                break
        return get_action_texts(language), language

    async def _word(self, decision: Decision, person: str, texts: ActionTexts) -> str:
        """Say why nothing was done."""
        action = decision.action
        match decision.verdict:
            case Verdict.NOT_YOURS if action is not None:
                names = list_names(action.deciders, await self._load_names())
                is_alone = person == action.asker
                return (texts.needs_second if is_alone else texts.not_yours).format(names=names)
            case Verdict.ALREADY_DECIDED if action is not None:
                return texts.already.format(state=texts.states[action.state])
            case Verdict.EXPIRED:
                return texts.too_late
            case Verdict.SKILL_CHANGED:
                return texts.skill_changed
            case Verdict.NOT_KNOWN:
                return texts.not_known
            case _:
                return texts.outdated

    async def _load_names(self) -> dict[str, str]:
        directory = (await self.rights.registry.readership()).directory
        return {person_id: person.name for person_id, person in directory.people.items()}
