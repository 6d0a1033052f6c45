"""Turn the end of an attempt into a Settlement: the job's numbers, its task's policy, and a line in the log."""

from __future__ import annotations

import logging
import random
from uuid import UUID

from django_jobqueue import tasks
from django_jobqueue.conf import Options
from django_jobqueue.policy.outcomes import Outcome, OutcomeName, Succeeded
from django_jobqueue.policy.retry import Bury, Cancel, Decision, Release, RetryPolicy, Wait, decide
from django_jobqueue.registry import Registry
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.rescue import TakenOver
from django_jobqueue.store.settle import Settlement

logger = logging.getLogger("django_jobqueue.jobs")


class Judge:
    """Knows the policy of each task. Reads tasks' declarations and calls nothing in them."""

    def __init__(self, registry: Registry, options: Options) -> None:
        self._registry = registry
        self._options = options
        self._policies: dict[tuple[str, int], RetryPolicy] = {}
        self._owners: dict[str, str] = {}

    def settlement(
        self, job: Claimed | TakenOver, token: UUID, outcome: Outcome, *, cancel_requested: bool = False
    ) -> Settlement:
        """Decide what follows, and say so in the log.

        ERROR for a dead letter only, so that an alert means somebody must look.
        """
        decision = decide(
            outcome,
            job.tally,
            policy=self._policy(job.task, job.max_attempts),
            jitter=random.random(),  # noqa: S311 - jitter is no secret
            cancel_requested=cancel_requested,
        )
        if isinstance(outcome, Succeeded):
            logger.debug("job %s %s succeeded at attempt %d", job.id, job.task, job.attempt_number)
        else:
            _log(job, decision)
        return Settlement(job.id, token, decision, job.task, self._owner(job.task), job.attempt_number)

    def _policy(self, name: str, max_attempts: int) -> RetryPolicy:
        key = (name, max_attempts)
        if key not in self._policies:
            task = self._registry.get(name)
            self._policies[key] = (
                tasks.policy_of(task, self._options, max_attempts=max_attempts)
                if task is not None
                else RetryPolicy(
                    max_attempts,
                    max_interruptions=self._options.max_interruptions,
                    max_snoozes=self._options.max_snoozes,
                )
            )
        return self._policies[key]

    def _owner(self, name: str) -> str:
        if name not in self._owners:
            task = self._registry.get(name)
            self._owners[name] = tasks.owner_of(task) if task is not None else ""
        return self._owners[name]


def _log(job: Claimed | TakenOver, decision: Decision) -> None:
    failures = job.tally.failure_count + decision.charged
    what = f"job {job.id} {job.task} {decision.outcome.value} at attempt {job.attempt_number}"
    why = ": ".join(part for part in (decision.failure.exception_class, decision.failure.message[:200]) if part)
    extra = {
        "job_id": job.id,
        "task": job.task,
        "attempt": job.attempt_number,
        "max_attempts": job.max_attempts,
        "will_retry": not isinstance(decision.step, Bury | Cancel),
    }
    match decision.step:
        case Bury(reason):
            logger.error("%s (%s); dead letter: %s", what, why, reason.value, extra=extra)
        case Wait(after_seconds):
            level = logging.DEBUG if decision.outcome is OutcomeName.SNOOZED else logging.WARNING
            logger.log(
                level,
                "%s (%s); %d of %d failures, again in %.1f s",
                what, why, failures, job.max_attempts, after_seconds, extra=extra,
            )  # fmt: skip
        case Release():
            logger.info("%s (%s); again at once", what, why, extra=extra)
        case Cancel():
            logger.info("%s (%s); cancelled, as was asked for", what, why, extra=extra)
