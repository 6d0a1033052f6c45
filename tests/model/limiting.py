"""Limits and orders, and the stories of them, each one step of the machine."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import multiple, rule

from django_jobqueue.policy.outcomes import Failed, Interrupted, Succeeded, Verdict
from django_jobqueue.store.enqueue import Gates
from tests.model.machine import BACKENDS, OUTCOMES, WORKERS, Verbs, signed
from tests.model.mirror import TASKS
from tests.model.pausing import Pausing
from tests.model.state import JobState

GATED_JOBS = st.builds(
    JobState,
    task=st.sampled_from(TASKS),
    backend=st.sampled_from(BACKENDS),
    priority=st.sampled_from([0, 0, 5]),
    max_attempts=st.integers(1, 3),
    is_due=st.sampled_from([True, True, False]),
    queue=st.sampled_from(["default", "mail"]),
    gates=st.sampled_from(
        [
            Gates("a", 1),
            Gates("b", 2),
            Gates("b", 2, None, 3),
            Gates(task_limit=2),
            Gates(queue_limit=3),
            Gates("a", 1, 2, 3),
            Gates(order_key="x"),
            Gates(order_key="y", order_blocks=True),
            Gates("a", 1, order_key="x"),
            Gates(queue_limit=3, order_key="y", order_blocks=True),
        ]
    ),
)

LIMITS = st.sampled_from(
    [("key", "a"), ("key", "b"), ("task", "shop.mail"), ("task", "shop.report"), ("queue", "mail"), ("queue", "none")]
)

AT_ONCE = st.sampled_from([0, 1, 2, 5, None])

KINDS = st.sampled_from(["key", "task", "queue"])

ENDS = st.sampled_from([Succeeded(), Failed(), Failed(after_seconds=0.0), Failed(verdict=Verdict.REJECTED)])


class Limiting(Pausing):
    """The verbs, the plots, the pauses, and the gates."""

    @rule(target=Verbs.jobs, job=GATED_JOBS, count=st.integers(1, 3))
    def enqueue_behind_gates(self, job, count):
        return multiple(*self.mirror.enqueue(job, count))

    @rule(worker=WORKERS)
    def admit(self, worker):
        self.mirror.admit(worker)

    @rule(named=LIMITS, at_once=AT_ONCE)
    def set_limit(self, named, at_once):
        self.mirror.set_limit(*named, at_once)

    def admit_all(self, worker):
        """Look for who may be admitted until nobody is."""
        while self.mirror.admit(worker):
            self.mirror.check()

    def under(self, kind, at_once, **more):
        """Make a job under a limit that no other has, as far as that can be; answer with what the limit is of, too."""
        target = "shop.report" if kind == "task" else f"new {len(self.mirror.ideal.jobs)}"
        gates = {
            "key": Gates(concurrency_key=target, key_limit=at_once),
            "task": Gates(task_limit=at_once),
            "queue": Gates(queue_limit=at_once),
        }
        job = JobState("shop.report", queue=target if kind == "queue" else "default", gates=gates[kind], **more)
        return (kind, target), job

    def a_line(self, count=3, *, blocks=False, **more):
        """Enqueue jobs that go one after the other; the later the more urgent, which changes nothing."""
        gates = Gates(order_key=f"new {len(self.mirror.ideal.jobs)}", order_blocks=blocks)
        return [
            self.mirror.enqueue(JobState("shop.charge", priority=priority, gates=gates, **more))[0]
            for priority in range(count)
        ]

    # --- Slots

    @rule(target=Verbs.grips, worker=WORKERS, kind=KINDS, outcome=OUTCOMES)
    def run_as_many_as_there_are_slots(self, worker, kind, outcome):
        """Of more jobs than slots the others follow as those end, whichever way they do."""
        _, job = self.under(kind, 2)
        mine = set(self.mirror.enqueue(job, 4))
        late = self.mirror.enqueue(replace(job, priority=5))
        self.mirror.enqueue(replace(job, priority=7))
        self.admit_all(worker)
        grips = self.mirror.claim(worker, 1000)
        self.admit_all(worker)
        held = [grip for grip in grips if grip.id in mine]
        self.mirror.settle(worker, *[(grip, signed(outcome, grip)) for grip in held[:1]])
        self.admit_all((worker + 1) % 3)
        self.mirror.cancel(late[0])
        self.admit_all(worker)
        return multiple(*grips)

    @rule(worker=WORKERS, backends=st.permutations(["default", "other"]), at_once=st.integers(1, 2))
    def share_a_key_by_tasks_and_queues_of_one_backend(self, worker, backends, at_once):
        """A key is one, whoever names it, and another one in another backend."""
        gates = Gates(f"new {len(self.mirror.ideal.jobs)}", at_once)
        for backend in backends:
            for task, queue in (("shop.mail", "default"), ("shop.report", "mail")):
                self.mirror.enqueue(JobState(task, backend=backend, queue=queue, gates=gates), 2)
        self.admit_all(worker)

    @rule(worker=WORKERS, at_once=st.integers(2, 3))
    def share_a_limit(self, worker, at_once):
        """It is one for all of its jobs, in whatever queue and of whatever task they are."""
        for kind in ("key", "task", "queue"):
            _, job = self.under(kind, at_once)
            for number, task in enumerate(TASKS):
                queue = job.queue if kind == "queue" else f"lane {number}"
                self.mirror.enqueue(replace(job, task=job.task if kind == "task" else task, queue=queue), 2)
            self.admit_all(worker)

    @rule(
        target=Verbs.grips, worker=WORKERS, kind=KINDS, at_once=st.sampled_from([0, 1, 3, 4]), gives_back=st.booleans()
    )
    def change_a_limit_while_jobs_run(self, worker, kind, at_once, gives_back):
        """Nothing starts until the running are fewer, and one that is put back neither."""
        named, job = self.under(kind, 3)
        mine = set(self.mirror.enqueue(job, 5))
        self.admit_all(worker)
        grips = [grip for grip in self.mirror.claim(worker, 2) if grip.id in mine]
        self.mirror.set_limit(*named, at_once)
        self.mirror.check()
        grips += self.mirror.claim((worker + 1) % 3, 1000)
        self.admit_all(worker)
        for grip in [grip for grip in grips if grip.id in mine][:2]:
            if gives_back:
                self.mirror.give_back(grip.worker, grip)
            else:
                self.mirror.settle(grip.worker, (grip, Interrupted()))
            self.mirror.check()
            grips += self.mirror.claim(worker, 1000)
            self.admit_all(worker)
        self.mirror.set_limit(*named, None)
        self.admit_all(worker)
        return multiple(*grips, *self.mirror.claim(worker, 1000))

    @rule(worker=WORKERS, kind=KINDS, at_once=st.sampled_from([0, 1, 5]))
    def set_a_limit_beside_which_others_are_under_none(self, worker, kind, at_once):
        """Who is under no limit of that kind is not touched by it, and takes none of its slots."""
        named, job = self.under(kind, 2)
        target = named[1] if kind != "task" else "shop.report"
        self.mirror.enqueue(JobState("shop.report", queue=job.queue), 2)
        other = Gates(f"other {len(self.mirror.ideal.jobs)}", 2) if kind != "key" else Gates(queue_limit=9)
        self.mirror.enqueue(JobState("shop.report", queue=job.queue, gates=other), 2)
        self.mirror.enqueue(job, 3)
        self.mirror.set_limit(kind, target, at_once)
        self.admit_all(worker)
        self.mirror.set_limit(kind, target, None)

    @rule(worker=WORKERS, kind=KINDS)
    def admit_while_another_does(self, worker, kind):
        """One at a time admits; whoever else would waits for nobody, and does nothing."""
        _, job = self.under(kind, 1)
        self.mirror.enqueue(job, 2)
        self.a_line(2)
        with self.mirror.somebody_admits():
            self.mirror.admit(worker)
            self.mirror.check()
        self.admit_all(worker)

    @rule(worker=WORKERS, kind=KINDS, at_once=st.sampled_from([1, 4]), commits=st.booleans())
    def admit_and_claim_while_somebody_sets_a_limit(self, worker, kind, at_once, commits):
        """Between the change of a limit and its commit nobody is admitted, and nothing is claimed."""
        named, job = self.under(kind, 2)
        self.mirror.enqueue(job, 4)
        self.admit_all(worker)
        # Somebody else for whom there is room, too.
        self.mirror.enqueue(self.under("key", 1)[1])
        with self.mirror.limit_not_committed_yet(*named, at_once, commits=commits):
            self.mirror.admit(worker)
            self.mirror.claim(worker, 1000)
        self.mirror.check()
        self.admit_all(worker)

    @rule(worker=WORKERS, kind=KINDS)
    def admit_around_a_lock(self, worker, kind):
        """Rows that somebody has locked hold up nobody who admits: they are admitted another time."""
        _, job = self.under(kind, 2)
        locked, *_ = self.mirror.enqueue(job, 3)
        first, *_ = self.a_line(2)
        with self.mirror.somebody_locks(locked, first):
            self.mirror.admit(worker)
            self.mirror.check()
        self.admit_all(worker)

    # --- Turns

    @rule(target=Verbs.grips, worker=WORKERS, outcome=OUTCOMES, blocks=st.booleans(), limited=st.booleans())
    def go_one_after_the_other(self, worker, outcome, blocks, limited):
        """The first one has its turn through whatever comes between it and its end."""
        first, *_ = self.a_line(blocks=blocks, max_attempts=2)
        if limited:
            _, job = self.under("key", 1)
            line = self.mirror.ideal.jobs[first].gates.order_key
            self.mirror.enqueue(JobState(job.task, gates=job.gates._replace(order_key=line)), 2)
        grips = []
        for _ in range(4):
            self.admit_all(worker)
            grip = self.start(first, worker)
            if grip is None:
                break
            grips.append(grip)
            self.admit_all(worker)
            self.mirror.settle(worker, (grip, signed(outcome, grip)))
            self.mirror.check()
        self.admit_all(worker)
        return multiple(*grips)

    @rule(worker=WORKERS, kind=KINDS)
    def have_a_turn_and_wait_for_a_slot(self, worker, kind):
        """A job that needs both has its turn first, keeps it while it waits for a slot, and starts with that."""
        _, job = self.under(kind, 1)
        line = f"new {len(self.mirror.ideal.jobs)}"
        for name in ("first", "second"):
            self.mirror.enqueue(replace(job, gates=job.gates._replace(order_key=f"{line} {name}")), 2)
        self.admit_all(worker)

    @rule(worker=WORKERS, blocks=st.booleans(), is_discarded=st.booleans())
    def die_before_the_others_of_a_line(self, worker, blocks, is_discarded):
        """A dead letter lets the others pass, or holds them up until a person has answered it."""
        first, *_ = self.a_line(2, blocks=blocks)
        self.admit_all(worker)
        self.mirror.settle(worker, (self.start(first, worker), Failed(verdict=Verdict.REJECTED)))
        self.admit_all(worker)
        self.mirror.check()
        if is_discarded:
            self.mirror.discard(first)
            self.admit_all(worker)
            self.mirror.check()
        self.mirror.replay(first)
        self.admit_all(worker)

    @rule(worker=WORKERS, backends=st.permutations(["default", "other"]))
    def go_in_lines_of_their_own(self, worker, backends):
        """An order key is that of a backend: another one's jobs of the same key are in another line."""
        gates = Gates(order_key=f"new {len(self.mirror.ideal.jobs)}")
        for backend in backends:
            self.mirror.enqueue(JobState("shop.charge", backend=backend, gates=gates), 2)
            self.admit_all(worker)

    @rule(worker=WORKERS)
    def wait_for_one_that_is_not_due(self, worker):
        """The order is that of the ids: one that is not due holds up its successors, unless it is cancelled."""
        first, *_ = self.a_line(2, is_due=False)
        gates = self.mirror.ideal.jobs[first].gates
        self.mirror.enqueue(JobState("shop.charge", gates=gates))
        self.admit_all(worker)
        self.mirror.cancel(first)
        self.admit_all(worker)
