"""What waits for a commit that a TestCase never makes."""

from __future__ import annotations

from django.db import connections

from django_jobqueue.any_task import names_of
from django_jobqueue.compat import AnyTask
from django_jobqueue.database import queue_options
from django_jobqueue.store import deferred


def come_to_the_commit(backend: str) -> None:
    """Insert the jobs that wait for the commit of a TestCase's transaction, as that commit would.

    In production the block that asked for them has been committed by now. While the test itself has one open they wait
    for its end. Nothing waits where rows and queue are on one alias, or in a TransactionTestCase.
    """
    rows = queue_options(backend).transaction_database
    blocks = connections[rows].atomic_blocks if rows in connections else []
    if blocks and getattr(blocks[-1], "_from_testcase", False):
        for batch in reversed(deferred.batches(rows)):
            batch()


def words_for_waiting(task: AnyTask) -> str:
    """Say how many jobs of a task still wait, and for what; nothing if there is none."""
    rows = queue_options(task.backend).transaction_database
    names = names_of(task)
    count = sum(wish.job.task in names for batch in deferred.batches(rows) for wish in batch.wishes)
    return f"; {count} wait{'s' * (count == 1)} for the commit of the transaction on {rows!r}" if count else ""
