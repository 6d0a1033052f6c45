"""How attempts are read and shown: the last error in a list, the timeline on a page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from django_jobqueue.admin import display
from django_jobqueue.admin.covers import secrets_of, words_in_list
from django_jobqueue.admin.rows import head_and_tail, readable
from django_jobqueue.models import Attempt, Job
from django_jobqueue.policy.outcomes import OutcomeName
from django_jobqueue.shown import text
from django_jobqueue.watch.workers import worker_names

SHOWN = 25
"""Attempts on one page. Each may carry a long traceback."""

HALF_TRACEBACK = 12_000
MESSAGE = 4_000


@dataclass(frozen=True, slots=True)
class Error:
    """Which error, in one line."""

    name: str
    message: str

    def __bool__(self) -> bool:
        return bool(self.name or self.message)

    def in_list(self) -> SafeString | str:
        """Show the class, then the message."""
        if not self:
            return ""
        parts = '<span class="jq-error"><strong>{}</strong> <span>{}</span></span>'
        return format_html(parts, self.name, self.message)


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt on a timeline, ready to be shown."""

    number: int
    outcome: SafeString
    charged: bool
    worker: str
    worker_id: UUID | None
    started: SafeString | str
    duration: str
    error: Error
    exception_class: str
    message: str
    traceback: str
    is_running: bool = False


def with_last_error(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Add what `last_error` reads: the newest attempt's outcome and the beginning of its error."""
    newest = Attempt.objects.filter(job_id=OuterRef("pk")).order_by("-number")
    return jobs.annotate(
        last_outcome=Subquery(newest.values("outcome")[:1]),
        last_class=Subquery(newest.values("exception_class")[:1]),
        last_message=Subquery(newest.values(beginning=Left("message", 500))[:1]),
    )


def last_error(job: Any) -> Error:
    """Return the error of the newest attempt of a row from `with_last_error` and `brief`; an empty one if it succeeded.

    An older attempt may have been written before its task named a secret.
    """
    # A class is named for a value too seldom to be hidden where that is too large to be read.
    is_large = job.args_text is None or job.kwargs_text is None
    name = text(job.last_class or "", () if is_large else secrets_of(job))
    return _error(job.last_outcome, name, words_in_list(job, job.last_message or ""))


def _error(outcome: str | None, exception_class: str | None, message: str) -> Error:
    """Name an error, in words that may be shown. Where nobody raised one, as for a lost worker, it is the outcome."""
    if outcome in (None, OutcomeName.SUCCEEDED):
        return Error("", "")
    name = display.class_name(exception_class) or display.words(outcome)
    return Error(name, display.first_line(message))


def timeline(job: Any, secrets: Collection[str], *, before: int | None = None) -> list[Step]:
    """Return the newest attempts, or those before a number, newest first; the running one from the job's own row.

    `secrets` are hidden in what they say: an older attempt may have been written before its task named them.
    """
    attempts = Attempt.objects.using(job._state.db).filter(job_id=job.pk).order_by("-number")
    if before is not None:
        attempts = attempts.filter(number__lt=before)
    shown = readable(attempts, times=["started_at", "finished_at"]).annotate(message_head=Left("message", MESSAGE))
    rows = list(head_and_tail(shown, "traceback", half=HALF_TRACEBACK)[:SHOWN])
    names = worker_names(job._state.db, [row.worker_id for row in rows] + [job.worker_id])
    steps = [_step(row, names, secrets) for row in rows]
    if before is None and job.status == Job.Status.RUNNING:
        steps.insert(0, _running_step(job, names))
    return steps


def _step(row: Any, names: dict[Any, str], secrets: Collection[str]) -> Step:
    exception_class = text(row.exception_class or "", secrets)
    return Step(
        number=row.number,
        outcome=display.badge(row.outcome, display.words(row.outcome)),
        charged=row.charged,
        worker=display.worker_name(row.worker_id, names),
        worker_id=row.worker_id if row.worker_id in names else None,
        started=display.moment(row.started_at_epoch, row.now_epoch),
        duration=span(row.started_at_epoch, row.finished_at_epoch),
        error=_error(row.outcome, exception_class, text(row.message_head or "", secrets)),
        exception_class=display.clip(exception_class, 255),
        message=display.visible(text(row.message_head, secrets)),
        traceback=text(display.cut(row.traceback_head, row.traceback_tail, row.traceback_size), secrets),
    )


def _running_step(job: Any, names: dict[Any, str]) -> Step:
    return Step(
        number=job.attempt_count,
        outcome=display.badge(Job.Status.RUNNING, _("Running")),
        charged=False,
        worker=display.worker_name(job.worker_id, names),
        worker_id=job.worker_id if job.worker_id in names else None,
        started=display.moment(job.last_attempted_at_epoch, job.now_epoch),
        duration=span(job.last_attempted_at_epoch, job.now_epoch),
        error=Error("", ""),
        exception_class="",
        message="",
        traceback="",
        is_running=True,
    )


def span(start: float | None, end: float | None) -> str:
    """Write the time between two moments, either of which may be missing or absurd."""
    return display.duration(None if start is None or end is None else end - start)
