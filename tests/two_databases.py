"""More aliases, "queue" and "spare", for the test's own database: other connections, and so other transactions."""

from contextlib import contextmanager

from django.db import connections

BACKEND = "django_jobqueue.backend.JobQueueBackend"

TASKS = {
    "default": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": {"database": "queue"}},
    "other": {"BACKEND": BACKEND, "QUEUES": [], "OPTIONS": {"database": "spare"}},
}
"""A project whose queues are there, while its rows are on `default`."""


@contextmanager
def two_queues():
    """Have the aliases for the length of the block."""
    for alias in ("queue", "spare"):
        connections.settings[alias] = dict(connections["default"].settings_dict)
    try:
        yield
    finally:
        for alias in ("queue", "spare"):
            connections[alias].close()
            del connections[alias]
            del connections.settings[alias]
