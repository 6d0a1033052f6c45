"""Fault: SIGKILL of a runner, in the middle of its jobs."""

import os
import signal

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.load import WITH_ATOMIC
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import is_running
from tests.waiting import wait_until


def kill_a_runner(drill):
    """Kill one process of one worker."""
    worker = drill.dice.choice(drill.workers)
    pid = drill.dice.choice(wait_until(worker.runners))
    os.kill(pid, signal.SIGKILL)
    wound = healed(1, [pid])
    wait_until(lambda: not is_running(pid))
    return wound


@pytest.mark.parametrize("options", [{}, in_full({"max_jobs_per_process": 1})], ids=["lasting", "for_one_job"])
def test_a_runner_that_is_killed_costs_an_attempt_and_no_job(drill, times, options):
    """Each attempt in a killed runner is closed within seconds; every job ends, every run is on record."""
    name, rate = ("kill_runner_of_one_job", 4) if options else ("kill_runner", 40)
    with drill(name, mix=WITH_ATOMIC, rate=rate, options=options) as stage:
        report = stage.run(
            kill_a_runner, times(10, 60), allowed=Allowed(charges=True, deaths=True), budget=budgets.RUNNER_DIED
        )

        assert report.is_good, report.details()
