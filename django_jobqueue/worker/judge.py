"""Turn the end of an attempt into a Settlement, by the job's numbers and its task's policy."""

from __future__ import annotations

import random
from uuid import UUID

from django_jobqueue import any_task
from django_jobqueue.conf import Options
from django_jobqueue.policy.outcomes import Outcome
from django_jobqueue.policy.retry import RetryPolicy, decide
from django_jobqueue.registry import Registry
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.rescue import TakenOver
from django_jobqueue.store.settle import Settlement


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
        """Decide what follows."""
        decision = decide(
            outcome,
            job.tally,
            policy=self._policy(job.task, job.max_attempts),
            jitter=random.random(),  # noqa: S311 - jitter is no secret
            cancel_requested=cancel_requested,
        )
        return Settlement(job.id, token, decision, job.task, self._owner(job.task), job.attempt_number)

    def _policy(self, name: str, max_attempts: int) -> RetryPolicy:
        key = (name, max_attempts)
        if key not in self._policies:
            task = self._registry.get(name)
            self._policies[key] = (
                any_task.policy_of(task, self._options, max_attempts=max_attempts)
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
            self._owners[name] = any_task.owner_of(task) if task is not None else ""
        return self._owners[name]
