"""The form in which administrators say how a channel is answered. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.handlers.slack.elements import Block, field, modal, option, plain
from bot.home_texts import get_home_texts
from bot.preferences.store import ChannelChoice, LanguageChoice, ReplyMode
from bot.rag.language import Language

CHANNEL_FORM = "channel_form"
BASES, MODE, PRIVATE, LANGUAGE, PEOPLE = "bases", "mode", "private", "language", "people"
MOST_OPTIONS, OPTION_CHARS, MOST_PEOPLE = 100, 75, 10
_ON = "on"


class ChannelMemory(BaseModel):
    """What the form remembers."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    channel: str
    language: Language


def build_channel_form(
    channel: str, choice: ChannelChoice, *, bases: Sequence[str], language: Language
) -> Block:
    """Return the form with what has been chosen so far.

    Args:
        channel: Its id.
        choice: So far.
        bases: Names of all knowledge bases and sources there are.
        language: Of the form.
    """
    texts = get_home_texts(language)
    fields = [
        field(MODE, texts.reply_mode, _menu(texts.reply_modes, choice.reply_mode)),
        field(
            PRIVATE,
            texts.private_answers,
            _box(texts.private_answers_on, is_ticked=choice.has_private_answers),
            is_optional=True,
        ),
        field(LANGUAGE, texts.language, _menu(texts.languages, choice.language)),
        field(
            PEOPLE,
            texts.people_to_call,
            {
                "type": "multi_users_select",
                "initial_users": list(choice.people_to_call),
                "max_selected_items": MOST_PEOPLE,
            },
            hint=texts.people_hint,
            is_optional=True,
        ),
    ]
    names = [one for one in bases if len(one) <= OPTION_CHARS][:MOST_OPTIONS]
    if names:
        menu: Block = {
            "type": "multi_static_select",
            "options": [option(one, one) for one in names],
        }
        if chosen := [option(one, one) for one in names if one in choice.bases]:
            menu["initial_options"] = chosen
        fields.insert(0, field(BASES, texts.bases, menu, hint=texts.bases_hint, is_optional=True))
    memory = ChannelMemory(channel=channel, language=language).model_dump_json()
    return modal(
        CHANNEL_FORM,
        texts.channel_title,
        fields,
        submit=texts.save,
        close=texts.cancel,
        memory=memory,
    )


def read_channel_form(view: Mapping[str, Any]) -> tuple[ChannelMemory, ChannelChoice]:
    """Return the channel and what was chosen for it."""
    memory = ChannelMemory.model_validate_json(view["private_metadata"])
    values: Mapping[str, Mapping[str, Mapping[str, Any]]] = view["state"]["values"]

    def read(name: str) -> Mapping[str, Any]:
        return values.get(name, {}).get(name, {})

    language: LanguageChoice = "auto"
    match (read(LANGUAGE).get("selected_option") or {}).get("value"):
        case "zh" | "en" as chosen:
            language = chosen
        case _:
            pass
    mode = (read(MODE).get("selected_option") or {}).get("value") or ReplyMode.DEFAULT
    return memory, ChannelChoice(
        bases=tuple(one["value"] for one in read(BASES).get("selected_options") or ()),
        reply_mode=ReplyMode(mode),
        has_private_answers=bool(read(PRIVATE).get("selected_options")),
        language=language,
        people_to_call=tuple(read(PEOPLE).get("selected_users") or ()),
    )


def _menu(labels: Mapping[Any, str], chosen: str) -> Block:
    options = [option(label, str(value)) for value, label in labels.items()]
    return {
        "type": "static_select",
        "options": options,
        "initial_option": next(one for one in options if one["value"] == chosen),
    }


def _box(label: str, *, is_ticked: bool) -> Block:
    # A label of a tick box may be as long as a text; an option's text may not.
    ticked = {"text": plain(label), "value": _ON}
    found: Block = {"type": "checkboxes", "options": [ticked]}
    return {**found, "initial_options": [ticked]} if is_ticked else found
