"""A flight: an attempt in the keeper's hands, from claim to settle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from django_jobqueue.policy.outcomes import Cancelled, Committed, Failure, Interrupted, Outcome, TimedOut
from django_jobqueue.store.claim import Claimed
from django_jobqueue.store.renew import Lease
from django_jobqueue.worker import clock

COMMIT_NEWS_SECONDS = 1.0
"""The lease of an atomic task seems lost when it has committed; word of that may be on its way for so long."""

COROUTINE_GRACE_SECONDS = 1.0
"""A coroutine is cancelled by its runner, at its time limit or on request; so long after that the runner is killed."""


@dataclass(slots=True, eq=False)
class Flight:
    """An attempt in the keeper's hands, from claim to settle."""

    ticket: int
    claimed: Claimed
    token: UUID
    worker_ids: str
    lease_until: float
    is_coroutine: bool
    is_short: bool
    timeout: float | None
    is_atomic: bool = False
    is_committed: bool = False
    """Whether its own transaction has recorded its success: it has no lease any more, and may only be finishing off."""
    deadline: float | None = None
    begun_at: float | None = None
    taken_at: float | None = None
    """When its runner said that it is on the way to its code; told only of a task with a limit."""
    cancel_requested: bool = False
    waits_since: float | None = None
    """Since when no runner could take it."""
    stop_at: float | None = None
    lost_at: float | None = None
    breaker_generation: int = 0
    """That of its task's circuit breaker at the claim."""

    @property
    def is_suspect(self) -> bool:
        """Whether it may have taken a process down: it runs alone."""
        return self.claimed.tally.crash_count > 0

    @property
    def has_begun(self) -> bool:
        """Whether a slot has taken it."""
        return self.begun_at is not None

    @property
    def waits_to_run(self) -> bool:
        """Whether a slot has it and its own code is not known to run yet; that is told only of a task with a limit."""
        return self.timeout is not None and self.deadline is None and self.begun_at is not None

    @property
    def lease(self) -> Lease:
        """The right to write its job."""
        return Lease(self.claimed.id, self.token)

    def ask(self, *, forced: bool) -> bool:
        """Note that a person wants it cancelled; says whether that is news."""
        is_news = not self.cancel_requested or (forced and self.stop_at is None)
        self.cancel_requested = True
        if forced and self.stop_at is None:
            self.stop_at = clock.now() + (COROUTINE_GRACE_SECONDS if self.is_coroutine else 0.0)
        return is_news

    def lose_lease(self) -> None:
        """Note that another worker may have the job: it is stopped here."""
        if not (self.is_atomic and self.has_begun):
            self.lease_until = 0.0
        elif self.lost_at is None:
            self.lost_at = clock.now()

    def end_by_force(self, now: float, lease_margin: float) -> Outcome | Committed | None:
        """Say what it ends as if it must be stopped with its process now, or None."""
        if not self.has_begun:
            return None
        if self.is_committed:
            # What is left of it are callbacks; only its time limit ends those.
            return Committed() if self.deadline is not None and self.deadline <= now else None
        if self.deadline is not None and self.deadline <= now:
            return TimedOut(
                Failure("builtins.TimeoutError", f"stopped after {self.timeout:g} s: it did not end by itself")
            )
        if self.stop_at is not None and self.stop_at <= now:
            return Cancelled(Failure("", "stopped with its process, as was asked for"))
        is_lost = self.lost_at is not None and self.lost_at + COMMIT_NEWS_SECONDS <= now
        if is_lost or self.lease_until - lease_margin <= now:
            return Interrupted(Failure("", "its lease could not be renewed"))
        return None

    def begin(self) -> None:
        """Note that a slot has taken it."""
        self.begun_at = clock.now()
        if self.stop_at is not None:
            # Its runner was told before, does not call it, and says so in a moment.
            self.stop_at = max(self.stop_at, self.begun_at + COROUTINE_GRACE_SECONDS)

    def limit(self) -> None:
        """Note that its own code runs: its time limit counts from here."""
        if self.timeout is not None:
            self.deadline = clock.now() + self.timeout + (COROUTINE_GRACE_SECONDS if self.is_coroutine else 0.0)

    def order(self) -> bytes:
        """Put it into words for its runner: the fields of `executor.Order`, in their order; `frames` lists them."""
        # args and kwargs go as PostgreSQL wrote them, which is in one line each: to decode them here would cost more
        # than all the rest.
        job = self.claimed
        head = (
            f"[{self.ticket},{job.id},{job.attempt_number},{json.dumps(job.task)},{job.version},{job.edit_count},"
            f'"{job.enqueued_at}","{job.started_at}","{job.last_attempted_at}",{self.worker_ids},'
            f'"{self.token}",{"false" if self.timeout is None else "true"}]'
        )
        return f"{head}\n{job.args}\n{job.kwargs}".encode()
