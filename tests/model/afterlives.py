"""Stories of dead letters, each one step of the machine: replayed twice, replayed too late, lived again to the end."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import multiple, rule

from django_jobqueue.policy.outcomes import Failed, Interrupted, Snoozed, Succeeded, TimedOut, Verdict
from tests.model.limiting import Limiting
from tests.model.machine import OUTCOMES, UNIQUE_JOBS, WORKERS, Verbs, pick, signed
from tests.model.plots import LONG_ENOUGH
from tests.model.state import JobState

REJECTED = Failed(verdict=Verdict.REJECTED)

ENDS = st.sampled_from([Succeeded(), REJECTED, TimedOut(), Interrupted(), Snoozed(0.0), Failed(after_seconds=0.0)])


class Queue(Limiting):
    """The whole machine: the verbs, the plots, the pauses, limits and orders, and the lives after death."""

    def a_dead_job(self, data, worker):
        """Name a job with a letter to answer: one that is there, or one that dies now."""
        if dead := self.with_status("FAILED"):
            return pick(data, dead)
        grip = self.start(self.a_live_job(data), worker)
        if grip is None:
            return None
        self.mirror.settle(worker, (grip, REJECTED))
        return grip.id

    @rule(worker=WORKERS)
    def die_twice(self, worker):
        """A job that dies again has its one letter opened again, with one death more."""
        (job_id,) = self.mirror.enqueue(JobState("shop.mail"))
        for _ in range(2):
            self.mirror.settle(worker, (self.start(job_id, worker), REJECTED))
            self.mirror.check()
            self.mirror.replay(job_id)

    @rule(worker=WORKERS, is_late=st.booleans())
    def replay_then_succeed(self, worker, is_late):
        """A success resolves the letter of an earlier death, also of one that was past its deadline when it died."""
        (job_id,) = self.mirror.enqueue(JobState("shop.mail"))
        self.mirror.settle(worker, (self.start(job_id, worker), REJECTED))
        if is_late:
            self.mirror.pass_deadline(job_id)
        self.mirror.replay(job_id)
        self.mirror.check()
        grip = self.start(job_id, worker)
        self.mirror.settle(worker, (grip, signed(Succeeded(), grip)))

    @rule(data=st.data(), worker=WORKERS, discarded=st.booleans())
    def replay_one_letter_twice(self, data, worker, discarded):
        """The second replay of a letter is refused, and so is a discard after it; a cancel resolves the letter."""
        job_id = self.a_dead_job(data, worker)
        if job_id is None:
            return
        if discarded:
            self.mirror.discard(job_id)
        self.mirror.replay(job_id)
        self.mirror.replay(job_id)
        self.mirror.discard(job_id)
        self.mirror.cancel(job_id)
        self.mirror.replay(job_id)

    @rule(
        target=Verbs.grips,
        data=st.data(),
        worker=WORKERS,
        outcome=ENDS,
        is_late=st.booleans(),
        cancelled=st.integers(0, 2),
    )
    def live_again(self, data, worker, outcome, is_late, cancelled):
        """A replayed job has its whole budget and no deadline before it, and its letter follows it to the end."""
        job_id = self.a_dead_job(data, worker)
        if job_id is None:
            return multiple()
        if is_late:
            self.mirror.pass_deadline(job_id)
        self.mirror.replay(job_id)
        grips = []
        for number in range(LONG_ENOUGH):
            if number == cancelled:
                self.mirror.cancel(job_id)
            grip = self.start(job_id, worker)
            if grip is None:
                break
            grips.append(grip)
            self.mirror.settle(worker, (grip, signed(outcome, grip)))
            self.mirror.check()
        return multiple(*grips)

    @rule(data=st.data(), worker=WORKERS, job=UNIQUE_JOBS, outcome=OUTCOMES)
    def replay_when_the_key_is_taken(self, data, worker, job, outcome):
        """A replay while a twin lives, in whatever state, is refused; the letter stays as it was."""
        job_id = self.mirror.enqueue_unique(job)
        if job_id is None:
            return
        grip = self.start(job_id, worker)
        self.mirror.settle(worker, (grip, REJECTED))
        twin = self.mirror.enqueue_unique(JobState(job.task, key=job.key, max_attempts=2))
        self.mirror.replay(job_id)
        grip = self.start(twin, worker)
        self.mirror.replay(job_id)
        self.mirror.settle(worker, (grip, signed(outcome, grip)))
        self.mirror.enqueue_unique(JobState(job.task, key=job.key))
        self.mirror.replay(job_id)
