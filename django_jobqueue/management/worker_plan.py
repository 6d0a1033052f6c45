"""Check that a worker can work here, and build its plan."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

import psycopg

from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.compat import InvalidTaskBackend, task_backends
from django_jobqueue.exceptions import InvalidOptions, JobQueueError
from django_jobqueue.store.tables import require_tables
from django_jobqueue.worker.plan import WorkerPlan


def plan_for(
    alias: str,
    *,
    queues: tuple[str, ...] = (),
    excluded_queues: tuple[str, ...] = (),
    processes: int | None = None,
    threads: int | None = None,
    coroutines: int | None = None,
    grace_seconds: float | None = None,
    until_idle: bool = False,
    max_jobs: int | None = None,
) -> WorkerPlan:
    """Build the plan of a worker of TASKS[alias]; None takes what OPTIONS says.

    Raises InvalidOptions, UnsupportedDatabase or MissingTables, with what to type instead; JobQueueError where no
    worker can run.
    """
    if sys.platform == "win32":
        raise JobQueueError("workers need a POSIX system; on Windows enqueue and the admin work, workers run elsewhere")
    backend = _backend(alias)
    given: dict[str, Any] = {
        "processes": processes,
        "threads": threads,
        "coroutines": coroutines,
        "grace_seconds": grace_seconds,
    }
    # A command line has the bounds that OPTIONS have.
    options = replace(backend.options, **{name: value for name, value in given.items() if value is not None})
    backend.require_postgresql()
    # A database that cannot be asked now is one that a worker waits for.
    with suppress(psycopg.Error):
        require_tables(options.database)
    return WorkerPlan(
        backend=alias,
        options=options,
        queues=queues,
        excluded_queues=excluded_queues,
        processes=options.processes or _cpus(),
        threads=options.threads,
        coroutines=options.coroutines,
        grace_seconds=options.grace_seconds,
        until_idle=until_idle,
        max_jobs=max_jobs,
    )


def _cpus() -> int:
    # Those that this process may use, where the system tells: a container has fewer than its host.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _backend(alias: str) -> JobQueueBackend:
    try:
        backend = task_backends[alias]
    except InvalidTaskBackend as error:
        aliases = sorted(task_backends.settings)
        if alias not in aliases:
            raise InvalidOptions(f"--backend {alias}: use an alias of TASKS: {', '.join(aliases)}") from None
        raise InvalidOptions(f"TASKS[{alias!r}]: {error}") from error
    if not isinstance(backend, JobQueueBackend):
        raise InvalidOptions(
            f"TASKS[{alias!r}] is {type(backend).__name__}; a worker needs "
            "'BACKEND': 'django_jobqueue.backend.JobQueueBackend'"
        )
    return backend
