"""Marks that tasks leave at moments of PostgreSQL's clock, and the moments that the queue has written."""

from __future__ import annotations

from typing import Any

from django.db import connection

TABLES = "budget_mark, django_jobqueue_job, django_jobqueue_attempt, django_jobqueue_deadletter, django_jobqueue_worker"


def create() -> None:
    """Make the table of marks."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE budget_mark (what text NOT NULL, job_id bigint NOT NULL, attempt integer NOT NULL, "
            "at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )


def leave(what: str, context: Any) -> None:
    """Write down that this happens now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO budget_mark (what, job_id, attempt) VALUES (%s, %s, %s)",
            [what, context.job_id, context.attempt],
        )


def empty() -> None:
    """Start with empty tables."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {TABLES}")


def now() -> float:
    """Say what time it is, by PostgreSQL's clock."""
    return ask("SELECT extract(epoch FROM clock_timestamp())::float8")


def at(what: str, job_id: int, attempt: int = 1) -> float | None:
    """Say when a mark was left, or None."""
    return ask(
        "SELECT extract(epoch FROM at)::float8 FROM budget_mark WHERE what = %s AND job_id = %s AND attempt = %s",
        what,
        job_id,
        attempt,
    )


def closed(job_id: int) -> float | None:
    """Say when the first attempt of a job was closed, or None."""
    return ask(
        "SELECT extract(epoch FROM finished_at)::float8 FROM django_jobqueue_attempt WHERE job_id = %s AND number = 1",
        job_id,
    )


def ask(sql: str, *params: Any) -> Any:
    """Ask for one value; None where there is no row."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row = cursor.fetchone()
    return None if row is None else row[0]
