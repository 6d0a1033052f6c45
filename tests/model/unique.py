"""Enqueue under a unique key, in the one statement that leaves the decision to the index.

No verb of the queue does so yet; when one does, it takes the place of this.
"""

from __future__ import annotations

from typing import Any

from django.db import connection

from django_jobqueue.models import Job

HOLDS_ITS_KEY = "unique_key IS NOT NULL AND status IN ('WAITING', 'READY', 'RUNNING')"


def insert_unique(task: str, key: str, **columns: Any) -> int | None:
    """Insert a job unless a live one holds its key, with the one statement that asks the index."""
    columns = {"task": task, "unique_key": key, **columns}
    names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Job._meta.db_table} ({names}) VALUES ({marks}) ON CONFLICT (backend, task, unique_key) "
            f"WHERE {HOLDS_ITS_KEY} DO NOTHING RETURNING id",
            list(columns.values()),
        )
        row = cursor.fetchone()
    return row and row[0]
