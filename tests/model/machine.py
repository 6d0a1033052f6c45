"""The state machine: what workers, producers and people may do, one verb at a time and in any order.

Three workers share the queue. A grip stays in its bundle when it is lost, so that late and repeated calls are as common
as timely ones. `plots` adds the stories that chance alone would take too long to tell.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, precondition, rule

from django_jobqueue.policy.outcomes import Failed, Interrupted, Lost, Snoozed, Succeeded, TimedOut, Verdict
from tests.model.crew import Crew, Grip
from tests.model.mirror import TASKS, UNKNOWN, Mirror, current
from tests.model.state import JobState

WORKERS = st.integers(0, 2)

BACKENDS = ["default", "default", "default", "other"]

ALL = [
    Succeeded(),
    Failed(),
    Failed(after_seconds=0.0),
    Failed(verdict=Verdict.REJECTED),
    TimedOut(),
    Lost(),
    Lost(crashed=True),
    Interrupted(),
    Interrupted(counted=False),
    Interrupted(counted=False, suspect=True),
    Snoozed(0.0),
    Snoozed(60.0),
]

OUTCOMES = st.sampled_from(ALL)

NEW_JOBS = st.builds(
    JobState,
    task=st.sampled_from([*TASKS, UNKNOWN]),
    backend=st.sampled_from(BACKENDS),
    priority=st.sampled_from([0, 0, 5]),
    max_attempts=st.sampled_from([1, 2, 3, 3]),
    is_due=st.booleans(),
    queue=st.sampled_from(["default", "default", "mail"]),
)

UNIQUE_JOBS = st.builds(
    JobState,
    task=st.sampled_from(["shop.charge", "shop.mail"]),
    key=st.sampled_from(["a", "b"]),
    max_attempts=st.integers(1, 2),
)


def signed(outcome, grip: Grip):
    """Have a success say whose it is, so that no late one is taken for another."""
    return Succeeded(f'"attempt {grip.held.job.attempt_number}"') if isinstance(outcome, Succeeded) else outcome


def pick(data, choices):
    """Draw one of several."""
    return data.draw(st.sampled_from(choices))


def job_of(grip: Grip) -> int:
    return grip.id


class Verbs(RuleBasedStateMachine):
    """The verbs, one a rule."""

    jobs = Bundle("jobs")
    grips = Bundle("grips")

    def __init__(self, crew: Crew) -> None:
        super().__init__()
        self.mirror = Mirror(crew)

    @invariant()
    def is_as_the_model_says(self):
        self.mirror.check()

    def status(self, job_id):
        return self.mirror.ideal.jobs[job_id].status

    def with_status(self, status):
        return [job_id for job_id, job in self.mirror.ideal.jobs.items() if job.status == status]

    def with_letter(self):
        return [job_id for job_id, job in self.mirror.ideal.jobs.items() if job.letter is not None]

    def holding(self):
        """List the grips, of all workers, that hold their job."""
        believed = [grip for worker in self.mirror.crew.workers for grip in worker.believes]
        return sorted(current(self.mirror, believed), key=lambda grip: grip.id)

    # --- Producers

    @rule(target=jobs, job=NEW_JOBS, count=st.integers(1, 3))
    def enqueue(self, job, count):
        return multiple(*self.mirror.enqueue(job, count))

    @rule(target=jobs, job=UNIQUE_JOBS)
    def enqueue_unique(self, job):
        job_id = self.mirror.enqueue_unique(job)
        return multiple() if job_id is None else job_id

    # --- Time

    @precondition(lambda self: self.with_status("WAITING"))
    @rule(data=st.data())
    def fall_due(self, data):
        self.mirror.fall_due(pick(data, self.with_status("WAITING")))

    @precondition(lambda self: self.mirror.ideal.jobs)
    @rule(data=st.data())
    def pass_deadline(self, data):
        self.mirror.pass_deadline(pick(data, sorted(self.mirror.ideal.jobs)))

    @precondition(lambda self: self.with_status("RUNNING"))
    @rule(data=st.data())
    def freeze(self, data):
        """Nobody renews the lease of a job in time."""
        self.mirror.run_out(pick(data, self.with_status("RUNNING")))

    # --- Workers

    @rule(worker=WORKERS, limit=st.sampled_from([1, 2, 1000]))
    def promote(self, worker, limit):
        self.mirror.promote(worker, limit)

    @rule(
        target=grips, worker=WORKERS, limit=st.integers(1, 4), backend=st.sampled_from(BACKENDS), by_group=st.booleans()
    )
    def claim(self, worker, limit, backend, by_group):
        return multiple(*self.mirror.claim(worker, limit, backend=backend, by_group=by_group))

    @rule(worker=WORKERS, limit=st.integers(1, 2))
    def claim_unheard(self, worker, limit):
        """The reply of a claim is lost."""
        self.mirror.claim(worker, limit, is_heard=False)

    @rule(target=grips, worker=WORKERS)
    def recover(self, worker):
        return multiple(*self.mirror.recover(worker))

    @precondition(lambda self: self.bundle("grips"))
    @rule(worker=WORKERS, some=st.lists(grips, max_size=3, unique_by=job_of))
    def renew(self, worker, some):
        self.mirror.renew(worker, *some)

    @precondition(lambda self: self.holding())
    @rule(data=st.data(), outcome=OUTCOMES)
    def settle(self, data, outcome):
        """A worker settles what it holds."""
        grip = pick(data, self.holding())
        self.mirror.settle(grip.worker, (grip, signed(outcome, grip)))

    @precondition(lambda self: self.bundle("grips"))
    @rule(worker=WORKERS, ends=st.lists(st.tuples(grips, OUTCOMES), max_size=4, unique_by=lambda end: end[0].id))
    def settle_late(self, worker, ends):
        """A worker settles what it holds, or once held, in one call."""
        self.mirror.settle(worker, *[(grip, signed(outcome, grip)) for grip, outcome in ends])

    @rule(grip=grips)
    def give_back(self, grip):
        if grip.is_unstarted:
            self.mirror.give_back(grip.worker, grip)

    @rule(target=grips, worker=WORKERS, limit=st.sampled_from([1, 100]), backend=st.sampled_from(BACKENDS))
    def rescue(self, worker, limit, backend):
        return multiple(*self.mirror.rescue(worker, limit, backend=backend))

    @rule(worker=WORKERS)
    def rescue_unheard(self, worker):
        """The reply of a rescue is lost; its lease runs out like any other."""
        self.mirror.rescue(worker, is_heard=False)

    @rule(worker=WORKERS)
    def crash(self, worker):
        self.mirror.crash(worker)

    # --- People

    @rule(job_id=jobs)
    def cancel(self, job_id):
        self.mirror.cancel(job_id)

    @precondition(lambda self: self.with_letter())
    @rule(data=st.data())
    def replay(self, data):
        self.mirror.replay(pick(data, self.with_letter()))

    @precondition(lambda self: self.with_letter())
    @rule(data=st.data())
    def discard(self, data):
        self.mirror.discard(pick(data, self.with_letter()))
