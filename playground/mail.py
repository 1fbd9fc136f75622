"""A real SMTP server on loopback that keeps every message for people to look at."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

MOST_BYTES = 2**20
MOST_MAILS = 500
MOST_SHOWN_CHARS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A message that was taken, and who it went to by the envelope."""

    number: int
    sender: str
    recipients: tuple[str, ...]
    subject: str
    date: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return it as the mailbox page shows it."""
        return {
            "number": self.number,
            "from": self.sender,
            "to": list(self.recipients),
            "subject": self.subject,
            "date": self.date,
            "text": self.text,
        }


class Mailbox:
    """Takes messages; of very many the oldest go.

    Attributes:
        on_arrival: Called after each.
        port: Where the server listens, while it does.
    """

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.on_arrival: Callable[[], None] = lambda: None
        self.port = 0
        self._taken = 0

    def mails_for(self, address: str) -> Sequence[Mail]:
        """Return what came to an address, oldest first."""
        wanted = address.casefold()
        return [one for one in self.mails if wanted in {to.casefold() for to in one.recipients}]

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        """Take a message."""
        content = envelope.content
        data = content if isinstance(content, bytes) else str(content).encode()
        self._taken += 1
        self.mails.append(_read(self._taken, data, envelope))
        del self.mails[:-MOST_MAILS]
        self.on_arrival()
        return "250 taken"


def _read(number: int, data: bytes, envelope: Envelope) -> Mail:
    message = message_from_bytes(data, policy=default)
    body = message.get_body(("plain", "html")) if isinstance(message, EmailMessage) else None
    return Mail(
        number=number,
        sender=str(message.get("From") or envelope.mail_from or ""),
        recipients=tuple(envelope.rcpt_tos),
        subject=str(message.get("Subject") or ""),
        date=str(message.get("Date") or ""),
        text=str(body.get_content() if body is not None else "")[:MOST_SHOWN_CHARS],
    )


@asynccontextmanager
async def serve_mail(mailbox: Mailbox, *, port: int = 0) -> AsyncIterator[None]:
    """Serve on loopback until the block ends; port 0 = a free one."""
    loop = asyncio.get_running_loop()

    def build() -> SMTP:
        return SMTP(
            mailbox,
            data_size_limit=MOST_BYTES,
            enable_SMTPUTF8=True,
            hostname="mail.playground.example",
            loop=loop,
        )

    server = await loop.create_server(build, "127.0.0.1", port)
    mailbox.port = int(server.sockets[0].getsockname()[1])
    try:
        yield
    finally:
        server.close()
