"""Ask for jobs: insert them in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import ProgrammingError, connections
from psycopg.errors import UndefinedTable

from django_jobqueue.exceptions import MissingTables
from django_jobqueue.store.statement import Row, Statement, array, run_on, text_array


@dataclass(frozen=True, slots=True)
class NewJob:
    """What a producer asks for. args, kwargs and metadata are JSON text, already checked by `payload`."""

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


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of a NewJob: its id, and whether it may start now."""

    id: int
    status: str
    enqueued_at: datetime


def enqueue(jobs: Sequence[NewJob], *, using: str) -> list[Enqueued]:
    """Insert jobs, in order, with one statement; the answer keeps their order.

    Runs in the caller's transaction, or commits by itself where there is none. Raises MissingTables.
    """
    if not jobs:
        return []
    try:
        return run_on(connections[using], _statement(jobs))
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            raise MissingTables(using) from error
        raise


def _statement(jobs: Sequence[NewJob]) -> Statement[list[Enqueued]]:
    params = {
        "backends": text_array([job.backend for job in jobs]),
        "tasks": text_array([job.task for job in jobs]),
        "versions": array([str(job.version) for job in jobs]),
        "args": text_array([job.args for job in jobs]),
        "kwargs": text_array([job.kwargs for job in jobs]),
        "queue_names": text_array([job.queue_name for job in jobs]),
        "priorities": array([str(job.priority) for job in jobs]),
        "run_afters": array(["NULL" if job.run_after is None else f'"{job.run_after.isoformat()}"' for job in jobs]),
        "max_attempts": array([str(job.max_attempts) for job in jobs]),
        "metadata": text_array([job.metadata for job in jobs]),
    }
    return Statement("enqueue", params, _read)


def _read(rows: list[Row]) -> list[Enqueued]:
    # RETURNING follows the order of insertion, which ORDER BY position fixed; ids come from a sequence, so they agree.
    return [Enqueued(*row) for row in rows]
