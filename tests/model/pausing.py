"""Pauses, and the stories of them, each one step of the machine."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import multiple, precondition, rule

from tests.model.machine import OUTCOMES, WORKERS, Verbs, pick, signed
from tests.model.plots import Plots
from tests.model.state import JobState

TARGETS = st.sampled_from(
    [
        ("queue", "mail"),
        ("queue", "ma*"),
        ("queue", "m_il"),
        ("queue", "%"),
        ("task", "shop.report"),
        ("task", "shop.r*"),
    ]
)
"""What stays paused from one step to the next: nothing that the heroes of the plots need."""

EVERYTHING = st.sampled_from([("queue", "*"), ("queue", "def*"), ("task", "shop.mail"), ("task", "shop.*")])
"""What is paused within a plot."""


class Pausing(Plots):
    """The verbs, the plots, and the pauses."""

    @rule(named=TARGETS)
    def pause(self, named):
        self.mirror.pause(*named)

    @rule(named=TARGETS)
    def resume(self, named):
        self.mirror.resume(*named)

    @precondition(lambda self: self.mirror.ideal.pauses)
    @rule(data=st.data())
    def end_pause(self, data):
        self.mirror.end_pause(*pick(data, sorted(self.mirror.ideal.pauses)))

    @rule(target=Verbs.grips, worker=WORKERS, named=EVERYTHING, outcome=OUTCOMES, ends=st.booleans())
    def pause_resume_and_go_on(self, worker, named, outcome, ends):
        """What runs when the pause begins runs on; nothing starts, however it is looked for, until it is over."""
        self.mirror.enqueue(JobState("shop.mail", priority=9), 2)
        running = self.mirror.claim(worker, 1)
        self.mirror.pause(*named)
        for by_group in (False, True):
            self.mirror.claim((worker + 1) % 3, 2, by_group=by_group)
        self.mirror.settle(worker, *[(grip, signed(outcome, grip)) for grip in running])
        self.mirror.promote(worker)
        self.mirror.claim(worker, 2)
        if ends:
            self.mirror.end_pause(*named)
        else:
            self.mirror.resume(*named)
        return multiple(*self.mirror.claim(worker, 2, by_group=ends))

    @rule(
        target=Verbs.grips,
        worker=WORKERS,
        named=EVERYTHING,
        is_over=st.booleans(),
        commits=st.booleans(),
        by_group=st.booleans(),
    )
    def claim_while_somebody_decides(self, worker, named, is_over, commits, by_group):
        """Between the lock and the commit of a pause, or of a resume, nothing is claimed; a renewal goes through."""
        self.mirror.enqueue(JobState("shop.mail", priority=9), 2)
        (grip,) = self.mirror.claim(worker, 1)
        verb = "resume" if is_over else "pause"
        if is_over:
            self.mirror.pause(*named)
        with self.mirror.not_committed_yet(verb, *named, commits=commits):
            grips = self.mirror.claim(worker, 1, by_group=by_group)
            self.mirror.renew(worker, grip)
        grips += self.mirror.claim(worker, 1, by_group=by_group)
        if named in self.mirror.ideal.pauses:
            self.mirror.resume(*named)
        return multiple(grip, *grips)
