"""The queue as it should be, in plain Python: no SQL, no lock, one thing at a time.

It says nothing of how: a verb that the real queue does in one guarded statement is a loop and an if here. What follows
an outcome is written down once more, in other words than the policy's, so that a bound which is lost there is missed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count

from django_jobqueue.exceptions import Refused
from django_jobqueue.policy import backoff
from django_jobqueue.policy.lifecycle import LIVE
from django_jobqueue.policy.outcomes import Failed, Interrupted, Lost, Outcome, Snoozed, Succeeded, TimedOut
from django_jobqueue.policy.retry import RetryPolicy
from tests.model import gates
from tests.model.state import JobState

BOUNDS = RetryPolicy(backoff=backoff.constant(3600, jitter="none"), max_interruptions=2, max_snoozes=2)
"""Small, so that a few steps reach them. `max_attempts` is each job's own. No wait ends by itself."""

MAX_CRASHES = 3


class Ideal:
    """All jobs, by id."""

    def __init__(self) -> None:
        self.jobs: dict[int, JobState] = {}
        self.pauses: set[tuple[str, str]] = set()
        """Kind and target of what is paused."""
        self.limits: dict[tuple[str, str], int] = {}
        """How many may run at once, by kind and target, where a person has said so."""
        self.is_held = False
        """Whether somebody has changed what may be claimed, and has not committed it."""
        self.is_admitting = False
        """Whether another transaction is at it to admit jobs, or changes how many may be."""
        self._clock = count()
        self._due: dict[int, int] = {}
        """When each job fell due, on a clock that counts what happens."""
        self._run_out: dict[int, int] = {}

    # --- Producers

    def holder(self, task: str, key: str) -> int | None:
        """Name the live job that holds a unique key."""
        for job_id, job in self.jobs.items():
            if (job.task, job.key) == (task, key) and job.status in LIVE:
                return job_id
        return None

    def enqueue(self, job_id: int, job: JobState) -> None:
        if job.gates.order_key is not None:
            job.status, job.waiting_for = "WAITING", "order"
        elif not job.is_due:
            job.status, job.waiting_for = "WAITING", "time"
        else:
            self.let_in(job)
        self.jobs[job_id] = job
        self._falls_due(job_id)

    # --- Time

    def fall_due(self, job_id: int) -> None:
        self.jobs[job_id].is_due = True
        self._falls_due(job_id)

    def run_out(self, job_id: int) -> None:
        self.jobs[job_id].lease = "over"
        self._run_out[job_id] = next(self._clock)

    def _falls_due(self, job_id: int) -> None:
        self._due[job_id] = next(self._clock)

    # --- Workers

    def promote(self, limit: int, locked: Collection[int]) -> int:
        due = [
            job_id
            for job_id, job in self.with_status("WAITING")
            if job.waiting_for in ("time", "retry", "snooze") and job.is_due and job_id not in locked
        ]
        moved = sorted(due, key=self._due.__getitem__)[:limit]
        for job_id in moved:
            self.let_in(self.jobs[job_id])
        return len(moved)

    def place(self, job_id: int) -> tuple[int, int, int]:
        """Say where in the order of claims a job is."""
        return -self.jobs[job_id].priority, self._due[job_id], job_id

    def let_in(self, job: JobState) -> None:
        """Have a job that may start by its moment and its turn wait for a slot, if it needs one."""
        needs_a_slot = any(gates.limits_of(job, self.limits))
        job.status, job.waiting_for = ("WAITING", "limit") if needs_a_slot else ("READY", "")

    def claim(
        self, worker: str, token: str, backend: str, tasks: Collection[str], limit: int, locked: Collection[int]
    ) -> list[int]:
        ready = [
            job_id
            for job_id, job in self.with_status("READY")
            if job.backend == backend and job.task in tasks and not job.is_past_deadline and job_id not in locked
            if not self.is_held and not self._is_paused(job)
        ]
        claimed = sorted(ready, key=self.place)[:limit]
        for job_id in claimed:
            job = self.jobs[job_id]
            job.status, job.token, job.lease, job.worker = "RUNNING", token, "runs", worker
            job.attempt_count += 1
            job.has_started = True
        return claimed

    def renew(self, job_id: int, token: str) -> bool:
        if self.jobs[job_id].token != token:
            return False
        self.jobs[job_id].lease = "runs"
        return True

    def rescue(self, token: str, backend: str, held: Collection[str], limit: int, locked: Collection[int]) -> list[int]:
        over = [
            job_id
            for job_id, job in self.with_status("RUNNING")
            if job.backend == backend and job.lease == "over" and job.token not in held and job_id not in locked
        ]
        taken = sorted(over, key=self._run_out.__getitem__)[:limit]
        for job_id in taken:
            self.jobs[job_id].token, self.jobs[job_id].lease = token, "runs"
        return taken

    def recover(self, worker: str, token: str, lost: Collection[str], locked: Collection[int]) -> list[int]:
        mine = [
            job_id
            for job_id, job in self.with_status("RUNNING")
            if job.worker == worker and job.token in lost and job_id not in locked
        ]
        for job_id in mine:
            self.jobs[job_id].token, self.jobs[job_id].lease = token, "runs"
        return mine

    def give_back(self, job_id: int, token: str) -> bool:
        job = self.jobs[job_id]
        if job.token != token:
            return False
        job.token = job.lease = job.worker = None
        self.let_in(job)
        job.attempt_count -= 1
        job.has_started = job.attempt_count > 0
        if job.is_unwanted:
            self._end_as_cancelled(job)
        return True

    def settle(self, job_id: int, token: str, outcome: Outcome) -> bool:
        job = self.jobs[job_id]
        if job.token != token:
            return False
        job.token = job.lease = None
        before = job.letter, job.reason, job.deaths, job.is_due
        self._follow(job_id, job, outcome)
        if job.is_unwanted and job.status != "SUCCESSFUL":
            job.letter, job.reason, job.deaths, job.is_due = before
            self._end_as_cancelled(job)
        return True

    def _follow(self, job_id: int, job: JobState, outcome: Outcome) -> None:
        match outcome:
            case Succeeded(result):
                self._close(job, "succeeded")
                job.status, job.has_ended, job.result = "SUCCESSFUL", True, result.strip('"')
                self._resolve(job)
            case Failed(_, verdict, after_seconds):
                self._close(job, "failed", charged=True)
                if verdict != "retryable":
                    self._bury(job, str(verdict))
                else:
                    self._try_again(job_id, job, after_seconds)
            case TimedOut():
                self._close(job, "timed_out", charged=True)
                self._try_again(job_id, job, None)
            case Lost(_, crashed):
                self._close(job, "lost", charged=True)
                job.crash_count += crashed
                if crashed and job.crash_count >= MAX_CRASHES:
                    self._bury(job, "crash_loop")
                elif crashed:
                    self._try_again(job_id, job, None)
                elif job.failure_count >= job.max_attempts:
                    self._bury(job, "attempts_exhausted")
                else:
                    self.let_in(job)
            case Interrupted(_, counted, suspect):
                self._close(job, "interrupted")
                job.interruption_count += counted
                job.crash_count += suspect
                if suspect and job.crash_count >= MAX_CRASHES:
                    self._bury(job, "crash_loop")
                elif counted and job.interruption_count > BOUNDS.max_interruptions:
                    self._bury(job, "interrupted_too_often")
                else:
                    self.let_in(job)
            case Snoozed(seconds):
                self._close(job, "snoozed")
                job.snooze_count += 1
                if job.snooze_count > BOUNDS.max_snoozes:
                    self._bury(job, "snoozed_too_often")
                else:
                    self._wait(job_id, job, "snooze", seconds)

    def _close(self, job: JobState, outcome: str, *, charged: bool = False) -> None:
        job.attempts.append((job.attempt_count, outcome, charged, job.worker))
        job.failure_count += charged

    def _try_again(self, job_id: int, job: JobState, after_seconds: float | None) -> None:
        if job.failure_count >= job.max_attempts:
            self._bury(job, "attempts_exhausted")
        else:
            self._wait(job_id, job, "retry", after_seconds)

    def _wait(self, job_id: int, job: JobState, waiting_for: str, seconds: float | None) -> None:
        job.status, job.waiting_for, job.is_due = "WAITING", waiting_for, seconds == 0
        self._falls_due(job_id)

    def _bury(self, job: JobState, reason: str) -> None:
        job.status, job.has_ended = "FAILED", True
        job.letter, job.reason = "OPEN", reason
        job.deaths += 1

    # --- People

    def cancel(self, job_id: int) -> None:
        job = self.jobs[job_id]
        match job.status:
            case "RUNNING" if job.is_unwanted:
                raise Refused("already_requested", "")
            case "RUNNING":
                job.is_unwanted = True
                job.deeds.append("cancel")
                return
            case "CANCELLED":
                raise Refused("already_cancelled", "")
            case "SUCCESSFUL" | "FAILED":
                raise Refused("finished", "")
        self._end_as_cancelled(job)
        job.deeds.append("cancel")

    def replay(self, job_id: int) -> None:
        job = self.jobs[job_id]
        if job.letter not in ("OPEN", "DISCARDED"):
            raise Refused(f"already_{job.letter.lower()}", "")
        if job.key is not None and self.holder(job.task, job.key) is not None:
            raise Refused("unique_key_taken", "")
        job.has_ended, job.is_due, job.letter = False, True, "REPLAYED"
        if job.gates.order_key is None:
            self.let_in(job)
        else:
            job.status, job.waiting_for = "WAITING", "order"
        job.failure_count = job.interruption_count = job.snooze_count = job.crash_count = 0
        job.is_past_deadline = job.is_unwanted = False
        job.deeds.append("replay")
        self._falls_due(job_id)

    def discard(self, job_id: int) -> None:
        job = self.jobs[job_id]
        if job.letter != "OPEN":
            raise Refused(f"already_{job.letter.lower()}", "")
        job.letter = "DISCARDED"
        job.deeds.append("discard")

    def pause(self, kind: str, target: str) -> None:
        self.pauses.add((kind, target))

    def resume(self, kind: str, target: str) -> None:
        if (kind, target) not in self.pauses:
            raise Refused("not_paused", "")
        self.pauses.remove((kind, target))

    def set_limit(self, kind: str, target: str, at_once: int | None) -> list[int]:
        """Change a limit; answers with the jobs that were ready under it, and wait again."""
        if at_once is not None:
            self.limits[kind, target] = at_once
        elif self.limits.pop((kind, target), None) is None:
            raise Refused("not_set", "")
        names = [(job_id, gates.limits_of(job, self.limits)) for job_id, job in self.with_status("READY")]
        ready = [job_id for job_id, scopes in names if any(scope[::2] == (kind, target) for scope, _ in scopes)]
        for job_id in ready:
            self.jobs[job_id].status, self.jobs[job_id].waiting_for = "WAITING", "limit"
        return ready

    def _is_paused(self, job: JobState) -> bool:
        names = {"queue": job.queue, "task": job.task}
        return any(
            names[kind].startswith(target[:-1]) if target.endswith("*") else names[kind] == target
            for kind, target in self.pauses
        )

    def _end_as_cancelled(self, job: JobState) -> None:
        job.status, job.waiting_for, job.has_ended = "CANCELLED", "", True
        self._resolve(job)

    def _resolve(self, job: JobState) -> None:
        if job.letter == "REPLAYED":
            job.letter = "RESOLVED"

    def with_status(self, status: str) -> Iterator[tuple[int, JobState]]:
        return ((job_id, job) for job_id, job in self.jobs.items() if job.status == status)
