"""Whether something can be an e-mail, and what is wrong with which field if not. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from core.settings import MailSettings

MOST_RECIPIENTS = 50
# What fits into a field of a form.
MOST_ADDRESS_CHARS = 3_000
MOST_BODY_CHARS = 100_000
MOST_SUBJECT_CHARS = 400
# What mail servers take as one address, no more: no display names, comments or quotes.
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


class Flaw(StrEnum):
    """What can be wrong with a field."""

    MISSING = "missing"
    NO_TEXT = "no text"
    NO_ADDRESS = "no address"
    DOMAIN = "domain"
    TOO_MANY = "too many"
    TOO_LONG = "too long"


_SAID: Mapping[Flaw, str] = {
    Flaw.MISSING: "an e-mail needs something in {field!r}",
    Flaw.NO_TEXT: "{field!r} of an e-mail is a text, addresses are a list of texts",
    Flaw.NO_ADDRESS: (
        "{value!r} in {field!r} is no e-mail address; write it as name@company.example"
    ),
    Flaw.DOMAIN: "{value!r} in {field!r} is outside of what mail.allowed_domains lets through",
    Flaw.TOO_MANY: "an e-mail goes to {limit} addresses at most",
    Flaw.TOO_LONG: "{field!r} has {value} characters; {limit} are allowed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong with one field.

    Attributes:
        value: The part that is wrong, where it can be named.
        limit: What would be allowed, where there is a limit.
    """

    field: str
    flaw: Flaw
    value: str = ""
    limit: int = 0

    def __str__(self) -> str:
        """Say it to an operator or a model."""
        return _SAID[self.flaw].format(field=self.field, value=self.value, limit=self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    """Fields in canonical form; they can be sent when there are no problems."""

    to: list[JsonValue]
    cc: list[JsonValue]
    subject: str
    body: str
    problems: tuple[Problem, ...]


def check_email(parameters: Mapping[str, JsonValue], settings: MailSettings) -> Email:
    """Read the fields of an e-mail."""
    problems: list[Problem] = []
    to = _read_addresses(parameters, "to", settings, problems)
    cc = [one for one in _read_addresses(parameters, "cc", settings, problems) if one not in to]
    subject = " ".join(_read_text(parameters, "subject", MOST_SUBJECT_CHARS, problems).split())
    body = _read_text(parameters, "body", MOST_BODY_CHARS, problems)
    body = body.replace("\r\n", "\n").strip()
    told = {one.field for one in problems}
    problems += [
        Problem(field=field, flaw=Flaw.MISSING)
        for field, value in (("to", to), ("subject", subject), ("body", body))
        if not value and field not in told
    ]
    if len(to) + len(cc) > MOST_RECIPIENTS:
        field = "to" if len(to) > MOST_RECIPIENTS else "cc"
        problems.append(Problem(field=field, flaw=Flaw.TOO_MANY, limit=MOST_RECIPIENTS))
    return Email(to=[*to], cc=[*cc], subject=subject, body=body, problems=tuple(problems))


def is_outside(address: str, settings: MailSettings) -> bool:
    """Tell whether an address is not of the sender's own domain."""
    return not address.lower().endswith(f"@{_domain_of(settings.sender)}")


def _read_addresses(
    parameters: Mapping[str, JsonValue],
    field: str,
    settings: MailSettings,
    problems: list[Problem],
) -> list[str]:
    value = parameters.get(field)
    items = value if isinstance(value, list) else [] if value is None else [value]
    given: list[str] = []
    for item in items:
        if not isinstance(item, str):
            problems.append(Problem(field=field, flaw=Flaw.NO_TEXT))
            continue
        address = item.strip()
        if not _ADDRESS.fullmatch(address):
            problems.append(Problem(field=field, flaw=Flaw.NO_ADDRESS, value=address))
        elif not _is_allowed(address, settings.allowed_domains):
            problems.append(Problem(field=field, flaw=Flaw.DOMAIN, value=address))
        else:
            given.append(address)
    found = list(dict.fromkeys(given))
    if (size := len(", ".join(found))) > MOST_ADDRESS_CHARS:
        problems.append(
            Problem(field=field, flaw=Flaw.TOO_LONG, value=str(size), limit=MOST_ADDRESS_CHARS)
        )
    return found


def _is_allowed(address: str, domains: tuple[str, ...]) -> bool:
    domain = _domain_of(address)
    return not domains or any(
        domain.endswith(one[1:].lower()) if one.startswith("*.") else domain == one.lower()
        for one in domains
    )


def _domain_of(address: str) -> str:
    return address.rpartition("@")[2].lower()


def _read_text(
    parameters: Mapping[str, JsonValue], field: str, limit: int, problems: list[Problem]
) -> str:
    value = parameters.get(field, "")
    if not isinstance(value, str):
        problems.append(Problem(field=field, flaw=Flaw.NO_TEXT))
        return ""
    if len(value) > limit:
        size = str(len(value))
        problems.append(Problem(field=field, flaw=Flaw.TOO_LONG, value=size, limit=limit))
    return value
