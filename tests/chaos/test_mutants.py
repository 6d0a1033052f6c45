"""A check that cannot turn red proves nothing: each mutant of the product must be found out, by the rule it breaks."""

import subprocess
import sys
import time
from dataclasses import dataclass, field

import pytest

from tests.chaos.conftest import in_full, only_in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import ROOT
from tests.chaos.harness.workers import hold
from tests.chaos.mutants import MUTANTS
from tests.chaos.test_freeze import freeze
from tests.chaos.test_kill_runner import kill_a_runner
from tests.chaos.test_long_outage import outage
from tests.chaos.test_lost_replies import CLAIM, lose
from tests.chaos.test_one_line import ONE_LINE, stall_one_line
from tests.chaos.test_people import AT_WORK
from tests.chaos.test_terminated_backends import terminate

LONG = {"fast": 0.6, "slow": 0.2, "long": 0.2}
MOST_HUNTS = 4
"""A fault has to meet the mistake at the right moment, which one hunt may miss."""

REST_SECONDS = 15
"""A mutant may leave jobs that never come to an end."""


@dataclass
class Hunt:
    """A fault, and the rule that a mutant breaks under it; a healthy worker breaks none."""

    breaks: str
    fault: object
    times: int
    allowed: Allowed = field(default_factory=Allowed)
    stage: dict = field(default_factory=dict)
    workers_live: bool = True
    more: dict = field(default_factory=dict)

    def go(self, drill, name, mutant=""):
        """Run it, with a mutant or without, and answer with the report."""
        hunting = {"mutant": mutant, "rest_seconds": REST_SECONDS, "samples_the_pace": False}
        with drill(name, **hunting, **self.stage) as stage:
            return stage.run(self.fault, self.times, allowed=self.allowed, budget=budgets.DATABASE_BACK, **self.more)


def nothing(drill):
    """Do nothing but see that jobs run."""
    since = time.time()
    return healed(hold(0.5, lambda: drill.started("", since=since)))


TAKEN_OVER = Allowed(charges=True, deaths=True)
FREEZING = Allowed(charges=True, deaths=True, overlaps=True)
OUTAGE = {"mix": LONG, "rate": 15, "proxied": True}
HUNTS = {
    "settle_without_token": Hunt(
        "tokens_are_used_by_their_owner", freeze("worker"), 5, FREEZING, {"mix": LONG, "rate": 10}
    ),
    "rescue_before_expiry": Hunt("nobody_is_rescued_too_early", nothing, 3, stage={"mix": LONG, "rate": 10}),
    "never_renew": Hunt(
        "deaths_are_deserved", nothing, 3, stage={"mix": LONG, "rate": 5, "options": {"max_interruptions": 2}}
    ),
    "forget_lost_claims": Hunt("burnt", lose(*CLAIM), 4, stage={"proxied": True}),
    "forget_outcomes": Hunt("burnt", terminate, 8, stage={"rate": 60}),
    "give_up_at_once": Hunt("left", terminate, 1, workers_live=False),
    "burn_interruptions": Hunt("burnt", outage, 2, stage=OUTAGE),
    "retry_the_unwanted": Hunt("what_was_cancelled_does_not_come_back", kill_a_runner, 15, TAKEN_OVER, AT_WORK),
    "no_self_fence": Hunt("runs_do_not_overlap", stall_one_line, 4, TAKEN_OVER, ONE_LINE),
    "keep_no_truce": Hunt("burnt", outage, 3, stage=OUTAGE),
    "wait_for_long": Hunt("slow", outage, 2, stage=OUTAGE),
    "wait_for_nothing": Hunt("tight", outage, 1, stage=OUTAGE),
    "say_each_try": Hunt("flood", outage, 1, stage=OUTAGE),
}
SHORT = ("settle_without_token", "forget_lost_claims", "no_self_fence")

assert set(HUNTS) == set(MUTANTS)


@pytest.mark.parametrize("mutant", [name if name in SHORT else in_full(name) for name in HUNTS])
def test_a_mutant_is_found_out(drill, mutant):
    """A worker without one of its safeguards breaks the rule that this one keeps, and goes on working."""
    check = subprocess.run(
        [sys.executable, "-m", "tests.chaos.mutants", mutant], cwd=ROOT, capture_output=True, text=True
    )
    assert check.returncode == 0, check.stderr
    hunt, found = HUNTS[mutant], []
    for _ in range(MOST_HUNTS):
        report = hunt.go(drill, f"mutant_{mutant}", mutant)
        if hunt.workers_live:
            assert "left" not in report.kinds, report.details()
        if hunt.breaks in report.kinds:
            return
        found += report.kinds
    pytest.fail(f"{mutant} broke no {hunt.breaks} in {MOST_HUNTS} hunts, but {found}")


@only_in_full
@pytest.mark.parametrize("mutant", HUNTS)
def test_a_healthy_worker_is_not_hunted_down(drill, mutant):
    """The same fault, without the mutant, finds nothing."""
    report = HUNTS[mutant].go(drill, f"control_{mutant}")

    assert report.is_good, report.details()
