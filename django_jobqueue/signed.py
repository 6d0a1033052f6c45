"""Who does something and why, as it is kept with the deed."""

from __future__ import annotations

from typing import Protocol

from django_jobqueue import guard
from django_jobqueue.models import AuditEntry
from django_jobqueue.payload import storable_text

MAX_TEXT_CHARS = 4000
"""Of a reason; longer ones lose their middle."""


class User(Protocol):
    """Whoever has a name; Django's users do."""

    def get_username(self) -> str: ...


def name_of(by: User | str) -> str:
    """Return the name that is kept. Raises ValueError for none, and InvalidPayload for a secret of the job's."""
    name = text_of(by if isinstance(by, str) else by.get_username(), "by")
    if not name:
        raise ValueError("`by` is empty; say who does this: a user, or the name of a program")
    return name[: AuditEntry._meta.get_field("actor").max_length]


def text_of(value: str, name: str = "reason") -> str:
    """Return a text as it can be stored. Raises InvalidPayload where the value of a secret of the job is in it."""
    guard.require_nothing_spilled({name: value}, remedy="say it in other words")
    return storable_text.storable(value, MAX_TEXT_CHARS).strip()
