"""Stories that chance alone would take too long to tell, each one step of the machine.

A plot starts from whatever queue the steps before it have left, and every answer on the way is compared. A plot ends
early where its hero cannot come on: a task that nobody knows, a deadline that has passed.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import multiple, rule

from django_jobqueue.policy.outcomes import Lost
from tests.model.machine import ALL, OUTCOMES, WORKERS, Verbs, pick, signed
from tests.model.state import JobState

LONG_ENOUGH = 9
"""More attempts than any road leads to, within the bounds of the model."""


class Plots(Verbs):
    """The verbs, and the plots of jobs that live; `pausing` and `afterlives` tell of the others."""

    def a_live_job(self, data):
        """Name a job that may run: one that is there, or a new one."""
        live = [*self.with_status("READY"), *self.with_status("WAITING")]
        return pick(data, live) if live else self.mirror.enqueue(JobState("shop.charge", max_attempts=2))[0]

    def start(self, job_id, worker):
        """Have a worker claim until it holds the job; answer with the grip, or None."""
        if self.status(job_id) == "WAITING":
            self.mirror.fall_due(job_id)
            self.mirror.promote(worker)
            while self.status(job_id) == "WAITING" and self.mirror.admit(worker):
                pass
        if self.status(job_id) != "READY":
            return None
        # By group or in order, by its place: the same steps must be the same story, and ids grow from run to run.
        by_group = list(self.mirror.ideal.jobs).index(job_id) % 2 == 0
        grips = self.mirror.claim(worker, 1000, backend=self.backend(job_id), by_group=by_group)
        found = [grip for grip in grips if grip.id == job_id]
        return found[0] if found else None

    def take_over(self, job_id, rescuer):
        """Let the lease of a job run out and have a worker rescue it, which has forgotten its own."""
        self.mirror.run_out(job_id)
        self.mirror.crash(rescuer)
        return next(grip for grip in self.mirror.rescue(rescuer, backend=self.backend(job_id)) if grip.id == job_id)

    def backend(self, job_id):
        return self.mirror.ideal.jobs[job_id].backend

    # --- Frozen workers

    @rule(target=Verbs.grips, data=st.data(), worker=WORKERS, late=OUTCOMES)
    def freeze_rerun_elsewhere_ack_late(self, data, worker, late):
        """A frozen worker comes back when its job runs elsewhere, and tries everything it can."""
        grip = self.start(self.a_live_job(data), worker)
        if grip is None:
            return multiple()
        rescuer, third = (worker + 1) % 3, (worker + 2) % 3
        rescued = self.take_over(grip.id, rescuer)
        self.mirror.settle(rescuer, (rescued, Lost()))
        elsewhere = self.start(grip.id, third)
        self.mirror.settle(worker, (grip, signed(late, grip)))
        self.mirror.renew(worker, grip)
        self.mirror.give_back(worker, grip)
        return multiple(grip, rescued) if elsewhere is None else multiple(grip, rescued, elsewhere)

    @rule(target=Verbs.grips, data=st.data(), worker=WORKERS, outcome=OUTCOMES, gives_back=st.booleans())
    def act_between_the_scan_and_the_settle_of_a_rescue(self, data, worker, outcome, gives_back):
        """What the lost worker does after the take-over changes nothing; the rescuer closes the attempt in its name."""
        grip = self.start(self.a_live_job(data), worker)
        if grip is None:
            return multiple()
        rescuer = (worker + 1) % 3
        rescued = self.take_over(grip.id, rescuer)
        if gives_back:
            self.mirror.give_back(worker, grip)
        else:
            self.mirror.settle(worker, (grip, signed(outcome, grip)))
        self.mirror.check()
        self.mirror.settle(rescuer, (rescued, Lost()))
        return multiple(grip, rescued)

    @rule(data=st.data(), worker=WORKERS)
    def renew_at_the_last_moment(self, data, worker):
        """A lease that is over is still its worker's until somebody takes it; then nobody rescues it."""
        grip = self.start(self.a_live_job(data), worker)
        if grip is not None:
            self.mirror.run_out(grip.id)
            self.mirror.renew(worker, grip)
            self.mirror.rescue((worker + 1) % 3)

    @rule(target=Verbs.grips, data=st.data(), worker=WORKERS, outcome=OUTCOMES)
    def settle_a_batch_of_which_half_is_lost(self, data, worker, outcome):
        """One call with a stale token in it writes what is current, and only that."""
        self.mirror.enqueue(JobState("shop.mail", max_attempts=2), 2)
        grips = self.mirror.claim(worker, 2)
        rescued = self.take_over(grips[0].id, (worker + 1) % 3)
        self.mirror.settle(worker, *[(grip, signed(outcome, grip)) for grip in grips])
        return multiple(*grips, rescued)

    # --- Workers that die

    @rule(data=st.data(), worker=WORKERS)
    def crash_right_after_the_claim_again_and_again(self, data, worker):
        """A job whose worker dies at once, however often, is charged for each and dies in the end."""
        job_id = self.a_live_job(data)
        for _ in range(LONG_ENOUGH):
            if self.start(job_id, worker) is None:
                break
            rescued = self.take_over(job_id, worker)
            self.mirror.settle(worker, (rescued, Lost()))
            self.mirror.check()

    @rule(target=Verbs.grips, data=st.data(), worker=WORKERS)
    def lose_the_reply_of_a_claim_and_come_back(self, data, worker):
        """A worker gives back what it did not hear of, keeps what it knows, and leaves others' jobs alone."""
        self.mirror.enqueue(JobState("shop.charge"), 3)
        known = self.mirror.claim(worker)
        self.mirror.claim(worker, is_heard=False)
        others = self.mirror.claim((worker + 1) % 3)
        recovered = self.mirror.recover(worker)
        self.mirror.give_back(worker, *recovered)
        return multiple(*known, *others, *recovered)

    @rule(worker=WORKERS)
    def lose_the_reply_of_a_rescue_and_come_back(self, worker):
        """What a rescue took over unheard is not the rescuer's to give back: the attempt may have run."""
        self.mirror.enqueue(JobState("shop.charge"))
        for grip in self.mirror.claim(worker):
            rescuer = (worker + 1) % 3
            self.mirror.run_out(grip.id)
            self.mirror.rescue(rescuer, is_heard=False)
            self.mirror.recover(rescuer)

    @rule(data=st.data(), worker=WORKERS)
    def take_no_more_than_asked_for(self, data, worker):
        """Many leases end at once, and many jobs fall due: those first that were first, and the rest another time."""
        for backend in ("default", "other"):
            job = JobState("shop.mail", backend=backend)
            self.mirror.enqueue(job, 2)
            self.mirror.run_out(*[grip.id for grip in self.mirror.claim(worker, 3, backend=backend)])
            for rescuer in range(3):
                self.mirror.rescue(rescuer, 1, backend=backend)
        for job_id in self.mirror.enqueue(JobState("shop.mail", is_due=False), 4):
            self.mirror.fall_due(job_id)
        (too_late,) = self.mirror.enqueue(JobState("shop.mail", priority=5))
        self.mirror.pass_deadline(too_late)
        for by_group in (False, True):
            self.mirror.promote(worker, 2)
            self.mirror.enqueue(JobState("shop.mail", priority=9))
            self.mirror.claim(worker, 1, by_group=by_group)

    @rule(worker=WORKERS)
    def promote_before_the_time(self, worker):
        """What is not due is left where it is, by a promotion and by a claim."""
        (job_id,) = self.mirror.enqueue(JobState("shop.mail", is_due=False))
        self.mirror.promote(worker)
        self.mirror.claim(worker, 1000)
        self.mirror.fall_due(job_id)
        self.mirror.promote(worker)

    # --- Bounds

    @rule(worker=WORKERS)
    def end_in_every_way_side_by_side(self, worker):
        """One call settles many jobs, each in its own way, again and again until every bound is reached."""
        ends = dict(zip(self.mirror.enqueue(JobState("shop.charge"), len(ALL)), ALL, strict=True))
        for _ in range(4):
            for job_id in ends.keys() & set(self.with_status("WAITING")):
                self.mirror.fall_due(job_id)
            self.mirror.promote(worker)
            mine = [grip for grip in self.mirror.claim(worker, 1000) if grip.id in ends]
            self.mirror.settle(worker, *[(grip, signed(ends[grip.id], grip)) for grip in mine])
            self.mirror.check()

    @rule(data=st.data(), worker=WORKERS, outcome=OUTCOMES, is_new=st.booleans())
    def end_the_same_way_again_and_again(self, data, worker, outcome, is_new):
        """Whatever happens to a job, it does not happen for ever."""
        job_id = self.mirror.enqueue(JobState("shop.charge"))[0] if is_new else self.a_live_job(data)
        for _ in range(LONG_ENOUGH):
            grip = self.start(job_id, worker)
            if grip is None:
                break
            self.mirror.settle(worker, (grip, signed(outcome, grip)))
            self.mirror.check()

    # --- People and workers

    @rule(data=st.data(), worker=WORKERS)
    def cancel_before_and_after_the_claim(self, data, worker):
        """What was cancelled is not claimed; what was claimed is asked, and no end but success is another than that."""
        first, second = self.mirror.enqueue(JobState("shop.mail"), 2)
        self.mirror.cancel(first)
        grip = self.start(second, worker)
        self.mirror.cancel(second)
        self.mirror.renew(worker, grip)
        end = data.draw(st.sampled_from(["settle", "give back", "nothing"]))
        if end == "settle":
            self.mirror.settle(worker, (grip, signed(data.draw(OUTCOMES), grip)))
        elif end == "give back":
            self.mirror.give_back(worker, grip)

    @rule(target=Verbs.grips, worker=WORKERS)
    def work_around_a_lock(self, worker):
        """Rows that somebody has locked hold no worker up: they are passed over, and a lease on them is busy."""
        owner = (worker + 1) % 3
        runs = self.start(self.mirror.enqueue(JobState("shop.mail"))[0], owner)
        self.mirror.run_out(runs.id)
        (waits,) = self.mirror.enqueue(JobState("shop.mail", is_due=False))
        self.mirror.fall_due(waits)
        (is_ready,) = self.mirror.enqueue(JobState("shop.mail", priority=5))
        with self.mirror.somebody_locks(runs.id, waits, is_ready):
            self.mirror.promote(worker)
            self.mirror.renew(owner, runs)
            grips = [*self.mirror.rescue(worker), *self.mirror.recover(worker)]
            for by_group in (False, True):
                grips += self.mirror.claim(worker, 1, by_group=by_group)
        return multiple(runs, *grips)
