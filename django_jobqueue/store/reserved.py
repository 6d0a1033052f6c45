"""Ask for jobs in two steps: their ids now, the rows later. For a queue on another database than the caller's rows.

reserve            take ids from the sequence of the table
holders            the live jobs that hold keys now
enqueue_reserved   insert the rows under these ids
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from django.db import InterfaceError, OperationalError, ProgrammingError, connections, transaction
from psycopg.errors import InsufficientPrivilege

from django_jobqueue.exceptions import MissingGrant
from django_jobqueue.models import Job
from django_jobqueue.store.enqueue import (
    Enqueued,
    Key,
    NewJob,
    holders_statement,
    in_chunks,
    telling_of_missing_tables,
    unique_params,
)
from django_jobqueue.store.statement import Row, Statement, array, run_on


def reserve(count: int, *, using: str) -> list[int]:
    """Take ids that no other job will get, in order. Raises MissingTables, or MissingGrant."""
    if not count:
        return []
    table, column = Job._meta.db_table, Job._meta.pk.column
    with telling_of_missing_tables(using), _telling_of_missing_grant(using), connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [connections[using].ops.quote_name(table), column, count],
        )
        return sorted(number for (number,) in cursor.fetchall())


@contextmanager
def _telling_of_missing_grant(using: str) -> Iterator[None]:
    try:
        yield
    except ProgrammingError as error:
        if isinstance(error.__cause__, InsufficientPrivilege):
            # PostgreSQL's own name for it, unless somebody has given it another.
            raise MissingGrant(using, f"{Job._meta.db_table}_{Job._meta.pk.column}_seq") from error
        raise


def holders(jobs: Sequence[NewJob], *, using: str) -> dict[Key, Enqueued]:
    """Find the live jobs that hold the keys of these. Raises MissingTables."""
    keyed = [job for job in jobs if job.unique_key is not None]
    if not keyed:
        return {}
    with telling_of_missing_tables(using):
        return run_on(connections[using], holders_statement(keyed))


def enqueue_reserved(jobs: Mapping[int, NewJob], *, using: str) -> dict[int, Enqueued]:
    """Insert jobs under their ids, all or none, but for those whose key a live job holds: they have no answer.

    Runs in the transaction that is open on `using`, or commits by itself. Then it is tried a second time where it had
    met other transactions, and on a new connection where this one turns out to be dead: it may have been idle since the
    ids were taken.
    """
    connection = connections[using]
    try:
        return _insert(jobs, using)
    except (OperationalError, InterfaceError) as error:
        if connection.in_atomic_block or not connection.autocommit:
            raise
        if not _has_met_others(error):
            # A session that lives has settings that a new one lacks, and would be refused again.
            if connection.is_usable():
                raise
            connection.close()
        # If the answer alone was lost, the rows are found under their ids.
        return _insert(jobs, using)


def _has_met_others(error: Exception) -> bool:
    """Whether PostgreSQL rolled it back for the sake of other transactions: a deadlock, a serialization failure."""
    return str(getattr(error.__cause__, "sqlstate", None)).startswith("40")


def _insert(jobs: Mapping[int, NewJob], using: str) -> dict[int, Enqueued]:
    ids = list(jobs)
    chunks = [[ids[index] for index in chunk] for chunk in in_chunks(list(jobs.values()))]
    answers: dict[int, Enqueued] = {}
    with nullcontext() if len(chunks) == 1 else transaction.atomic(using=using):
        for chunk in chunks:
            inserted: dict[int, Enqueued] = run_on(
                connections[using], _statement({number: jobs[number] for number in chunk})
            )
            answers |= inserted
        if missing := jobs.keys() - answers.keys():
            there = Job.objects.using(using).filter(pk__in=missing).values_list("id", "status", "enqueued_at")
            answers |= _by_id([*there])
    return answers


def _statement(jobs: Mapping[int, NewJob]) -> Statement[dict[int, Enqueued]]:
    params = unique_params(list(jobs.values())) | {"ids": array([str(number) for number in jobs])}
    return Statement("enqueue_reserved", params, _by_id, "new_state")


def _by_id(rows: list[Row]) -> dict[int, Enqueued]:
    return {row[0]: Enqueued(*row) for row in rows}
