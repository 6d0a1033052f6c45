"""Fault: SIGKILL of the forkserver, the process that starts runners; every runner of the worker dies with it."""

import os
import signal

import psutil

from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import is_running
from tests.waiting import wait_until


def kill_a_forkserver(drill):
    """Kill the child of one keeper that has children itself."""
    worker = drill.dice.choice(drill.workers)
    runners = wait_until(worker.runners)
    forkserver = psutil.Process(runners[0]).ppid()
    os.kill(forkserver, signal.SIGKILL)
    wound = healed(1, runners)
    wait_until(lambda: not is_running(forkserver))
    return wound


def test_a_forkserver_that_is_killed_costs_no_job(drill, times):
    """The worker starts another one; what ran is closed within seconds, uncharged, and starts again."""
    with drill("kill_forkserver") as stage:
        report = stage.run(
            kill_a_forkserver,
            times(5),
            allowed=Allowed(charges=True, deaths=True),
            between=(1.5, 2.5),
            budget=budgets.RUNNER_DIED,
        )

        assert report.is_good, report.details()
