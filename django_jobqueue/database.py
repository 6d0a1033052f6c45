"""Which database holds the queue: one rule, for everyone who is not a worker."""

from __future__ import annotations

from django.conf import settings
from django.db import router

from django_jobqueue.models import Job


def queue_database(backend: str = "default") -> str:
    """Name the database of a task backend: its OPTIONS["database"], else the router's answer for writing a Job.

    Reads go there too: a replica may not have heard yet of what a person is about to decide on.
    """
    options = getattr(settings, "TASKS", {}).get(backend, {}).get("OPTIONS", {})
    return options.get("database") or router.db_for_write(Job)
