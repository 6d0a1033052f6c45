"""Each verb, done to the real queue and to the ideal one; their answers must be the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job, Pause
from django_jobqueue.policy import retry
from django_jobqueue.policy.outcomes import Outcome
from django_jobqueue.store import cancel, discard, limits, pause, replay
from django_jobqueue.store.enqueue import NewJob, enqueue
from tests.model import doorkeeper, invariants, state
from tests.model.crew import Crew, Grip, Worker
from tests.model.ideal import BOUNDS, Ideal
from tests.store.hands import Held, at

TASKS = ("shop.charge", "shop.mail", "shop.report")
"""What the workers know."""

UNKNOWN = "shop.forgotten"

HOUR = 3600.0

LATER = datetime.fromisoformat("2126-01-01T00:00:00+00:00")


class Mirror:
    """The two queues, which start empty."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self.ideal = Ideal()
        self.locked: frozenset[int] = frozenset()
        crew.forget()
        state.clear()

    def check(self) -> None:
        """Compare the rows with the ideal, and look for what must never be seen."""
        found = state.read()
        invariants.check(found, state.limits())
        expected = self.ideal.jobs
        assert found.keys() == expected.keys()
        for job_id, job in found.items():
            assert job == expected[job_id], f"job {job_id} differs: {job.differences(expected[job_id])}"
        assert state.pauses() == sorted(self.ideal.pauses)
        assert state.limits() == self.ideal.limits

    @contextmanager
    def somebody_locks(self, *job_ids: int) -> Iterator[None]:
        """Have a stranger hold rows; workers' verbs pass them over."""
        with self.crew.lock(*job_ids):
            self.locked = frozenset(job_ids)
            yield
            self.locked = frozenset()

    # --- Producers

    def enqueue(self, job: state.JobState, count: int = 1) -> list[int]:
        """Ask for so many jobs that are all alike, with one call."""
        new = NewJob(
            job.task,
            backend=job.backend,
            queue_name=job.queue,
            priority=job.priority,
            max_attempts=job.max_attempts,
            run_after=None if job.is_due else LATER,
            gates=job.gates,
        )
        rows = enqueue([new] * count, using="default")
        for row in rows:
            self.ideal.enqueue(row.id, replace(job, attempts=[], deeds=[]))
            assert row.status == self.ideal.jobs[row.id].status
        return [row.id for row in rows]

    def enqueue_unique(self, job: state.JobState) -> int | None:
        """Ask for a job under a unique key; answer None where a live job holds it."""
        holder = self.ideal.holder(job.task, job.key)
        (row,) = enqueue([NewJob(job.task, unique_key=job.key, max_attempts=job.max_attempts)], using="default")
        if holder is not None:
            assert (row.created, row.id) == (False, holder)
            return None
        assert row.created
        self.ideal.enqueue(row.id, job)
        return row.id

    # --- Time

    def fall_due(self, job_id: int) -> None:
        """Let the moment come that a job waits for."""
        assert Job.objects.filter(pk=job_id).update(run_after=at(0)) == 1
        self.ideal.fall_due(job_id)

    def pass_deadline(self, job_id: int) -> None:
        """Let the moment pass after which a job is not worth starting."""
        Job.objects.filter(pk=job_id).update(expires_at=at(-60))
        self.ideal.jobs[job_id].is_past_deadline = True

    def run_out(self, *job_ids: int) -> None:
        """Let leases end that nobody renews."""
        for job_id in job_ids:
            assert Job.objects.filter(pk=job_id, status="RUNNING").update(lease_expires_at=at(0)) == 1
            self.ideal.run_out(job_id)

    # --- Workers

    def promote(self, worker: int, limit: int = 1000) -> None:
        moved, next_due = self._hand(worker).promote(limit=limit)
        assert moved == self.ideal.promote(limit, self.locked)
        by_time = [job for job in self.ideal.jobs.values() if job.waiting_for in ("time", "retry", "snooze")]
        later = [job for job in by_time if not job.is_due]
        assert (next_due is not None) == bool(later)

    def admit(self, worker: int) -> int:
        """Have a worker give turns and slots, once."""
        moved = self._hand(worker).admit()
        turns = doorkeeper.give_turns(self.ideal, self.locked)
        waiting = [job_id for job_id, job in self.ideal.jobs.items() if job.waiting_for == "limit"]
        given = set(Job.objects.filter(pk__in=waiting, status="READY").values_list("pk", flat=True))
        doorkeeper.give_slots(self.ideal, given, self.locked)
        assert moved == turns + len(given)
        return moved

    @contextmanager
    def somebody_admits(self) -> Iterator[None]:
        """Have a stranger be the one who admits: whoever else would finds the door taken, and does not wait."""
        with self.crew.admit():
            self.ideal.is_admitting = True
            yield
            self.ideal.is_admitting = False

    def claim(
        self,
        worker: int,
        limit: int = 1,
        *,
        backend: str = "default",
        by_group: bool = False,
        is_heard: bool = True,
    ) -> list[Grip]:
        """Claim. An answer that is not heard leaves the worker with a token that it can only recover."""
        hand = self._hand(worker)
        hand.by_group = by_group
        held = hand.claim(limit, tasks=TASKS, backend=backend, lease_seconds=HOUR)
        token = held[0].token if held else UUID(int=0)
        expected = self.ideal.claim(str(hand.id), str(token), backend, TASKS, limit, self.locked)
        assert [each.id for each in held] == expected
        for each in held:
            assert each.job.attempt_number == self.ideal.jobs[each.id].attempt_count
        return self._grips(worker, held, is_heard, is_unstarted=True)

    def renew(self, worker: int, *grips: Grip) -> None:
        renewal = self._hand(worker).renew(*[grip.held for grip in grips], lease_seconds=HOUR)
        leases = {grip.held.lease for grip in grips}
        busy = {grip.held.lease for grip in grips if grip.id in self.locked and self._is_current(grip)}
        kept = {lease for lease in leases - busy if self.ideal.renew(lease.job_id, str(lease.token))}
        assert renewal[:3] == (kept, leases - kept - busy, busy)
        assert renewal.unwanted == {lease for lease in kept if self.ideal.jobs[lease.job_id].is_unwanted}

    def settle(self, worker: int, *ends: tuple[Grip, Outcome]) -> frozenset[int]:
        """Decide what follows these outcomes, and write it, in one call; answer with the jobs it changed."""
        settlements = []
        for grip, outcome in ends:
            policy = replace(BOUNDS, max_attempts=grip.held.job.max_attempts)
            decision = retry.decide(outcome, grip.held.job.tally, policy=policy, jitter=0.5)
            settlements.append(grip.held.settled_as(decision))
        settled = self._hand(worker).settle(*settlements)
        # The successes are written first, the rest in the order of their ids.
        ends = sorted(ends, key=lambda end: (type(end[1]).__name__ != "Succeeded", end[0].id))
        assert settled == {grip.id for grip, outcome in ends if self.ideal.settle(grip.id, grip.token, outcome)}
        self._hand(worker).believes -= {grip for grip, _ in ends}
        return settled

    def give_back(self, worker: int, *grips: Grip) -> None:
        given = self._hand(worker).give_back(*[grip.held for grip in grips])
        assert given == {grip.id for grip in grips if self.ideal.give_back(grip.id, grip.token)}
        self._hand(worker).believes -= set(grips)

    def rescue(self, worker: int, limit: int = 100, *, backend: str = "default", is_heard: bool = True) -> list[Grip]:
        hand = self._hand(worker)
        beliefs = [grip.held for grip in hand.believes]
        held = hand.rescue(*beliefs, backend=backend, limit=limit, lease_seconds=HOUR)
        token = held[0].token if held else UUID(int=0)
        tokens = {grip.token for grip in hand.believes}
        expected = self.ideal.rescue(str(token), backend, tokens, limit, self.locked)
        assert {each.id for each in held} == set(expected)
        return self._grips(worker, held, is_heard, is_unstarted=False)

    def recover(self, worker: int) -> list[Grip]:
        """Take over what the calls that got no answer may have claimed."""
        hand = self._hand(worker)
        held = hand.recover(*hand.unheard)
        token = held[0].token if held else UUID(int=0)
        lost = {str(each) for each in hand.unheard}
        assert {each.id for each in held} == set(self.ideal.recover(str(hand.id), str(token), lost, self.locked))
        return self._grips(worker, held, True, is_unstarted=True)

    def crash(self, worker: int) -> None:
        """Have a worker forget everything, as the one that is started in its place has."""
        self._hand(worker).believes.clear()
        self._hand(worker).unheard.clear()

    def _hand(self, worker: int) -> Worker:
        return self.crew.workers[worker]

    def _is_current(self, grip: Grip) -> bool:
        return self.ideal.jobs[grip.id].token == grip.token

    def _grips(self, worker: int, held: Sequence[Held], is_heard: bool, *, is_unstarted: bool) -> list[Grip]:
        grips = [Grip(worker, each, is_unstarted) for each in held]
        if not is_heard:
            self._hand(worker).unheard |= {each.token for each in held}
            return []
        self._hand(worker).believes |= set(grips)
        return grips

    # --- People

    def cancel(self, job_id: int) -> str:
        return same(lambda: cancel.cancel(job_id, **signed), lambda: self.ideal.cancel(job_id))

    def replay(self, job_id: int) -> str:
        letter = letter_of(job_id)
        return same(lambda: replay.replay(letter, **signed), lambda: self.ideal.replay(job_id))

    def discard(self, job_id: int) -> str:
        letter = letter_of(job_id)
        return same(lambda: discard.discard(letter, **signed), lambda: self.ideal.discard(job_id))

    def pause(self, kind: str, target: str, until: datetime | None = None) -> str:
        return same(lambda: pause.pause(kind, target, until=until, **signed), lambda: self.ideal.pause(kind, target))

    def resume(self, kind: str, target: str) -> str:
        return same(lambda: pause.resume(kind, target, **signed), lambda: self.ideal.resume(kind, target))

    def set_limit(self, kind: str, target: str, at_once: int | None) -> str:
        return same(
            lambda: limits.set_limit(kind, target, at_once, **signed),
            lambda: self.ideal.set_limit(kind, target, at_once),
        )

    def end_pause(self, kind: str, target: str) -> None:
        """Let the moment come at which a pause ends by itself."""
        Pause.objects.filter(kind=kind, target=target).update(until=at(-1))
        self.ideal.pauses.discard((kind, target))

    @contextmanager
    def not_committed_yet(self, verb: str, kind: str, target: str, *, commits: bool) -> Iterator[None]:
        """Have a person pause or resume in the middle of a longer transaction."""
        before = set(self.ideal.pauses)
        with transaction.atomic():
            # A refusal gives its lock back.
            self.ideal.is_held = getattr(self, verb)(kind, target) == ""
            yield
            self.ideal.is_held = False
            if not commits:
                transaction.set_rollback(True)
                self.ideal.pauses = before

    @contextmanager
    def limit_not_committed_yet(self, kind: str, target: str, at_once: int, *, commits: bool) -> Iterator[None]:
        """Have a person change a limit in the middle of a longer transaction."""
        before = dict(self.ideal.limits)
        ready = [job_id for job_id, job in self.ideal.jobs.items() if job.status == "READY"]
        with transaction.atomic():
            self.set_limit(kind, target, at_once)
            self.ideal.is_held = self.ideal.is_admitting = True
            yield
            self.ideal.is_held = self.ideal.is_admitting = False
            if not commits:
                transaction.set_rollback(True)
                self.ideal.limits = before
                for job_id in ready:
                    self.ideal.jobs[job_id].status, self.ideal.jobs[job_id].waiting_for = "READY", ""


signed: dict[str, Any] = {"by": "ada", "reason": "", "using": "default"}


def letter_of(job_id: int) -> int:
    return DeadLetter.objects.values_list("pk", flat=True).get(job_id=job_id)


def same(*deeds: Callable[[], object]) -> str:
    """Do something to both queues; answer with what both answered: nothing, or the code of a refusal."""
    answers = []
    for deed in deeds:
        try:
            deed()
            answers.append("")
        except Refused as refusal:
            answers.append(refusal.code)
    assert len(set(answers)) == 1, f"answers differ: {answers}"
    return answers[0]


def current(mirror: Mirror, grips: Collection[Grip]) -> list[Grip]:
    """Pick the grips that still hold their job."""
    return [grip for grip in grips if mirror.ideal.jobs[grip.id].token == grip.token]
