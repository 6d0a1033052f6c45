"""Cancel a job: at once where it has not started, by a request to its worker where it runs."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Value
from django.db.models.functions import Coalesce, Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.store import audit, depth, locked
from django_jobqueue.store.transaction import read_committed


def cancel(job_id: int, *, by: str, reason: str, using: str, force: bool = False) -> Job:
    """Move a job from WAITING or READY to CANCELLED, and the letter of an earlier death from REPLAYED to RESOLVED.

    A RUNNING one stays so, with the request in its row. Its worker reads it there; so does whoever settles the job, and
    any end but success is then CANCELLED. To ask again changes nothing, unless it is with `force` now.

    Raises Refused: not_found, already_requested, already_cancelled, finished.
    """
    with read_committed(using):
        job = locked.job(job_id, using=using)
        _check(job, force=force)
        before = _record(job)
        resolved = 0
        if job.status == Job.Status.RUNNING:
            Job.objects.using(using).filter(pk=job.pk, status=Job.Status.RUNNING).update(
                cancel_requested_at=Coalesce(F("cancel_requested_at"), Now()), cancel_forced=Value(force)
            )
        else:
            resolved = _cancel_now(job, using)
        job.refresh_from_db(using=using)
        after = _record(job)
        if resolved:
            before["letter_status"], after["letter_status"] = DeadLetter.Status.REPLAYED, DeadLetter.Status.RESOLVED
        audit.record(by, "cancel", audit.object_of(job.pk), reason=reason, before=before, after=after, using=using)
    return job


def _cancel_now(job: Job, using: str) -> int:
    Job.objects.using(using).filter(pk=job.pk, status__in=[Job.Status.WAITING, Job.Status.READY]).update(
        status=Job.Status.CANCELLED, waiting_for="", finished_at=Now()
    )
    for kind, target, credit in (
        ("queue", job.queue_name, job.queue_credit),
        ("task", job.task, job.task_credit),
        ("key", job.concurrency_key, job.key_credit),
    ):
        if credit == 1 and target is not None:
            depth.give_back(kind, job.backend, target, 1, using=using)
    return (
        DeadLetter.objects.using(using)
        .filter(job_id=job.pk, status=DeadLetter.Status.REPLAYED)
        .update(status=DeadLetter.Status.RESOLVED)
    )


def _check(job: Job, *, force: bool) -> None:
    match job.status:
        case Job.Status.RUNNING if job.cancel_requested_at is not None and (job.cancel_forced or not force):
            raise Refused("already_requested", f"job {job.pk} is running, and was already asked to stop")
        case Job.Status.CANCELLED:
            raise Refused("already_cancelled", f"job {job.pk} was already cancelled")
        case Job.Status.FAILED:
            raise Refused("finished", f"job {job.pk} has failed: discard its dead letter instead")
        case Job.Status.SUCCESSFUL:
            raise Refused("finished", f"job {job.pk} has already succeeded")


def _record(job: Job) -> dict[str, Any]:
    record: dict[str, Any] = {"status": job.status, "waiting_for": job.waiting_for}
    if job.status == Job.Status.RUNNING:
        record |= {"cancel_requested": job.cancel_requested_at is not None, "cancel_forced": job.cancel_forced}
    return record
