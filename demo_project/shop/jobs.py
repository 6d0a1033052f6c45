"""Jobs, as the shop's pages show them. Reads the queue's tables and changes nothing in them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Now
from django.urls import NoReverseMatch, reverse

from django_jobqueue.models import Attempt, DeadLetter, Job

KINDS = {
    "mail": "Mail",
    "billing": "Billing",
    "pictures": "Pictures",
    "leads": "Leads",
    "reports": "Reports",
    "default": "Poison",
}
"""The name of each queue, as people say it. Each kind of work has a queue of its own."""

WORDS = {
    Job.Status.WAITING: "Waiting",
    Job.Status.READY: "Ready",
    Job.Status.RUNNING: "Running",
    Job.Status.SUCCESSFUL: "Done",
    Job.Status.FAILED: "Dead letter",
    Job.Status.CANCELLED: "Cancelled",
}

LIVE = (Job.Status.WAITING, Job.Status.READY, Job.Status.RUNNING)


@dataclass(frozen=True, slots=True)
class AttemptMark:
    """One attempt: its number and how it went."""

    number: int
    outcome: str
    message: str


@dataclass(frozen=True, slots=True)
class JobLine:
    """A job in words. `tone` is its status, for the style sheet."""

    id: int
    kind: str
    subject: str
    tone: str
    word: str
    note: str
    attempts: list[AttemptMark]
    max_attempts: int
    admin_url: str

    @property
    def is_moving(self) -> bool:
        """Say whether its state may still change by itself."""
        return self.tone in {"waiting", "ready", "running"}


def latest(*, kind: str = "", limit: int = 40) -> list[JobLine]:
    """List the newest jobs, of one kind or of all."""
    jobs = _with_details(Job.objects.order_by("-pk"))
    if kind:
        jobs = jobs.filter(queue_name=kind)
    return [_line(job) for job in jobs[:limit]]


def by_id(job_ids: Iterable[str]) -> dict[str, JobLine]:
    """Find jobs by the ids that rows of the shop keep. One that has been pruned is not in it."""
    # Another task backend may give ids that are no numbers.
    numbers = [int(job_id) for job_id in job_ids if job_id.isdecimal()]
    jobs = _with_details(Job.objects.filter(pk__in=numbers))
    return {str(job.pk): _line(job) for job in jobs}


@dataclass(frozen=True, slots=True)
class Tally:
    """How much there is in each state that somebody may wonder about."""

    waiting: int
    ready: int
    running: int
    dead_letters: int


def tally() -> Tally:
    """Count live jobs and open dead letters; of finished jobs there may be millions."""
    live = {status: Job.objects.filter(status=status).count() for status in LIVE}
    return Tally(
        waiting=live[Job.Status.WAITING],
        ready=live[Job.Status.READY],
        running=live[Job.Status.RUNNING],
        dead_letters=DeadLetter.objects.filter(status=DeadLetter.Status.OPEN).count(),
    )


def _with_details(jobs: QuerySet[Job]) -> QuerySet[Job]:
    wait = ExpressionWrapper(F("run_after") - Now(), output_field=DurationField())
    return jobs.annotate(wait=wait).select_related("dead_letter").prefetch_related("attempts")


def _line(job: Job) -> JobLine:
    attempts = sorted(job.attempts.all(), key=lambda attempt: attempt.number)
    return JobLine(
        id=job.pk,
        kind=KINDS.get(job.queue_name, job.queue_name),
        subject=_subject(job),
        tone=job.status.lower(),
        word=WORDS.get(Job.Status(job.status), job.status),
        note=_note(job, attempts),
        attempts=[AttemptMark(a.number, a.outcome.replace("_", " ").lower(), _message(a)) for a in attempts],
        max_attempts=job.max_attempts,
        admin_url=_admin_url(job),
    )


def _subject(job: Job) -> str:
    for name, value in job.kwargs.items():
        if name.endswith("_id") and name not in {"user_id", "template_id"}:
            return f"{name.removesuffix('_id')} {value}"
        if name == "week":
            return f"week {value}"
    return job.task.rpartition(".")[2].replace("_", " ")


def _note(job: Job, attempts: list[Attempt]) -> str:
    match job.status:
        case Job.Status.WAITING:
            wait: timedelta = job.wait  # type: ignore[attr-defined]  # annotated above
            seconds = max(0, math.ceil(wait.total_seconds()))
            return f"for {job.waiting_for}, {seconds} s"
        case Job.Status.FAILED:
            letter = getattr(job, "dead_letter", None)
            reason = letter.get_reason_display() if letter else "failed"
            return f"{reason}: {_message(attempts[-1])}" if attempts else reason
        case Job.Status.SUCCESSFUL if len(attempts) > 1:
            return f"at attempt {attempts[-1].number}"
        case _:
            return ""


def _message(attempt: Attempt) -> str:
    name = attempt.exception_class.rpartition(".")[2]
    return ": ".join(filter(None, (name, attempt.message)))[:120]


def _admin_url(job: Job) -> str:
    try:
        return reverse("admin:django_jobqueue_job_change", args=[job.pk])
    except NoReverseMatch:
        return ""
