"""A real SMTP server on loopback, with faults on demand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default

from aiosmtpd.smtp import SMTP, Envelope, Session


class Mailbox:
    """Takes messages.

    Attributes:
        refuse: What is said to the next messages instead of taking them, such as "452 full".
        refuse_recipients: Addresses that are refused.
        hang: Whether a message is taken without a reply.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.recipients: list[str] = []
        self.refuse = ""
        self.refuse_recipients: set[str] = set()
        self.hang = False

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
        address: str,
        rcpt_options: list[str],  # noqa: ARG002
    ) -> str:
        if address in self.refuse_recipients:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        if self.refuse:
            return self.refuse
        content = envelope.content
        data = content if isinstance(content, bytes) else str(content).encode()
        self.messages.append(message_from_bytes(data, policy=default))
        self.recipients += envelope.rcpt_tos
        if self.hang:
            await asyncio.sleep(3600)
        return "250 taken"


@asynccontextmanager
async def serve_mail(mailbox: Mailbox) -> AsyncIterator[int]:
    """Serve until the block ends; yields the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(mailbox, hostname="mail.example", loop=loop), "127.0.0.1", 0
    )
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()
