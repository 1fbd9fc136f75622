"""Skills that send an e-mail."""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from bot.agent.actions import Parameters
from bot.agent.email_check import MOST_BODY_CHARS, MOST_SUBJECT_CHARS
from bot.agent.email_skill import EmailSkill
from bot.agent.skills.building import Built, SkillParts
from bot.agent.skills.definition import EmailSkillFile, Items, Parameter, Words
from bot.agent.skills.parameters import build_schema
from bot.agent.skills.skill_file import SkillFile
from bot.agent.skills.standard_parameters import choose_parameters
from bot.agent.write_skill import SkillResult
from core.errors import PermanentError

_BETWEEN = re.compile(r"[,;，；、\s]+")
_ADDRESSES = Items(type="string", format="email")
STANDARD: Mapping[str, Parameter] = {
    "to": Parameter(
        type="array",
        items=_ADDRESSES,
        description="E-mail addresses of the recipients",
        title=Words(zh="收件人", en="To"),
        required=True,
    ),
    "cc": Parameter(
        type="array",
        items=_ADDRESSES,
        description="E-mail addresses of those who get a copy",
        title=Words(zh="抄送", en="Cc"),
    ),
    "subject": Parameter(
        description="The subject, in one line",
        title=Words(zh="主题", en="Subject"),
        max_length=MOST_SUBJECT_CHARS,
        required=True,
    ),
    "body": Parameter(
        description="The whole text, with greeting and closing",
        title=Words(zh="正文", en="Text"),
        max_length=MOST_BODY_CHARS,
        required=True,
    ),
}


def build_mail(file: SkillFile, parts: SkillParts) -> Built:
    """Build a skill.

    Raises:
        SkillFileError: No mail server is set, or something has nowhere to come from.
    """
    definition = file.read_as(EmailSkillFile)
    mail = parts.mail
    if not mail.is_configured:
        raise file.fail("no mail server is set; set host and sender under [mail]", "kind")
    parameters = choose_parameters(file, STANDARD, {"to", "subject", "body"})
    return Built(
        act=SendMail(EmailSkill(mail, parts.clock), definition.allowed_domains),
        schema=build_schema(parameters),
        fields={name: one.title for name, one in STANDARD.items()},
        version={"mail": EmailSkill(mail, parts.clock).definition_hash},
    )


class SendMail:
    """Sends one e-mail, to allowed domains only."""

    def __init__(self, skill: EmailSkill, allowed_domains: tuple[str, ...]) -> None:
        self._skill = skill
        self._domains = frozenset(one.lower().lstrip("@") for one in allowed_domains)

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return to, cc, subject and body; raises as `WriteSkill.normalise`."""
        split = {
            name: _split(value) if name in {"to", "cc"} else value
            for name, value in parameters.items()
        }
        found = self._skill.normalise(split)
        for name in ("to", "cc"):
            addresses = found[name]
            for one in addresses if isinstance(addresses, list) else []:
                self._check_domain(str(one))
        return found

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Send it."""
        return await self._skill.run(parameters, idempotency_key=idempotency_key)

    def _check_domain(self, address: str) -> None:
        domain = address.rpartition("@")[2].lower()
        if self._domains and domain not in self._domains:
            raise PermanentError(
                f"{address!r} is outside {', '.join(sorted(self._domains))}, where this may not go"
            )


def _split(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    return [one for one in _BETWEEN.split(value) if one]
