"""Check that a worker can work here, and build its plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import psycopg
from django.core.management.base import CommandError

from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.compat import InvalidTaskBackend, task_backends
from django_jobqueue.exceptions import InvalidOptions, JobQueueError
from django_jobqueue.management.command_line import unknown_backend
from django_jobqueue.registry import Registry
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
    worker can run; CommandError with 2 where the command line makes no sense.
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
    options = backend.options
    try:
        # A command line has the bounds that OPTIONS have.
        options = replace(options, **{name: value for name, value in given.items() if value is not None})
    except InvalidOptions as error:
        raise CommandError(str(error), returncode=2) from error
    for option, names in (("--queue", queues), ("--exclude-queue", excluded_queues)):
        for name in names:
            _require_allowed(option, name, backend)
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


def queues_of_no_task(plan: WorkerPlan, registry: Registry) -> str:
    """Say which of the queues that were asked for no task here is declared for; nothing where there is none.

    Where any name is allowed that is no fault: `using(queue_name=…)` may put jobs there. A typo looks the same.
    """
    known = {task.queue_name for task in registry.tasks.values() if task.backend == plan.backend}
    strangers = [name for name in plan.queues if not _is_of(name, known)]
    words = [f"{name!r}" + (f" ({near})" if (near := _nearest(name, known)) else "") for name in strangers]
    return f"no task here is declared for queue {', '.join(words)}" if words else ""


def _require_allowed(option: str, name: str, backend: JobQueueBackend) -> None:
    """Raise CommandError where QUEUES is a list, and the name or prefix matches none of it."""
    if not backend.queues or _is_of(name, backend.queues):
        return
    where = f"TASKS[{backend.alias!r}]"
    if backend.has_own_queues:
        cure = _nearest(name, backend.queues) or f"it has {', '.join(sorted(backend.queues))}"
        problem = f"is not in {where}['QUEUES']; {cure}"
    else:
        problem = f"Django allows 'default' only; add \"QUEUES\": [] to {where}"
    raise CommandError(f"{option} {name}: {problem}", returncode=2)


def _is_of(name: str, queues: Iterable[str]) -> bool:
    """Say whether a name, or a prefix with its asterisk, means any of these queues."""
    return any(queue.startswith(name[:-1]) if name.endswith("*") else queue == name for queue in queues)


def _nearest(name: str, queues: Iterable[str]) -> str:
    near = get_close_matches(name.removesuffix("*"), list(queues), n=1)
    return f"did you mean {near[0]!r}?" if near else ""


def _cpus() -> int:
    # Those that this process may use, where the system tells: a container has fewer than its host.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _backend(alias: str) -> JobQueueBackend:
    try:
        backend = task_backends[alias]
    except InvalidTaskBackend as error:
        aliases = sorted(task_backends.settings)
        if alias not in aliases:
            raise CommandError(unknown_backend(alias, aliases), returncode=2) from None
        raise InvalidOptions(f"TASKS[{alias!r}]: {error}") from error
    if not isinstance(backend, JobQueueBackend):
        raise InvalidOptions(
            f"TASKS[{alias!r}] is {type(backend).__name__}; a worker needs "
            "'BACKEND': 'django_jobqueue.backend.JobQueueBackend'"
        )
    return backend
