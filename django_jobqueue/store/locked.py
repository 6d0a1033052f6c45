"""Lock what a person is about to change, and read it as it is now.

A person's verb needs the old values for its audit entry, and the reason why it cannot go ahead; both are true only
under a lock. The job is always locked before its letter, as the verbs of a worker do, so that no two verbs wait for
each other in a circle.

The lock is FOR NO KEY UPDATE: it does not stand in the way of a row that merely refers to the job.
"""

from __future__ import annotations

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job


def job(job_id: int, *, using: str) -> Job:
    """Lock a job. Raises Refused `not_found`."""
    found = Job.objects.using(using).select_for_update(no_key=True).filter(pk=job_id).first()
    if found is None:
        raise Refused("not_found", f"there is no job {job_id}")
    return found


def letter(letter_id: int, *, using: str) -> DeadLetter:
    """Lock a dead letter, and not its job. Raises Refused `not_found`."""
    found = DeadLetter.objects.using(using).select_for_update(no_key=True).filter(pk=letter_id).first()
    if found is None:
        raise _no_letter(letter_id)
    return found


def letter_with_job(letter_id: int, *, using: str) -> DeadLetter:
    """Lock the job of a dead letter, then the letter; `letter.job` is the locked job. Raises Refused `not_found`."""
    # Read without a lock: the job of a letter never changes.
    job_id = DeadLetter.objects.using(using).filter(pk=letter_id).values_list("job_id", flat=True).first()
    if job_id is None:
        raise _no_letter(letter_id)
    locked_job = job(job_id, using=using)
    found = letter(letter_id, using=using)
    found.job = locked_job
    return found


def _no_letter(letter_id: int) -> Refused:
    return Refused("not_found", f"there is no dead letter {letter_id}")
