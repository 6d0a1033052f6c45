"""Cancel a job that has not started."""

from __future__ import annotations

from typing import Any

from django.db.models.functions import Now

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.store import audit, locked
from django_jobqueue.store.transaction import read_committed


def cancel(job_id: int, *, by: str, reason: str, using: str) -> Job:
    """Move a job from WAITING or READY to CANCELLED, and the letter of an earlier death from REPLAYED to RESOLVED.

    A claim under way may be faster; then the job is RUNNING and the cancel is refused.

    Raises Refused: not_found, running, already_cancelled, finished.
    """
    with read_committed(using):
        job = locked.job(job_id, using=using)
        _check(job)
        before = _record(job)
        Job.objects.using(using).filter(pk=job.pk, status__in=[Job.Status.WAITING, Job.Status.READY]).update(
            status=Job.Status.CANCELLED, waiting_for="", finished_at=Now()
        )
        resolved = (
            DeadLetter.objects.using(using)
            .filter(job_id=job.pk, status=DeadLetter.Status.REPLAYED)
            .update(status=DeadLetter.Status.RESOLVED)
        )
        job.refresh_from_db(using=using)
        after = _record(job)
        if resolved:
            before["letter_status"], after["letter_status"] = DeadLetter.Status.REPLAYED, DeadLetter.Status.RESOLVED
        audit.record(by, "cancel", audit.object_of(job.pk), reason=reason, before=before, after=after, using=using)
    return job


def _check(job: Job) -> None:
    match job.status:
        case Job.Status.RUNNING:
            raise Refused("running", f"job {job.pk} is running, and cancelling a running job is not possible yet")
        case Job.Status.CANCELLED:
            raise Refused("already_cancelled", f"job {job.pk} was already cancelled")
        case Job.Status.FAILED:
            raise Refused("finished", f"job {job.pk} has failed: discard its dead letter instead")
        case Job.Status.SUCCESSFUL:
            raise Refused("finished", f"job {job.pk} has already succeeded")


def _record(job: Job) -> dict[str, Any]:
    return {"status": job.status, "waiting_for": job.waiting_for}
