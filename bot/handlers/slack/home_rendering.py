"""The App Home. Pure: the same facts give the same view."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.action_texts import get_action_texts
from bot.agent.actions import PendingAction
from bot.chat_texts import describe_age, get_chat_texts
from bot.handlers.slack.elements import (
    Block,
    actions,
    context,
    header,
    mrkdwn,
    option,
    plain,
    section,
)
from bot.handlers.slack.neutral import escape_mrkdwn, neutralise
from bot.handlers.slack.rendering import build_button
from bot.home_texts import HomeTexts, get_home_texts
from bot.inbox.questions import Question
from bot.preferences.store import LanguageChoice
from bot.rag.language import Language
from knowledge.people import Person

LANGUAGE, FORGET, CHANNEL, OPEN_CARD = "home_language", "home_forget", "home_channel", "home_card"
QUESTIONS_SHOWN, ACTIONS_SHOWN, GROUPS_SHOWN = 10, 10, 30
QUESTION_CHARS, VALUE_CHARS = 300, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAction:
    """An action that is not over, and where its card can be opened; empty = nowhere."""

    action: PendingAction
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeView:
    """What the App Home tells one person. Nothing in it is anybody else's.

    Attributes:
        person: None = nobody the directory knows.
        groups: Names of the groups they are in.
        questions: Theirs, latest first.
        titles: What skills are called, where the assistant has no name for them.
        command: The slash command.
        notice: What has just been done.
    """

    person: Person | None
    groups: Sequence[str]
    questions: Sequence[Question]
    actions: Sequence[OpenAction]
    language: Language
    choice: LanguageChoice
    is_admin: bool
    command: str
    now: datetime
    notice: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)


def render_home(view: HomeView) -> Block:
    """Return the view as `views.publish` takes it."""
    texts = get_home_texts(view.language)
    blocks: list[Block] = [header(texts.title)]
    if view.notice:
        blocks.append(section(plain(view.notice)))
    blocks.append(section(mrkdwn(texts.how.format(command=view.command))))
    blocks += _show_person(view, texts)
    blocks += _show_actions(view, texts)
    blocks += _show_questions(view, texts)
    if view.is_admin:
        blocks += _show_administration(texts)
    return {"type": "home", "blocks": blocks}


def _show_person(view: HomeView, texts: HomeTexts) -> Iterator[Block]:
    yield {"type": "divider"}
    yield header(texts.me_title)
    person = view.person
    if person is None:
        yield section(plain(texts.unknown))
    else:
        groups = ", ".join(sorted(view.groups)[:GROUPS_SHOWN]) or texts.no_groups
        lines = [
            (texts.name, " / ".join(filter(None, (person.name, person.name_en)))),
            (texts.department, person.department),
            (texts.job, person.title),
            (texts.email, person.email),
            (texts.groups, groups),
        ]
        shown = [line.format(value=value[:VALUE_CHARS]) for line, value in lines if value]
        yield section(plain("\n".join(shown)))
    choices = [option(label, value) for value, label in texts.languages.items()]
    menu: Block = {
        "type": "static_select",
        "action_id": LANGUAGE,
        "options": choices,
        "initial_option": next(one for one in choices if one["value"] == view.choice),
    }
    yield section(plain(texts.language), menu)


def _show_actions(view: HomeView, texts: HomeTexts) -> Iterator[Block]:
    yield {"type": "divider"}
    yield header(texts.actions_title)
    if not view.actions:
        yield section(plain(texts.no_actions))
    words = get_action_texts(view.language)
    for one in view.actions[:ACTIONS_SHOWN]:
        action = one.action
        is_ours = view.person is not None and action.asker == view.person.person_id
        said = " · ".join(
            (
                words.titles.get(action.skill) or view.titles.get(action.skill) or action.skill,
                words.states[action.state],
                texts.asked_by_you if is_ours else texts.waits_for_you,
            )
        )
        button = build_button(OPEN_CARD, texts.open_card, action.action_id)
        yield section(plain(said), {**button, "url": one.url} if one.url else None)


def _show_questions(view: HomeView, texts: HomeTexts) -> Iterator[Block]:
    yield {"type": "divider"}
    yield header(texts.questions_title)
    if not view.questions:
        yield section(plain(texts.no_questions))
    ages = get_chat_texts(view.language)
    for one in view.questions[:QUESTIONS_SHOWN]:
        text = " ".join(neutralise(one.text).split())
        shown = text[:QUESTION_CHARS] + ("…" if len(text) > QUESTION_CHARS else "")
        where = "" if one.is_direct else f" · <#{one.channel}>"
        age = describe_age(one.accepted_at, view.now, ages)
        yield context(f"{escape_mrkdwn(shown)}\n{age}{where}")
    yield context(texts.questions_note)
    yield actions(
        [
            {
                **build_button(FORGET, texts.forget, "forget"),
                "style": "danger",
                "confirm": {
                    "title": plain(texts.forget),
                    "text": plain(texts.forget_warning),
                    "confirm": plain(texts.forget),
                    "deny": plain(texts.cancel),
                },
            }
        ]
    )


def _show_administration(texts: HomeTexts) -> Iterator[Block]:
    yield {"type": "divider"}
    yield header(texts.admin_title)
    menu: Block = {
        "type": "conversations_select",
        "action_id": CHANNEL,
        "placeholder": plain(texts.choose_channel),
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }
    yield section(plain(texts.admin_note), menu)
