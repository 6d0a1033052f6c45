"""A look at the queue that cannot become a burden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections, transaction

TIMEOUT_SECONDS = 5.0


@contextmanager
def glance(using: str, *, timeout_seconds: float = TIMEOUT_SECONDS, settings: str = "") -> Iterator[None]:
    """Read within the block under a statement_timeout; OperationalError is raised when it strikes.

    settings is SQL that sets more, until the end of the transaction. Whatever the block writes is rolled back.
    """
    with transaction.atomic(using=using):
        with connections[using].cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{timeout_seconds * 1000:.0f}"])
            if settings:
                cursor.execute(settings)
        yield
        # Settings last until the end of the caller's transaction, unless the savepoint is rolled back.
        transaction.set_rollback(True, using=using)
