"""The e-mail skill: one message, sent once, through an SMTP server."""

import asyncio
from collections.abc import Mapping, Sequence
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import format_datetime

import aiosmtplib
from pydantic import JsonValue

from bot.agent.actions import ActionState, Parameters, hash_parameters
from bot.agent.email_check import check_email
from bot.agent.write_skill import SkillResult
from core.clock import Clock
from core.errors import PermanentError
from core.settings import MailSettings

NAME = "send_email"


class EmailSkill:
    """Sends an e-mail after confirmation.

    The Message-ID comes from the idempotency key, so that a message sent twice by force is
    recognisable as one by mailboxes.
    """

    name = NAME

    def __init__(self, settings: MailSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    @property
    def definition_hash(self) -> str:
        """Of server, sender and where it may go: another one is another action."""
        settings = self._settings
        return hash_parameters(
            {
                "skill": NAME,
                "host": settings.host,
                "port": settings.port,
                "from": settings.sender,
                "domains": [*sorted(settings.allowed_domains)],
            }
        )

    @property
    def settings(self) -> MailSettings:
        """Where it goes out, and to whom it may."""
        return self._settings

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        """Return to, cc, subject and body; raises as `WriteSkill.normalise`."""
        unknown = sorted(parameters.keys() - {"to", "cc", "subject", "body"})
        if unknown:
            raise PermanentError(f"an e-mail has no {unknown[0]!r}; it has to, cc, subject, body")
        email = check_email(parameters, self._settings)
        if email.problems:
            raise PermanentError("; ".join(str(one) for one in email.problems))
        return {"to": email.to, "cc": email.cc, "subject": email.subject, "body": email.body}

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        """Send it.

        Before the text was handed over nothing has been sent: such errors are `failed`. Afterwards
        nobody knows: `unknown`.
        """
        message = self._build(parameters, idempotency_key)
        client = aiosmtplib.SMTP(
            hostname=self._settings.host,
            port=self._settings.port,
            timeout=self._settings.timeout_s,
            use_tls=self._settings.security == "tls",
            start_tls=self._settings.security == "starttls",
        )
        try:
            await client.connect()
            password = self._settings.password.get_secret_value()
            if self._settings.user:
                await client.login(self._settings.user, password)
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            client.close()
            return SkillResult(state=ActionState.FAILED, text=f"the mail server refused: {error}")
        return await self._hand_over(client, message)

    async def _hand_over(self, client: aiosmtplib.SMTP, message: EmailMessage) -> SkillResult:
        try:
            refused, reply = await client.send_message(message)
        except aiosmtplib.SMTPResponseException as error:
            text = f"the mail server said {error.code} {error.message}"
            return SkillResult(state=ActionState.FAILED, text=text)
        except aiosmtplib.SMTPRecipientsRefused as error:
            names = ", ".join(one.recipient for one in error.recipients)
            return SkillResult(state=ActionState.FAILED, text=f"no recipient accepted: {names}")
        except (aiosmtplib.SMTPException, OSError, TimeoutError) as error:
            text = f"the connection broke while it was sent: {error}"
            return SkillResult(state=ActionState.UNKNOWN, text=text)
        finally:
            await _say_goodbye(client)
        if refused:
            names = ", ".join(sorted(refused))
            return SkillResult(state=ActionState.DONE, text=f"sent, but refused for: {names}")
        return SkillResult(state=ActionState.DONE, text=reply)

    def _build(self, parameters: Parameters, key: str) -> EmailMessage:
        message = EmailMessage()
        domain = self._settings.sender.rpartition("@")[2]
        try:
            message["From"] = self._settings.sender
            message["To"] = ", ".join(_strings(parameters["to"]))
            if parameters.get("cc"):
                message["Cc"] = ", ".join(_strings(parameters["cc"]))
            message["Subject"] = str(parameters["subject"])
            message["Message-ID"] = f"<{key}@{domain}>"
            message["Date"] = format_datetime(self._clock.now())
            message.set_content(str(parameters["body"]))
        except (MessageError, ValueError) as error:
            raise PermanentError(f"this can't be an e-mail: {error}") from error
        return message


async def _say_goodbye(client: aiosmtplib.SMTP) -> None:
    try:
        async with asyncio.timeout(1):
            await client.quit()
    except (aiosmtplib.SMTPException, OSError, TimeoutError):
        client.close()


def _strings(value: JsonValue) -> Sequence[str]:
    return [str(one) for one in value] if isinstance(value, list) else []
