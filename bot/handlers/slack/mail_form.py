"""The form an e-mail is written in: how it looks, and what was typed into it. Pure."""

import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from bot.action_texts import ActionTexts, get_action_texts
from bot.agent.email_check import MOST_SUBJECT_CHARS, Problem
from bot.handlers.slack.elements import Block, field, modal, plain, section
from bot.rag.language import Language

MAIL_FORM = "mail_form"
TO, CC, SUBJECT, BODY = "to", "cc", "subject", "body-0"
INPUT_CHARS = 3_000
_SEPARATORS = re.compile(r"[,;，；、\s]+")
_WRAPPED = re.compile(r"<?(?:mailto:)?([^<>|\s]+@[^<>|\s]+?)(?:\|[^<>]*)?>?")
_JOINTS = {"n": "\n", "-": ""}

Parameters = Mapping[str, JsonValue]


class FormMemory(BaseModel):
    """What a form remembers of what it is for.

    Attributes:
        draft: The id of the draft it makes, so that one sent twice makes one.
        action: The action whose values it shows; empty = none.
        nonce: Of the button that opened it.
        purpose: Whether that action is edited, or drafted again because it is over.
        joints: How the parts of a long text hang together: `n` at a line's end, `-` within a line.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    draft: str
    action: str = ""
    nonce: str = ""
    purpose: Literal["new", "edit", "again"] = "new"
    language: Language
    joints: str = ""


def read_command(words: str) -> tuple[list[str], str]:
    """Return recipients and subject of `a@b.example, c@d.example Subject`."""
    to: list[str] = []
    rest = words.strip()
    while rest:
        first, _, after = rest.partition(" ")
        parts = [one for one in _SEPARATORS.split(first) if one]
        found = [match[1] for one in parts if (match := _WRAPPED.fullmatch(one))]
        if parts and len(found) < len(parts):
            break
        to += found
        rest = after.strip()
    return to, rest


def build_mail_form(memory: FormMemory, values: Parameters) -> Block:
    """Return the form with these values in it; a text of any length is taken in parts."""
    texts = get_action_texts(memory.language)
    parts, joints = _cut(str(values.get("body") or ""))
    bodies = [
        field(
            f"body-{number}",
            texts.labels["body"] if number == 0 else texts.body_more.format(number=number + 1),
            _input(part, most=INPUT_CHARS, is_long=True),
            hint=texts.body_hint if number == len(parts) - 1 else "",
            is_optional=number > 0,
        )
        for number, part in enumerate(parts)
    ]
    return modal(
        MAIL_FORM,
        texts.form_title if memory.purpose != "edit" else texts.edit_title,
        [
            field(
                TO, texts.labels["to"], _input(_join(values.get("to"))), hint=texts.addresses_hint
            ),
            field(CC, texts.labels["cc"], _input(_join(values.get("cc"))), is_optional=True),
            field(
                SUBJECT,
                texts.labels["subject"],
                _input(str(values.get("subject") or ""), most=MOST_SUBJECT_CHARS),
            ),
            *bodies,
        ],
        submit=texts.preview,
        close=texts.cancel,
        memory=memory.model_copy(update={"joints": joints}).model_dump_json(),
    )


def build_notice(text: str, texts: ActionTexts) -> Block:
    """Return what takes the place of a form that came too late."""
    return modal("mail_notice", texts.edit_title, [section(plain(text))], close=texts.close)


def read_mail_form(view: Mapping[str, Any]) -> tuple[FormMemory, Parameters]:
    """Return what a form was for and what was typed."""
    memory = FormMemory.model_validate_json(view["private_metadata"])
    typed: Mapping[str, Mapping[str, Any]] = view["state"]["values"]

    def read(name: str) -> str:
        return str(typed.get(name, {}).get(name, {}).get("value") or "")

    body = read(BODY)
    for number, joint in enumerate(memory.joints, start=1):
        body += _JOINTS.get(joint, "") + read(f"body-{number}")
    return memory, {
        "to": _split(read(TO)),
        "cc": _split(read(CC)),
        "subject": read(SUBJECT),
        "body": body,
    }


def describe_problems(problems: Sequence[Problem], texts: ActionTexts) -> dict[str, str]:
    """Return what to say at which field."""
    said: dict[str, str] = {}
    for one in problems:
        name = BODY if one.field == "body" else one.field
        text = texts.problems[one.flaw].format(value=one.value, limit=one.limit)
        said[name] = f"{said[name]} {text}" if name in said else text
    return said


def give_draft_id() -> str:
    """Return the id of a draft to come."""
    return secrets.token_hex(16)


def _input(value: str, *, most: int = INPUT_CHARS, is_long: bool = False) -> Block:
    found: Block = {"type": "plain_text_input", "multiline": is_long, "max_length": most}
    return {**found, "initial_value": value[:most]} if value else found


def _join(value: JsonValue | None) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _split(text: str) -> list[JsonValue]:
    parts = [one for one in _SEPARATORS.split(text) if one]
    return [match[1] if (match := _WRAPPED.fullmatch(one)) else one for one in parts]


def _cut(text: str) -> tuple[list[str], str]:
    """Cut a text into parts that fit into a field, at ends of lines where that is possible."""
    parts, joints = [], ""
    while len(text) > INPUT_CHARS:
        end = text.rfind("\n", 1, INPUT_CHARS + 1)
        if end > 0:
            parts.append(text[:end])
            text, joints = text[end + 1 :], joints + "n"
        else:
            parts.append(text[:INPUT_CHARS])
            text, joints = text[INPUT_CHARS:], joints + "-"
    return [*parts, text], joints
