"""Where the queue is, and under which options: one rule, for everyone who is not a worker."""

from __future__ import annotations

from contextlib import suppress

from django.db import router

from django_jobqueue.compat import DEFAULT_TASK_BACKEND_ALIAS, InvalidTaskBackend, task_backends
from django_jobqueue.conf import Options


def queue_database(backend: str = "default") -> str:
    """Name the database of a task backend: the one that it enqueues to, else the router's answer for writing a Job.

    The router is asked where the alias is not in TASKS, or is another backend than ours, as in a project's tests. Reads
    go to the same database: a replica may not have heard yet of what a person is about to decide on. Raises
    InvalidOptions.
    """
    from django_jobqueue.models import Job

    options = _options(backend)
    return options.database if options else router.db_for_write(Job)


def queue_options(backend: str = "default") -> Options:
    """Return the options of a task backend, or the defaults where it is none of ours. Raises InvalidOptions."""
    return _options(backend) or Options()


def declared_databases() -> tuple[str, ...]:
    """Name the database of each alias in TASKS that is ours, that of "default" first. Raises InvalidOptions."""
    aliases = sorted(task_backends.settings, key=lambda alias: alias != DEFAULT_TASK_BACKEND_ALIAS)
    return tuple(dict.fromkeys(options.database for alias in aliases if (options := _options(alias))))


def _options(backend: str) -> Options | None:
    with suppress(InvalidTaskBackend):
        options: object = task_backends[backend].options
        # Other backends keep a dict there.
        return options if isinstance(options, Options) else None
    return None
