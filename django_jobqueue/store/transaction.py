"""A transaction of the queue's own, on one of Django's connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction


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
