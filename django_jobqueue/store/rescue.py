"""Take over running jobs that nobody answers for: leases that ran out, and claims whose reply was lost."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django_jobqueue.policy.retry import Tally
from django_jobqueue.store.statement import Row, Statement, array

LIMIT = 100
"""Jobs that one statement takes over at most."""


class TakenOver(NamedTuple):
    """A running job that is now under the caller's token.

    `worker_id` is the one that lost it; `is_unwanted` says that a person wants it cancelled.
    """

    id: int
    task: str
    attempt_number: int
    token: UUID
    worker_id: UUID | None
    max_attempts: int
    tally: Tally
    is_unwanted: bool = False


class Contact(NamedTuple):
    """A worker's last sign of life, and how many seconds ago the database must find it at most."""

    worker_id: UUID
    seconds: float


def rescue(
    *,
    backend: str,
    held_tokens: Collection[UUID],
    token: UUID,
    lease_seconds: float,
    limit: int = LIMIT,
    contact: Contact | None = None,
) -> Statement[list[TakenOver]]:
    """Take over jobs whose lease has run out, but for those under the tokens that the caller holds itself.

    The caller settles them as lost. With a `contact` that is older than it says nothing is taken over.
    """
    params = {
        "rescuer": None if contact is None else str(contact.worker_id),
        "contact_seconds": None if contact is None else contact.seconds,
        "backend": backend,
        "held_tokens": array([str(held) for held in held_tokens]),
        "token": str(token),
        "lease_seconds": lease_seconds,
        "limit": limit,
    }
    return Statement("rescue", params, _read)


def recover(
    *, worker_id: UUID, lost_tokens: Collection[UUID], token: UUID, lease_seconds: float, limit: int = 1000
) -> Statement[list[TakenOver]]:
    """Take over what this worker claimed without hearing of it. lost_tokens are those of its calls that got no answer.

    The caller gives the jobs back.
    """
    params = {
        "worker_id": str(worker_id),
        "tokens": array([str(lost) for lost in lost_tokens]),
        "token": str(token),
        "lease_seconds": lease_seconds,
        "limit": limit,
    }
    return Statement("recover", params, _read)


def _read(rows: list[Row]) -> list[TakenOver]:
    return [TakenOver._make((*row[:6], Tally(*row[6:10]), row[10])) for row in rows]
