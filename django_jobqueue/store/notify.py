"""Wake workers that wait for jobs.

A notification says "look", not what there is: its payload is empty, or says that a running job is
to stop, so there is no limit to think of, and losing one costs a poll or the wait for a renewal. It
is sent after the commit that makes the job visible, in a statement of its own, because a NOTIFY
inside a transaction makes its commit wait for every other that notifies. One in 50 ms is enough: a
worker that was woken looks again and again for longer than that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from functools import partial

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

CHANNEL = "django_jobqueue"

LOOK, STOP = "", "stop"
"""The payloads: there may be something to claim; a running job is to stop."""

QUIET_SECONDS = 0.05
"""After a notification for a queue this process sends no other for it as long as this."""

_sent_at: dict[tuple[str, str], float] = {}


def announce(using: str, queue_names: Iterable[str]) -> None:
    """Tell workers that these queues have jobs that may start, once they are committed.

    Never fails, never harms a transaction.
    """
    names = frozenset(queue_names)
    connection = connections[using]
    if not names:
        return
    if connection.in_atomic_block:
        transaction.on_commit(partial(_announce, using, names), using=using, robust=True)
    elif connection.get_autocommit():
        _announce(using, names)
    # Where the project commits by hand nobody tells when; workers find the job when they poll.


def ask_to_stop(using: str) -> None:
    """Tell workers, once it is committed, that a person wants a running job cancelled. Never fails."""
    connection = connections[using]
    if connection.in_atomic_block:
        transaction.on_commit(partial(_send, using, STOP), using=using, robust=True)
    elif connection.get_autocommit():
        _send(using, STOP)


def _announce(using: str, names: frozenset[str]) -> None:
    if _claim_turn(using, names):
        _send(using, LOOK)


def _send(using: str, payload: str) -> None:
    connection = connections[using]
    try:
        if connection.in_atomic_block:
            # Only a test runs its on_commit callbacks inside a transaction.
            with transaction.atomic(using=using):
                _notify(connection, payload)
        else:
            _notify(connection, payload)
    except Exception:
        logger.debug("Cannot notify workers; they will find out when they look", exc_info=True)


def _claim_turn(using: str, names: frozenset[str]) -> bool:
    """Say whether a notification is due for any of these queues, and note it as sent.

    Without a lock, which a fork could leave locked: two threads at once send two notifications, and that is all.
    """
    now = time.monotonic()
    due = [name for name in names if now - _sent_at.get((using, name), float("-inf")) >= QUIET_SECONDS]
    for name in due:
        _sent_at[using, name] = now
    return bool(due)


def _notify(connection: BaseDatabaseWrapper, payload: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])
