"""Ask for jobs that are under depth limits: first the credits, then the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from django.db import connections, transaction

from django_jobqueue.exceptions import UniqueKeyContended
from django_jobqueue.store import depth, enqueue
from django_jobqueue.store.enqueue import Enqueued, Key, NewJob, holders_statement, key_of, moments
from django_jobqueue.store.statement import run_on

_ROUNDS = 3
"""Tries of a call in which a live twin was found that had ended by the INSERT."""


def enqueue_bounded(jobs: Sequence[NewJob], *, using: str) -> list[Enqueued]:
    """Insert jobs as `enqueue` does, all or none, if there is room for those that are due.

    A job that only finds its live twin takes no room. Raises what `enqueue` does, and QueueFull, after which the
    caller's transaction is as it was before and can go on.
    """
    has_keys = any(job.unique_key is not None for job in jobs)
    # A transaction of its own where there is none; a savepoint only where the rows may have to be taken back.
    is_inside = connections[using].in_atomic_block and not has_keys
    for _ in range(_ROUNDS):
        try:
            with (
                enqueue.telling_of_missing_tables(using),
                nullcontext() if is_inside else transaction.atomic(using=using),
            ):
                return _take_and_insert(jobs, using)
        except _TwinEndedError as error:
            ended = error.job
    raise UniqueKeyContended(ended.task, ended.unique_key)


class _TwinEndedError(Exception):
    """A job was inserted that no credit was taken for: the live twin that was found before has ended."""

    def __init__(self, job: NewJob) -> None:
        super().__init__(job.task)
        self.job = job


def _take_and_insert(jobs: Sequence[NewJob], using: str) -> list[Enqueued]:
    asks = _who_asks(jobs, using)
    jobs = [replace(job, has_credits=True) if asking else job for job, asking in zip(jobs, asks, strict=True)]
    wanted = Counter(bound for job in jobs if job.has_credits for bound in job.bounds)
    if wanted:
        depth.take(wanted, using=using)
    rows = enqueue.enqueue(jobs, using=using)
    surplus: Counter[depth.Bound] = Counter()
    for job, asking, row in zip(jobs, asks, rows, strict=True):
        if asking is None and row.created:
            raise _TwinEndedError(job)
        if asking and not row.created:
            surplus.update(job.bounds)
    for bound, number in surplus.items():
        depth.give_back(bound.kind, bound.backend, bound.target, number, using=using)
    return rows


def _who_asks(jobs: Sequence[NewJob], using: str) -> list[bool | None]:
    """Say of each job whether it needs a credit; None where a live twin stands for it."""
    due = _due(jobs, using)
    keys = _held_keys(jobs, using)
    asks: list[bool | None] = []
    for job, is_due in zip(jobs, due, strict=True):
        if job.bounds and job.unique_key is not None:
            if key_of(job) in keys:
                asks.append(None)
                continue
            keys.add(key_of(job))
        asks.append(bool(job.bounds) and is_due)
    return asks


def _due(jobs: Sequence[NewJob], using: str) -> list[bool]:
    """Say of each job whether it is due, by PostgreSQL's clock."""
    if all(job.run_after is None for job in jobs):
        return [True] * len(jobs)
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT COALESCE(moment <= statement_timestamp(), true) "
            "FROM unnest(%s::timestamptz[]) WITH ORDINALITY AS given (moment, position) ORDER BY position",
            [moments(jobs)],
        )
        return [is_due for (is_due,) in cursor.fetchall()]


def _held_keys(jobs: Sequence[NewJob], using: str) -> set[Key]:
    keyed = [job for job in jobs if job.bounds and job.unique_key is not None]
    return {*run_on(connections[using], holders_statement(keyed))} if keyed else set()
