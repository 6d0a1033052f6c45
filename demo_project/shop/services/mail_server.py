"""The mail server: takes mail by SMTP and keeps it in a Maildir.

- `…@bounce.example` is refused for good (550)
- `…@greylist.example` is refused twice (450), then taken: some servers wait for another try
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections import Counter
from mailbox import Maildir
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

GREYLISTED_TRIES = 2


class Inbox:
    """An aiosmtpd handler: decides who may be written to, and keeps the mail."""

    def __init__(self, folder: Path) -> None:
        self.maildir = Maildir(folder)
        self._tries: Counter[str] = Counter()

    async def handle_RCPT(  # noqa: N802 - the name aiosmtpd calls
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        rcpt_options: list[str],
    ) -> str:
        match address.rpartition("@")[2].lower():
            case "bounce.example":
                return "550 5.1.1 no such mailbox"
            case "greylist.example":
                self._tries[address] += 1
                if self._tries[address] <= GREYLISTED_TRIES:
                    return "450 4.2.0 greylisted, try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - the name aiosmtpd calls
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        self.maildir.add(envelope.original_content or b"")
        return "250 OK"


async def serve(inbox: Inbox, port: int, stopped: asyncio.Event) -> None:
    """Take mail on loopback until `stopped` is set. Prints the port it listens on."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(inbox, hostname="mail.larkspur.example", loop=loop), "127.0.0.1", port
    )
    async with server:
        host, bound = server.sockets[0].getsockname()
        sys.stdout.write(f"listening on {host}:{bound}\n")
        sys.stdout.flush()
        await stopped.wait()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--inbox", type=Path, required=True)
    options = parser.parse_args()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await serve(Inbox(options.inbox), options.port, stopped)


if __name__ == "__main__":
    asyncio.run(main())
