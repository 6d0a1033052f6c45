"""What there is to say of a job, whether it was read from the database or foretold."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from django.db import connection

from django_jobqueue.models import Attempt, AuditEntry, Credit, DeadLetter, Job, Limit, Pause
from django_jobqueue.store.enqueue import OPEN, Gates
from django_jobqueue.store.pause import live


@dataclass
class JobState:
    """A job, its attempts, its letter and what people did to it. Moments are kept as what they mean now."""

    task: str
    backend: str = "default"
    key: str | None = None
    priority: int = 0
    max_attempts: int = 3
    status: str = "READY"
    waiting_for: str = ""
    is_due: bool = True
    is_past_deadline: bool = False
    attempt_count: int = 0
    failure_count: int = 0
    interruption_count: int = 0
    snooze_count: int = 0
    crash_count: int = 0
    token: str | None = None
    lease: str | None = None
    """None, "runs" or "over"."""
    worker: str | None = None
    has_started: bool = False
    has_ended: bool = False
    result: Any = None
    attempts: list[tuple[int, str, bool, str | None]] = field(default_factory=list)
    """Of those that ended: number, outcome, charged, worker."""
    letter: str | None = None
    deaths: int = 0
    reason: str = ""
    deeds: list[str] = field(default_factory=list)
    """What the audit says that people did."""
    is_unwanted: bool = False
    """Whether a person has asked for it to be cancelled while it ran."""
    queue: str = "default"
    gates: Gates = OPEN
    """The limits that it is under, and the order that it is in."""

    def differences(self, other: JobState) -> str:
        """Name what is not the same, mine first."""
        pairs = [(each.name, getattr(self, each.name), getattr(other, each.name)) for each in fields(self)]
        return ", ".join(f"{name}: {mine!r} not {theirs!r}" for name, mine, theirs in pairs if mine != theirs)


READ = f"""
SELECT id, task, backend, unique_key, priority, max_attempts, status, waiting_for,
    run_after <= statement_timestamp(),
    COALESCE(expires_at <= statement_timestamp(), false),
    attempt_count, failure_count, interruption_count, snooze_count, crash_count, lease_token::text,
    CASE WHEN lease_expires_at > statement_timestamp() THEN 'runs' WHEN lease_expires_at IS NOT NULL THEN 'over' END,
    worker_id::text, started_at IS NOT NULL, finished_at IS NOT NULL, result #>> '{{}}',
    (SELECT json_agg(json_build_array(number, outcome, charged, worker_id) ORDER BY number)
        FROM {Attempt._meta.db_table} WHERE job_id = job.id),
    (SELECT json_agg(json_build_array(status, deaths, reason)) FROM {DeadLetter._meta.db_table} WHERE job_id = job.id),
    (SELECT json_agg(action ORDER BY id) FROM {AuditEntry._meta.db_table} WHERE object = 'job:' || job.id),
    cancel_requested_at IS NOT NULL, queue_name,
    concurrency_key, key_limit, task_limit, queue_limit, order_key, order_blocks
FROM {Job._meta.db_table} AS job
ORDER BY id
"""

CLEAR = "; ".join(
    f"DELETE FROM {model._meta.db_table}" for model in (AuditEntry, DeadLetter, Attempt, Job, Pause, Limit, Credit)
)


def read() -> dict[int, JobState]:
    """Read every job, with one query."""
    with connection.cursor() as cursor:
        cursor.execute(READ)
        return {row[0]: _state(row) for row in cursor.fetchall()}


def pauses() -> list[tuple[str, str]]:
    """Read what is paused, by kind and target."""
    return list(live("default").values_list("kind", "target"))


def limits() -> dict[tuple[str, str], int]:
    """Read the limits that people have set, by kind and target."""
    return {(each.kind, each.target): each.at_once for each in Limit.objects.all()}


def clear() -> None:
    """Empty the queue. Faster than TRUNCATE, for a few rows."""
    with connection.cursor() as cursor:
        cursor.execute(CLEAR)


def _state(row: tuple[Any, ...]) -> JobState:
    attempts, letters, deeds = row[21] or [], row[22] or [], row[23] or []
    assert len(letters) <= 1, f"job {row[0]} has {len(letters)} letters"
    return JobState(
        *row[1:21],
        [tuple(attempt) for attempt in attempts],
        *(letters or [()])[0],
        deeds=deeds,
        is_unwanted=row[24],
        queue=row[25],
        gates=Gates(*row[26:32]),
    )
