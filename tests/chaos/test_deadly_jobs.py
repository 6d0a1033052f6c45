"""Fault: the jobs themselves: os._exit(0), a segfault, abort(), among others that do their work."""

import time

from tests.chaos.harness import budgets, recovery
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import hold

MIX = {"fast": 0.83, "slow": 0.1, "fails": 0.02, "exit": 0.02, "segfault": 0.02, "abort": 0.01}

DEADLY = ("exit", "segfault", "abort")


def wait_for(*how):
    """Return the fault that lets the jobs do such things, for a second and until one has."""

    def fault(drill):
        since = time.time()
        return healed(hold(1.0, lambda: drill.started(*how, since=since)))

    return fault


def test_jobs_that_kill_their_process_die_alone(drill, times):
    """Each is a dead letter after three attempts, exit code 0 is no success, and every other job succeeds."""
    with drill("deadly_jobs", rate=15, mix=MIX) as stage:
        report = stage.run(
            wait_for(*DEADLY),
            times(6, 40),
            allowed=Allowed(charges=True),
            budget=budgets.RUNNER_DIED,
            measure=lambda evidence: recovery.closings(evidence, DEADLY),
        )

        assert report.is_good, report.details()
        deadly = [job for job in report.evidence.jobs.values() if "how" in job["kwargs"]]
        assert deadly
        assert {job["status"] for job in deadly} == {"FAILED"}
