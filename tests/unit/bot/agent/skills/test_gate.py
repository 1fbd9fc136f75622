"""Nothing is drafted or done with a skill that is not, or no longer, for whoever asks."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from bot.agent.actions import ActionState, PendingAction
from bot.agent.confirmation import Confirmation
from bot.agent.verdicts import Verdict
from bot.agent.wiring import build_confirmation, build_deciders
from core.errors import PermanentError
from knowledge.directory_import import import_directory
from knowledge.people import PersonId
from tests.fakes.mail_server import Mailbox, serve_mail
from tests.unit.bot.office import FORMER, GUEST, HR, OPS, Office

SKILL = """\
name: tell_staff
kind: email
description: Tells all staff something.
title: {zh: 通知, en: Tell staff}
visible_to: ["group:company/hr"]
subject: "{what}"
body: "{what}"
to: staff@nimbus.example
parameters: {what: {description: What to tell, required: true}}
"""
PARAMETERS: dict[str, JsonValue] = {"what": "周五放假"}


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


def prepare(office: Office, port: int, skill: str = SKILL) -> Path:
    office.add_settings(
        f'[mail]\nhost = "127.0.0.1"\nport = {port}\nsender = "zhixing@nimbus.example"\n'
        'security = "none"\n'
    )
    path = office.home / "skills" / "tell.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(skill, encoding="utf-8")
    return path


async def propose(confirmation: Confirmation, person: str) -> PendingAction:
    return await confirmation.propose("tell_staff", PARAMETERS, asker=person, place="dm")


async def test_for_whom_it_is_it_is_done_once_confirmed(office: Office, mailbox: Mailbox) -> None:
    async with serve_mail(mailbox) as port:
        prepare(office, port)
        async with office.open() as product:
            confirmation = build_confirmation(product)
            action = await propose(confirmation, HR)
            assert action.parameters["subject"] == "周五放假"
            decision = await confirmation.confirm(action.action_id, action.nonce, HR)
    assert decision.verdict is Verdict.ACCEPTED
    assert mailbox.recipients == ["staff@nimbus.example"]


@pytest.mark.parametrize("person", [OPS, GUEST, FORMER, "nobody"])
async def test_for_others_it_does_not_exist(office: Office, mailbox: Mailbox, person: str) -> None:
    async with serve_mail(mailbox) as port:
        prepare(office, port)
        async with office.open() as product:
            confirmation = build_confirmation(product)
            with pytest.raises(PermanentError, match="no skill 'tell_staff' for"):
                await propose(confirmation, person)
            assert await confirmation.expire() == []


@pytest.mark.parametrize(
    "change",
    [
        ("staff@nimbus.example", "all@nimbus.example"),
        ("group:company/hr", "user:somebody.else"),
        ('"{what}"', '"{what}!"'),
    ],
)
async def test_a_changed_skill_voids_the_draft(
    office: Office, mailbox: Mailbox, change: tuple[str, str]
) -> None:
    async with serve_mail(mailbox) as port:
        path = prepare(office, port)
        async with office.open() as product:
            confirmation = build_confirmation(product)
            action = await propose(confirmation, HR)
            path.write_text(SKILL.replace(*change), encoding="utf-8")
            decision = await confirmation.confirm(action.action_id, action.nonce, HR)
    assert decision.verdict is Verdict.SKILL_CHANGED
    assert decision.action is not None
    assert decision.action.state is ActionState.VOID
    assert not mailbox.messages


async def test_a_file_written_anew_without_a_change_voids_nothing(
    office: Office, mailbox: Mailbox
) -> None:
    async with serve_mail(mailbox) as port:
        path = prepare(office, port)
        async with office.open() as product:
            confirmation = build_confirmation(product)
            action = await propose(confirmation, HR)
            path.write_text(f"# a word on it\n{SKILL}", encoding="utf-8")
            await confirmation.confirm(action.action_id, action.nonce, HR)
    assert len(mailbox.messages) == 1


async def test_who_lost_the_right_meanwhile_can_not_have_it_done(
    office: Office, mailbox: Mailbox
) -> None:
    async with serve_mail(mailbox) as port:
        prepare(office, port)
        async with office.open() as product:
            confirmation = build_confirmation(product)
            action = await propose(confirmation, HR)
            groups = office.company / "groups.json"
            entries = json.loads(groups.read_text("utf-8"))
            for entry in entries:
                entry["members"] = [one for one in entry["members"] if one != HR]
            groups.write_text(json.dumps(entries), encoding="utf-8")
            await import_directory(product.state.directory, office.company)
            decision = await confirmation.confirm(action.action_id, action.nonce, HR)
    assert decision.verdict is Verdict.SKILL_CHANGED
    assert not mailbox.messages


async def test_a_second_person_named_in_the_file_decides(office: Office, mailbox: Mailbox) -> None:
    text = f'{SKILL}deciders: ["user:{OPS}", "user:{HR}"]\n'
    async with serve_mail(mailbox) as port:
        prepare(office, port, text)
        async with office.open() as product:
            confirmation, deciders = build_confirmation(product), build_deciders(product)
            assert deciders.needs_second_person("tell_staff")
            chosen = await deciders.choose("tell_staff", PersonId(HR))
            action = await confirmation.propose(
                "tell_staff", PARAMETERS, asker=HR, place="dm", deciders=chosen
            )
            own = await confirmation.confirm(action.action_id, action.nonce, HR)
            other = await confirmation.confirm(action.action_id, action.nonce, OPS)
    assert chosen == {OPS}
    assert own.verdict is Verdict.NOT_YOURS
    assert other.verdict is Verdict.ACCEPTED
    assert len(mailbox.messages) == 1
