"""What is about to be done, or what became of it, as Slack messages. Pure.

Values are shown as plain text, to the last character and without markup: what is confirmed is what
is done.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from bot.action_texts import ActionTexts, OutcomeTexts, get_action_texts
from bot.agent.actions import ActionState, PendingAction, canonical_json
from bot.handlers.slack.elements import Block, actions, context, header, mrkdwn, plain, section
from bot.handlers.slack.neutral import escape_mrkdwn, neutralise
from bot.handlers.slack.rendering import SlackMessage, build_button
from bot.rag.language import Language

CONFIRM, EDIT, CANCEL = "action_confirm", "action_edit", "action_cancel"
ARRIVED, NOT_ARRIVED = "action_arrived", "action_not_arrived"
SEND_AGAIN, DRAFT_AGAIN = "action_send_again", "action_draft_again"
CHECK_AGAIN = "action_check_again"

# There is a form for these.
EDITABLE = frozenset({"send_email"})
SECTION_CHARS = 2_800
# Slack takes 50 blocks and about 13,200 characters a message.
MESSAGE_BLOCKS, MESSAGE_CHARS = 40, 10_500
# What would turn the direction of text round, or hide in it.
_STEERING = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u00ad]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CardView:
    """An action as somebody sees it.

    Attributes:
        names: Of people, by id.
        outside: Values that lie outside of the company.
        title: What the skill is called, where the assistant has no name for it.
        labels: What its parameters are called, in the order in which they are shown.
        is_traceable: The other side can be asked what became of it.
        viewer: Whose direct message it is, by person id; empty = several people see it.
    """

    action: PendingAction
    names: Mapping[str, str] = field(default_factory=dict)
    outside: Collection[str] = frozenset()
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    is_traceable: bool = False
    viewer: str = ""
    language: Language


def render_card(view: CardView) -> list[SlackMessage]:
    """Return the messages of a card: every value in full, the last message with the buttons.

    All but the last are the same in every state.
    """
    texts = get_action_texts(view.language)
    action = view.action
    title = texts.titles.get(action.skill) or neutralise(view.title) or action.skill
    parts = [header(title[:150]), context(_describe_origin(view, texts)), *_show_all(view, texts)]
    tail = [*_describe_state(view, texts), *_build_buttons(view, texts)]
    *earlier, last = _pack(parts, tail)
    said = f"{title} · {texts.states[action.state]}"
    return [
        *(SlackMessage(text=title, blocks=tuple(page)) for page in earlier),
        SlackMessage(text=said, blocks=tuple(last)),
    ]


def read_value(value: str) -> tuple[str, str]:
    """Return action and nonce of a card's button."""
    action_id, _, nonce = value.partition(".")
    return action_id, nonce


def list_names(people: Collection[str], names: Mapping[str, str]) -> str:
    """Return people by their names, for Slack's own markup."""
    return ", ".join(sorted(_name(one, names) for one in people))


def _name(person: str, names: Mapping[str, str]) -> str:
    return escape_mrkdwn(neutralise(names.get(person, person)))


def _describe_origin(view: CardView, texts: ActionTexts) -> str:
    action = view.action
    said = texts.asked_by.format(name=_name(action.asker, view.names))
    if action.asker in action.deciders:
        return said
    names = list_names(action.deciders, view.names)
    return f"{said}\n{texts.second_person.format(names=names)}"


def _show_all(view: CardView, texts: ActionTexts) -> Iterator[Block]:
    labels = {**texts.labels, **{name: one for name, one in view.labels.items() if one}}
    known = [one for one in {**view.labels, **labels} if one in view.action.parameters]
    others = sorted(view.action.parameters.keys() - labels.keys() - view.labels.keys())
    for name in (*known, *others):
        label = f"*{escape_mrkdwn(neutralise(labels.get(name, name)))}*"
        if name in view.action.from_pages:
            label += f"\n{texts.from_page}"
        yield section(mrkdwn(label))
        shown = _show(view.action.parameters[name], view, texts) or texts.nothing
        for start in range(0, len(shown), SECTION_CHARS):
            yield section(plain(shown[start : start + SECTION_CHARS]))


def _show(value: JsonValue, view: CardView, texts: ActionTexts) -> str:
    if isinstance(value, list):
        return "\n".join(_show(one, view, texts) for one in value)
    text = value if isinstance(value, str) else canonical_json({"": value})[4:-1]
    mark = texts.outside if text in view.outside else ""
    return _STEERING.sub(lambda match: f"[U+{ord(match[0]):04X}]", text) + mark


def _describe_state(view: CardView, texts: ActionTexts) -> Iterator[Block]:
    action = view.action
    said = f"*{texts.status}* {texts.states[action.state]}"
    by = texts.decided_by.get(action.state)
    if by and action.decided_by:
        said += f" · {by.format(name=_name(action.decided_by, view.names))}"
    yield section(mrkdwn(said))
    if explained := _explain(action, texts):
        yield section(mrkdwn(explained))
    if action.state is ActionState.PENDING:
        consequence = texts.consequences.get(action.skill, texts.consequence)
        yield context(
            f"{consequence}\n{texts.confirm_by.format(moment=show_moment(action.expires_at))}"
        )
    if action.result:
        lead = texts.said if action.state is ActionState.DONE else texts.reason
        shown = _STEERING.sub("", action.result)
        yield section(plain(f"{lead} {shown}"[:SECTION_CHARS]))


def show_moment(at: datetime) -> str:
    """Return a moment that Slack shows in the zone of whoever reads it."""
    fallback = f"{at:%Y-%m-%d %H:%M} UTC"
    return f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{fallback}>"


def _build_buttons(view: CardView, texts: ActionTexts) -> Iterator[Block]:
    action = view.action
    value = f"{action.action_id}.{action.nonce}"
    is_asker = view.viewer in {"", action.asker}
    is_decider = not view.viewer or view.viewer in action.deciders
    is_editable = action.skill in EDITABLE
    buttons: list[Block] = []
    match action.state:
        case ActionState.PENDING:
            if is_decider:
                buttons.append({**build_button(CONFIRM, texts.confirm, value), "style": "primary"})
            if is_asker and is_editable:
                buttons.append(build_button(EDIT, texts.edit, value))
            buttons.append(build_button(CANCEL, texts.cancel, value))
        case ActionState.UNKNOWN:
            words = _choose_words(action, texts)
            if view.is_traceable:
                buttons.append(build_button(CHECK_AGAIN, texts.check_again, value))
            buttons.append(build_button(ARRIVED, words.arrived, value))
            buttons.append(build_button(NOT_ARRIVED, words.not_arrived, value))
            if is_decider:
                buttons.append(_build_send_again(value, words, texts))
        case ActionState.FAILED | ActionState.EXPIRED | ActionState.VOID if (
            is_asker and is_editable
        ):
            buttons.append(build_button(DRAFT_AGAIN, texts.draft_again, value))
        case _:
            pass
    if buttons:
        yield actions(buttons)


def _build_send_again(value: str, words: OutcomeTexts, texts: ActionTexts) -> Block:
    return {
        **build_button(SEND_AGAIN, words.send_again, value),
        "style": "danger",
        "confirm": {
            "title": plain(words.send_again_title),
            "text": plain(words.send_again_warning),
            "confirm": plain(words.send_again),
            "deny": plain(texts.cancel),
        },
    }


def _choose_words(action: PendingAction, texts: ActionTexts) -> OutcomeTexts:
    is_mail = action.parameters.keys() >= {"to", "subject", "body"}
    return texts.of_mail if is_mail else texts.of_others


def _explain(action: PendingAction, texts: ActionTexts) -> str:
    words = _choose_words(action, texts)
    match action.state:
        case ActionState.FAILED:
            return words.failed
        case ActionState.UNKNOWN:
            return words.unknown
        case _:
            return texts.explained.get(action.state, "")


def _pack(parts: Sequence[Block], tail: Sequence[Block]) -> list[list[Block]]:
    """Spread blocks over messages; the tail stays together and its room is always the same."""
    pages: list[list[Block]] = [[]]
    size = 0
    for part in parts:
        chars = count_chars(part)
        if pages[-1] and (size + chars > MESSAGE_CHARS or len(pages[-1]) >= MESSAGE_BLOCKS):
            pages.append([])
            size = 0
        pages[-1].append(part)
        size += chars
    # Nothing of what stands before may move when the state changes, whatever the tail says.
    if size > MESSAGE_CHARS - 2 * SECTION_CHARS:
        return [*pages, list(tail)]
    return [*pages[:-1], [*pages[-1], *tail]]


def count_chars(value: object) -> int:
    """Return how many characters are written in a block."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(count_chars, value.values()))
    return sum(map(count_chars, value)) if isinstance(value, list) else 0
