"""The mails that the demo's mail server has taken. A real shop could not look in there."""

from __future__ import annotations

import email
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage
from pathlib import Path

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail, as its reader sees it."""

    message_id: str
    to: str
    subject: str
    text: str


def folder() -> Path:
    """Say where the mail server keeps what it took."""
    return Path(settings.SHOP_STATE_DIR) / "inbox"


def received(limit: int | None = None) -> list[Mail]:
    """Read the mails, newest first; all of them, or as many as `limit`."""
    # A Maildir moves a mail into new/ only when all of it is written.
    files = sorted((folder() / "new").glob("*"), key=lambda file: file.stat().st_mtime_ns)
    return [_read(file) for file in list(reversed(files))[:limit]]


def _read(file: Path) -> Mail:
    message = email.message_from_bytes(file.read_bytes(), policy=policy.default)
    body = message.get_body() if isinstance(message, EmailMessage) else None
    return Mail(
        message_id=str(message["Message-ID"]),
        to=str(message["To"]),
        subject=str(message["Subject"]),
        text=str(body.get_content()).strip() if body else "",
    )
