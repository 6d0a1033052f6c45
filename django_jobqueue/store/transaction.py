"""A transaction of the queue's own, on one of Django's connections, in the isolation that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction
from psycopg.pq import TransactionStatus


@contextmanager
def own_commits(using: str) -> Iterator[None]:
    """Have transactions in the block committed where a project has AUTOCOMMIT off: there Django's atomic() does not.

    Raises RuntimeError where a transaction is open: whoever began it has to end it.
    """
    connection = connections[using]
    if connection.in_atomic_block or connection.get_autocommit():
        yield
        return
    if connection.connection.info.transaction_status != TransactionStatus.IDLE:
        raise RuntimeError(
            f"a transaction is open on {using!r}, as AUTOCOMMIT is off there; commit or roll it back before"
        )
    connection.set_autocommit(True)
    try:
        yield
    finally:
        connection.set_autocommit(False)


@contextmanager
def read_committed(using: str, *, durable: bool = False) -> Iterator[None]:
    """Open a transaction that sees what others commit meanwhile, whatever isolation the project prefers.

    The queue's guards compare with the newest row; under REPEATABLE READ the loser of a race would get an error
    where READ COMMITTED gives it an answer. Inside a caller's transaction the caller's isolation stands;
    with `durable` there must be none, or Django raises RuntimeError.
    """
    with _isolated(using, "READ COMMITTED", durable=durable):
        yield


@contextmanager
def snapshot(using: str) -> Iterator[None]:
    """Open a transaction that only reads, and sees one moment; inside a caller's that is up to the caller."""
    with _isolated(using, "REPEATABLE READ READ ONLY"):
        yield


@contextmanager
def _isolated(using: str, level: str, *, durable: bool = False) -> Iterator[None]:
    connection = connections[using]
    outermost = not connection.in_atomic_block
    with transaction.atomic(using=using, durable=durable):
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        yield
