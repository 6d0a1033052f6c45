"""Why a job does not run, as a test asks it: `run_jobs` stands for a worker that serves every queue."""

from __future__ import annotations

from difflib import get_close_matches

from django_jobqueue import registry
from django_jobqueue.database import queue_database
from django_jobqueue.models import Job, Worker
from django_jobqueue.payload.misfit import shown
from django_jobqueue.policy.why import Reason, Why
from django_jobqueue.results import TaskResult
from django_jobqueue.testing.commits import come_to_the_commit
from django_jobqueue.watch.why import why as _why

Asked = TaskResult | Job | int | str
"""What `enqueue` has returned, a job, or an id of one of the default backend."""


def why(job: Asked) -> list[Reason]:
    """Say what stands in the way of a job, the nearest first, each with its `.code` and `.text`.

    No worker need be there: run_jobs() is one. Raises AssertionError where there is no such job.
    """
    job_id, backend = _named(job)
    come_to_the_commit(backend)
    known = registry.discover()
    hands = Worker(backend=backend, queues=[], tasks=dict.fromkeys(known.names(), 1) | known.versions())
    try:
        return _why(job_id, using=queue_database(backend), workers=[hands])
    except Job.DoesNotExist:
        raise AssertionError(f"there is no job {job_id}; was it rolled back?") from None


def assert_waits_for(job: Asked, *codes: str) -> list[Reason]:
    """Raise AssertionError unless each of these stands in the way of a job; answer with all that does.

    The codes are those that `jobqueue jobs why` begins a line with: "limit", "paused", "turn" … A code that is none is
    a ValueError.
    """
    _require_codes(codes)
    found = why(job)
    there = {str(reason.code) for reason in found}
    if missing := [str(code) for code in codes if str(code) not in there]:
        told = "; ".join(f"{reason.code}: {reason.text}" for reason in found)
        raise AssertionError(f"job {_named(job)[0]} does not wait for {' and '.join(missing)}, but for {told}")
    return found


def words_for_delay(job: Job) -> str:
    """Say what is next in the way of a job, in parentheses; nothing for one that could run, has run or runs."""
    nearest = why(job)[0]
    if nearest.code in (Why.OVER, Why.RUNNING, Why.CANCELLING, Why.NEXT, Why.BEHIND):
        return ""
    return f" ({nearest.code}: {nearest.text})"


def _named(job: Asked) -> tuple[int, str]:
    match job:
        case Job():
            return job.pk, job.backend
        case TaskResult():
            return int(job.id), job.backend
        case int() if not isinstance(job, bool):
            return job, "default"
        case str() if job.isdecimal():
            return int(job), "default"
    raise TypeError(f"takes what enqueue() has returned, a Job, or an id; got {shown(job)}")


def _require_codes(codes: tuple[str, ...]) -> None:
    """Raise for codes that no job ever has: a typo would look like a job that does not wait."""
    known = [str(code) for code in Why]
    if not codes:
        raise TypeError(f"assert_waits_for() takes what the job waits for: {', '.join(known)}")
    for code in codes:
        if str(code) not in known:
            near = get_close_matches(str(code), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"nothing that a job waits for is called {code!r}; {hint}")
