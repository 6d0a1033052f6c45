"""Fault: SIGKILL of a runner, in the middle of its jobs."""

import os
import signal

from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.waiting import wait_until


def kill_a_runner(drill):
    """Kill one process of one worker."""
    worker = drill.dice.choice(drill.workers)
    pid = drill.dice.choice(wait_until(worker.runners))
    os.kill(pid, signal.SIGKILL)
    return healed([pid])


def test_a_runner_that_is_killed_costs_an_attempt_and_no_job(drill, times):
    """Each attempt in a killed runner is closed within seconds; every job ends, every run is on record."""
    with drill("kill_runner") as stage:
        report = stage.run(
            kill_a_runner, times(10, 60), allowed=Allowed(charges=True, deaths=True), budget=budgets.RUNNER_DIED
        )

        assert report.is_good, report.details()
        assert max(report.recoveries, default=0) < 10
