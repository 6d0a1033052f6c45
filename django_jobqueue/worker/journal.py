"""The job log: a line for each end of an attempt, of what was written.

A late worker's outcome that nobody took has no line here, and a job that was cancelled meanwhile is told as cancelled.
"""

from __future__ import annotations

import logging

from django_jobqueue.policy.lifecycle import Status
from django_jobqueue.policy.outcomes import OutcomeName
from django_jobqueue.policy.retry import Bury, Finish, Release, Wait
from django_jobqueue.store.park import BuriedUnknown
from django_jobqueue.store.settle import Settled, Settlement

logger = logging.getLogger("django_jobqueue.jobs")


def write(settlement: Settlement, settled: Settled) -> None:
    """Say how an attempt ended. ERROR for a dead letter only, so that an alert means somebody must look."""
    decision = settlement.decision
    if isinstance(decision.step, Finish):
        write_success(settlement.job_id, settlement.task, settlement.attempt_number)
        return
    what = f"job {settlement.job_id} {settlement.task} {decision.outcome.value} at attempt {settlement.attempt_number}"
    why = ": ".join(part for part in (decision.failure.exception_class, decision.failure.message[:200]) if part)
    is_cancelled = settled.status == Status.CANCELLED
    extra = {
        "job_id": settlement.job_id,
        "task": settlement.task,
        "attempt": settlement.attempt_number,
        "max_attempts": settled.max_attempts,
        "will_retry": not (is_cancelled or isinstance(decision.step, Bury)),
    }
    match decision.step:
        case _ if is_cancelled:
            logger.info("%s (%s); cancelled, as was asked for", what, why, extra=extra)
        case Bury(reason):
            logger.error("%s (%s); dead letter: %s", what, why, reason.value, extra=extra)
        case Wait(after_seconds):
            level = logging.DEBUG if decision.outcome is OutcomeName.SNOOZED else logging.WARNING
            logger.log(
                level,
                "%s (%s); %d of %d failures, again in %.1f s",
                what, why, settled.failure_count, settled.max_attempts, after_seconds, extra=extra,
            )  # fmt: skip
        case Release():
            logger.info("%s (%s); again at once", what, why, extra=extra)


def write_unknown(job: BuriedUnknown) -> None:
    """Say that nobody has known the task of a job, or its version, for too long."""
    logger.error(
        "job %s %s waited in vain for a worker that knows it; dead letter: %s",
        job.id, job.task, job.reason, extra={"job_id": job.id, "task": job.task, "will_retry": False},
    )  # fmt: skip


def write_success(job_id: int, task: str, attempt_number: int) -> None:
    """Say that a job has succeeded."""
    logger.debug("job %s %s succeeded at attempt %d", job_id, task, attempt_number)
