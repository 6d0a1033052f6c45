"""Rows as the queue itself would have left them: a job in any state, with its lease, attempts and letter.

    make_job()                                  READY, due now
    make_job("WAITING", waiting_for="retry")    due in an hour
    make_job(due_in=-30)                        due half a minute ago
    make_job("FAILED")                          with its attempts and its open letter, as every failed job has
    make_dead_letter()                          the letter of such a job
    make_dead_letter("REPLAYED")                of a job that is READY again
    make_dead_letter("RESOLVED")                of a job that succeeded at last

All times are PostgreSQL's. Any column can be given; it then is as given, consistent or not.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import DEFAULT_DB_ALIAS
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now

from django_jobqueue.models import Attempt, DeadLetter, Job
from tests.law import by_hand

HOUR = 3600

TRACEBACK = """Traceback (most recent call last):
  File "tasks.py", line 1, in fail
ValueError: it fails
"""


def at(seconds: float) -> ExpressionWrapper:
    """Return the moment so many seconds from now, by the clock of PostgreSQL."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def make_job(
    status: str = Job.Status.READY,
    *,
    due_in: float | None = None,
    attempts: int | None = None,
    using: str = DEFAULT_DB_ALIAS,
    **columns: Any,
) -> Job:
    """Make a job as it looks in `status`.

    due_in is in seconds, and may be negative; a WAITING job is due in an hour unless told otherwise, any other was a
    minute ago. attempts is how many have ended: one of a job that ended, three of one that failed, none of the others.
    """
    if status == Job.Status.FAILED:
        return make_dead_letter(attempts=attempts, due_in=due_in, using=using, **columns).job
    if due_in is None:
        due_in = HOUR if status == Job.Status.WAITING else -60
    return _insert_job(status, due_in=due_in, attempts=attempts, using=using, **columns)


def make_dead_letter(
    status: str = DeadLetter.Status.OPEN,
    *,
    reason: str = "attempts_exhausted",
    deaths: int = 1,
    died_in: float = -30,
    attempts: int | None = None,
    due_in: float | None = None,
    fingerprint: str = "",
    note: str = "",
    owner: str = "",
    using: str = DEFAULT_DB_ALIAS,
    **columns: Any,
) -> DeadLetter:
    """Make the letter of a job that died, and the job in the state that belongs to the letter's.

    died_in is the moment of its last death in seconds from now. Further columns are the job's.
    """
    failed = Job.Status.FAILED
    job = _insert_job(failed, due_in=-60 if due_in is None else due_in, attempts=attempts, using=using, **columns)
    letter = DeadLetter.objects.using(using).create(
        job=job,
        status=status,
        reason=reason,
        deaths=deaths,
        first_died_at=at(died_in),
        last_died_at=at(died_in),
        fingerprint=fingerprint,
        note=note,
        owner=owner,
    )
    fresh = {"failure_count": 0, "run_after": at(-20)}
    match status:
        case DeadLetter.Status.REPLAYED:
            _update(job, using, status=Job.Status.READY, finished_at=None, **fresh)
        case DeadLetter.Status.RESOLVED:
            add_attempt(job, "succeeded", using=using)
            _update(job, using, status=Job.Status.SUCCESSFUL, attempt_count=job.attempt_count + 1, **fresh)
    letter.refresh_from_db()
    letter.job = job
    return letter


def add_attempt(
    job: Job, outcome: str, *, ended_in: float = -10, using: str = DEFAULT_DB_ALIAS, **columns: Any
) -> Attempt:
    """Add one ended attempt to the history of a job, after the ones it has. The job's own counts stay as they are."""
    charged = outcome in ("failed", "timed_out", "lost")
    if charged:
        columns.setdefault("exception_class", "builtins.ValueError")
        columns.setdefault("message", "it fails")
        columns.setdefault("traceback", TRACEBACK)
    attempt = Attempt.objects.using(using).create(
        **{
            "job": job,
            "number": Attempt.objects.using(using).filter(job=job).count() + 1,
            "worker_id": uuid4(),
            "started_at": at(ended_in - 1),
            "finished_at": at(ended_in),
            "outcome": outcome,
            "charged": charged,
            **columns,
        }
    )
    attempt.refresh_from_db()
    return attempt


def _insert_job(status: str, *, due_in: float, attempts: int | None, using: str, **columns: Any) -> Job:
    ended = _ATTEMPTS.get(status, 0) if attempts is None else attempts
    job = Job.objects.using(using).create(
        **{"task": "tests.tasks.fail" if status == Job.Status.FAILED else "tests.tasks.succeed"}
        | {"status": status, "enqueued_at": at(min(due_in, -60)), "run_after": at(due_in)}
        | _traces(status, ended)
        | columns
    )
    for number in range(ended):
        outcome = "succeeded" if status == Job.Status.SUCCESSFUL and number == ended - 1 else "failed"
        add_attempt(job, outcome, ended_in=-30 - 2 * (ended - number), using=using)
    job.refresh_from_db()
    return job


_ATTEMPTS = {Job.Status.SUCCESSFUL: 1, Job.Status.FAILED: 3}


def _traces(status: str, ended: int) -> dict[str, Any]:
    """What the verbs that led to a state leave in the row."""
    traces: dict[str, Any] = {"attempt_count": ended, "failure_count": ended}
    if ended:
        traces |= {"started_at": at(-50), "last_attempted_at": at(-32), "worker_id": uuid4()}
    match status:
        case Job.Status.WAITING:
            traces |= {"waiting_for": "retry" if ended else "time"}
        case Job.Status.RUNNING:
            traces |= {"attempt_count": ended + 1, "started_at": at(-50), "last_attempted_at": at(-1)}
            traces |= {"worker_id": uuid4(), "lease_token": uuid4(), "lease_expires_at": at(30)}
        case Job.Status.SUCCESSFUL:
            traces |= {"failure_count": max(ended - 1, 0), "finished_at": at(-30)}
        case Job.Status.FAILED | Job.Status.CANCELLED:
            traces |= {"finished_at": at(-30)}
    return traces


def _update(job: Job, using: str, **columns: Any) -> None:
    with by_hand():
        Job.objects.using(using).filter(pk=job.pk).update(**columns)
    job.refresh_from_db()
