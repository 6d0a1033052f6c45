"""A PostgreSQL job queue for Django with a failure contract.

Jobs are rows, written in the caller's transaction. Workers claim them under a lease; what fails is
tried again, a finite number of times; what keeps failing becomes a dead letter that a person sees
to. The package, in reading order:

    tasks       what a project writes: the `@task` decorator (task_options, registry)
    backend     the door for Django Tasks: enqueue and get_result (producer, compat, conf, results, checks, routers)
    payload     checks: what may be stored, what looks like a secret (guard warns of it, shown hides it; secret_sources
                finds what stands behind the name of one)
    policy      thinks: what follows an attempt, as pure functions
    models      the columns, constraints and indexes
    store       remembers: every change of a job's state, one module a verb
    worker      acts: `manage.py runworker` (failpoint: named moments for tests)
    idempotency what a task does once, though it may run twice: `once` (running)
    operations  what a person may do: replay, discard, cancel (breakers: open and close one; signed: who and why)
    middleware  answers 503 where a queue is full
    watch       watches: depth, age, failure rate
    testing     for the tests of projects: run jobs, look at them, deliver them twice
    management  the commands
    admin       shows: jobs, attempts and dead letters

Public names are `task`, `once`, `Secret` and `Breaker`, and `Retry`, `Snooze`, `Reject` and `JobCancelled`, which a
task raises. They are looked up on first use: Django imports this module before its settings and apps are ready.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django_jobqueue.exceptions import JobCancelled, Reject, Retry, Snooze
    from django_jobqueue.idempotency import once
    from django_jobqueue.payload.secret_reference import Secret
    from django_jobqueue.policy.breaker import Breaker
    from django_jobqueue.tasks import task

__version__ = "0.1.0.dev0"

__all__ = ["Breaker", "JobCancelled", "Reject", "Retry", "Secret", "Snooze", "__version__", "once", "task"]

_HOMES = {
    "Breaker": "django_jobqueue.policy.breaker",
    "JobCancelled": "django_jobqueue.exceptions",
    "Reject": "django_jobqueue.exceptions",
    "Retry": "django_jobqueue.exceptions",
    "Secret": "django_jobqueue.payload.secret_reference",
    "Snooze": "django_jobqueue.exceptions",
    "once": "django_jobqueue.idempotency",
    "task": "django_jobqueue.tasks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
