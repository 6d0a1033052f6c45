"""A job and the record of its success in one transaction: both are committed, or neither.

The lease is compared in the last statement before the COMMIT, under the lock of the job's row. So a worker that has
lost its lease rolls back what it did, and no lock is held while the task runs (but for the key of a `once` inside of
it, which is held from there on). With the records of `once` it is the only write to the queue that a runner makes, and
only under the token that its order has brought.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from django.db import connections, transaction

from django_jobqueue import failpoint, running
from django_jobqueue.exceptions import LeaseLost
from django_jobqueue.payload.storable_text import Cover, describe
from django_jobqueue.policy.outcomes import Committed, Outcome, Succeeded
from django_jobqueue.store.finish_here import finish_here
from django_jobqueue.store.transaction import read_committed
from django_jobqueue.worker.discretion import cover_any

logger = logging.getLogger("django_jobqueue.worker")


class _Undone(Exception):
    """Rolls back the work of an attempt that did not succeed."""


def run_atomic(
    call: Callable[[], Outcome],
    tell_committed: Callable[[], None],
    *,
    job_id: int,
    token: UUID,
    using: str,
    cover: Cover = cover_any,
) -> Outcome | Committed:
    """Make a call, and commit what it wrote together with its success; any other outcome undoes it.

    `tell_committed` is called right after the COMMIT: the callbacks of the task's transaction may take their time.
    `cover` hides secrets in what is logged of a callback. Raises LeaseLost, or whatever the COMMIT raises; nothing is
    committed then.
    """
    outcome: Outcome = Succeeded()
    is_committed = False

    def note() -> None:
        nonlocal is_committed
        is_committed = True
        if attempt := running.attempt.get():
            running.attempt.set(replace(attempt, has_committed=True))
        tell_committed()

    _let_atomic_commit(using)
    try:
        # Renewals change the job's row meanwhile: under a stricter isolation the last write to it would fail.
        with read_committed(using):
            # The first callback that runs, so what fails after it has failed after the COMMIT.
            transaction.on_commit(note, using=using)
            outcome = call()
            if not isinstance(outcome, Succeeded):
                raise _Undone
            if not finish_here(job_id, token, outcome.result, using=using):
                raise LeaseLost(f"another worker has job {job_id} by now; what this attempt wrote is rolled back")
    except _Undone:
        return outcome
    except BaseException as error:
        if not is_committed:
            raise
        failure = describe(error, cover=cover)
        logger.error(
            "job %s is committed; a callback of its transaction raised %s: %s\n%s",
            job_id,
            failure.exception_class,
            failure.message,
            failure.traceback,
        )
    failpoint.hit("committed")
    return Committed()


def _let_atomic_commit(using: str) -> None:
    """Switch autocommit on where a project has it off: there Django's atomic() commits nothing by itself.

    The slate is wiped after the attempt, and that comes with it.
    """
    connection = connections[using]
    if not connection.in_atomic_block and not connection.get_autocommit():
        connection.rollback()
        connection.set_autocommit(True)
