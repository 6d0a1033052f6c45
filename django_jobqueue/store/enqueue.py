"""Ask for jobs: insert them in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from django.db import ProgrammingError, connections, transaction
from psycopg.errors import UndefinedTable

from django_jobqueue.exceptions import MissingTables, UniqueKeyContended
from django_jobqueue.store.depth import KINDS, Bound
from django_jobqueue.store.statement import Row, Statement, array, run_on, text_array

ROWS_PER_STATEMENT = 1000
"""Jobs that one INSERT carries."""

_ROUNDS = 3
"""Tries to insert a key or find who holds it. Each that fails has met a holder that ended in between."""


class Gates(NamedTuple):
    """What a job waits for besides its moment: a slot under each limit, its turn, a place, tokens. None is nothing."""

    concurrency_key: str | None = None
    key_limit: int | None = None
    task_limit: int | None = None
    queue_limit: int | None = None
    order_key: str | None = None
    order_blocks: bool = False
    share_weight: int | None = None
    rate_key: str | None = None


OPEN = Gates()


@dataclass(frozen=True, slots=True)
class NewJob:
    """What a producer asks for. args, kwargs and metadata are JSON text, already checked by `payload`."""

    # A new field is also a column of enqueue.sql, enqueue_unique.sql and enqueue_reserved.sql, four times in each (the
    # lists of INSERT, SELECT, unnest and AS new), an array in `_params` or `unique_params`, and is filled in by
    # `JobQueueBackend._call`.

    task: str
    args: str = "[]"
    kwargs: str = "{}"
    backend: str = "default"
    version: int = 1
    queue_name: str = "default"
    priority: int = 0
    run_after: datetime | None = None
    max_attempts: int = 3
    metadata: str = "{}"
    unique_key: str | None = None
    unique_until_started: bool = False
    gates: Gates = OPEN
    bounds: tuple[Bound, ...] = ()
    """The depth limits that it is under; `bounded` keeps them."""
    has_credits: bool = False
    """Whether a credit of each was taken for it; else it counts by its row."""


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of a NewJob: its id, whether it may start now, and whether it was there already."""

    id: int
    status: str
    enqueued_at: datetime
    created: bool = True


def enqueue(jobs: Sequence[NewJob], *, using: str) -> list[Enqueued]:
    """Insert jobs, all or none; the answer is in their order. What a live job with the same key stands for is that job.

    Jobs without a key get their ids in order. Those with keys wait where a twin is not committed yet. Runs in the
    caller's transaction, or commits by itself where there is none.

    Raises MissingTables, or UniqueKeyContended. PostgreSQL's own error is passed on where two transactions wait for
    each other's keys, and under REPEATABLE READ where the holder of a key has changed since the snapshot.
    """
    if not jobs:
        return []
    chunks = in_chunks(jobs)
    is_one_statement = len(jobs) == 1 or (len(chunks) == 1 and all(job.unique_key is None for job in jobs))
    answers: dict[int, Enqueued] = {}
    with telling_of_missing_tables(using), nullcontext() if is_one_statement else transaction.atomic(using=using):
        for chunk in chunks:
            answers |= zip(chunk, _insert([jobs[index] for index in chunk], using), strict=True)
    return [answers[index] for index in range(len(jobs))]


def in_chunks(jobs: Sequence[NewJob]) -> list[list[int]]:
    """Divide jobs, by their indices, into what one statement carries: those without a key first."""
    # In one order for all: two batches that have keys in common never wait for each other in a circle.
    order = sorted(range(len(jobs)), key=lambda index: _place(jobs[index]))
    return [order[start : start + ROWS_PER_STATEMENT] for start in range(0, len(order), ROWS_PER_STATEMENT)]


@contextmanager
def telling_of_missing_tables(using: str) -> Iterator[None]:
    """Raise MissingTables where PostgreSQL knows no such table."""
    try:
        yield
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            raise MissingTables(using) from error
        raise


def _place(job: NewJob) -> tuple[str, str, str]:
    return ("", "", "") if job.unique_key is None else (job.backend, job.task, job.unique_key)


def _insert(jobs: Sequence[NewJob], using: str) -> list[Enqueued]:
    """Insert what `_place` has put in order: first those without a key."""
    plain = [job for job in jobs if job.unique_key is None]
    rows: list[Enqueued] = run_on(connections[using], _statement(plain)) if plain else []
    return rows + _insert_unique(jobs[len(plain) :], using)


Key = tuple[str, str, str | None]
"""What is unique: backend, task and key."""


def _insert_unique(jobs: Sequence[NewJob], using: str) -> list[Enqueued]:
    wanted: dict[Key, NewJob] = {}
    for job in jobs:
        wanted.setdefault(key_of(job), job)
    found: dict[Key, Enqueued] = {}
    for _ in range(_ROUNDS):
        missing = [job for key, job in wanted.items() if key not in found]
        if not missing:
            break
        inserted: dict[Key, Enqueued] = run_on(connections[using], _unique_statement(missing))
        found |= inserted
        if missing := [job for job in missing if key_of(job) not in found]:
            holders: dict[Key, Enqueued] = run_on(connections[using], holders_statement(missing))
            found |= holders
    rows = []
    for job in jobs:
        key = key_of(job)
        if key not in found:
            raise UniqueKeyContended(job.task, job.unique_key)
        rows.append(found[key])
        # Whoever asks for the same in this call is told of the first.
        found[key] = replace(found[key], created=False)
    return rows


def key_of(job: NewJob) -> Key:
    """Return what a job with a key is the only one of."""
    return job.backend, job.task, job.unique_key


def _params(jobs: Sequence[NewJob]) -> dict[str, str]:
    return {
        "backends": text_array([job.backend for job in jobs]),
        "tasks": text_array([job.task for job in jobs]),
        "versions": array([str(job.version) for job in jobs]),
        "args": text_array([job.args for job in jobs]),
        "kwargs": text_array([job.kwargs for job in jobs]),
        "queue_names": text_array([job.queue_name for job in jobs]),
        "priorities": array([str(job.priority) for job in jobs]),
        "run_afters": moments(jobs),
        "max_attempts": array([str(job.max_attempts) for job in jobs]),
        "metadata": text_array([job.metadata for job in jobs]),
        **_gates(jobs),
        **_credits(jobs),
    }


def moments(jobs: Sequence[NewJob]) -> str:
    return array(["NULL" if job.run_after is None else f'"{job.run_after.isoformat()}"' for job in jobs])


def _gates(jobs: Sequence[NewJob]) -> dict[str, str]:
    if all(job.gates is OPEN for job in jobs):
        # PostgreSQL fills up what is shorter than the other arrays with NULL.
        return _OPEN_GATES
    gates = [job.gates for job in jobs]
    return {
        "concurrency_keys": _texts([gate.concurrency_key for gate in gates]),
        "key_limits": _numbers([gate.key_limit for gate in gates]),
        "task_limits": _numbers([gate.task_limit for gate in gates]),
        "queue_limits": _numbers([gate.queue_limit for gate in gates]),
        "order_keys": _texts([gate.order_key for gate in gates]),
        "order_blocks": array([str(gate.order_blocks).lower() for gate in gates]),
        "share_weights": _numbers([gate.share_weight for gate in gates]),
        "rate_keys": _texts([gate.rate_key for gate in gates]),
    }


def _credits(jobs: Sequence[NewJob]) -> dict[str, str]:
    if not any(job.bounds for job in jobs):
        return _NO_CREDITS
    kinds = [frozenset(bound.kind for bound in job.bounds) for job in jobs]
    return {
        f"{kind}_credits": _numbers(
            [int(job.has_credits) if kind in under else None for job, under in zip(jobs, kinds, strict=True)]
        )
        for kind in KINDS
    }


_NO_CREDITS = {f"{kind}_credits": "{}" for kind in KINDS}


def _numbers(values: Sequence[int | None]) -> str:
    return array(["NULL" if value is None else str(value) for value in values])


def _texts(values: Sequence[str | None]) -> str:
    return array(["NULL" if value is None else text_array([value])[1:-1] for value in values])


_OPEN_GATES = dict.fromkeys(
    (
        "concurrency_keys",
        "key_limits",
        "task_limits",
        "queue_limits",
        "order_keys",
        "order_blocks",
        "share_weights",
        "rate_keys",
    ),
    "{}",
)


def unique_params(jobs: Sequence[NewJob]) -> dict[str, str]:
    """Write the columns of jobs as arrays; no key is an empty text."""
    return _params(jobs) | {
        "unique_keys": text_array([job.unique_key or "" for job in jobs]),
        "unique_until_started": array([str(job.unique_until_started).lower() for job in jobs]),
    }


def _statement(jobs: Sequence[NewJob]) -> Statement[list[Enqueued]]:
    # RETURNING follows the order of insertion, which ORDER BY position fixed; ids come from a sequence, so they agree.
    return Statement("enqueue", _params(jobs), lambda rows: [Enqueued(*row) for row in rows], "new_state")


def _unique_statement(jobs: Sequence[NewJob]) -> Statement[dict[Key, Enqueued]]:
    return Statement("enqueue_unique", unique_params(jobs), lambda rows: _by_key(rows, created=True), "new_state")


def holders_statement(jobs: Sequence[NewJob]) -> Statement[dict[Key, Enqueued]]:
    """Ask for the live jobs that hold the keys of these."""
    return Statement("unique_holders", unique_params(jobs), lambda rows: _by_key(rows, created=False))


def _by_key(rows: list[Row], *, created: bool) -> dict[Key, Enqueued]:
    return {(row[0], row[1], row[2]): Enqueued(row[3], row[4], row[5], created) for row in rows}
