"""A transaction of the queue's own, on one of Django's connections."""

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
    connection = connections[using]
    outermost = not connection.in_atomic_block
    with transaction.atomic(using=using, durable=durable):
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        yield
