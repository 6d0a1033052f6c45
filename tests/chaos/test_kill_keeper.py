"""Fault: SIGKILL of a keeper; its runners die with it and another worker takes its place."""

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.load import WITH_ATOMIC
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import is_running
from tests.waiting import wait_until


def kill_a_keeper(drill):
    """Kill one keeper, see its family die, and start another worker."""
    worker = drill.dice.choice(drill.workers)
    pids = wait_until(worker.runners)
    worker.kill()
    wound = healed(1, pids)
    wait_until(lambda: not any(map(is_running, worker.seen)), seconds=10)
    drill.replace(worker)
    return wound


@pytest.mark.parametrize("thread", ["", in_full("1")], ids=["forked", "spawned"])
def test_a_worker_that_is_killed_loses_its_leases_and_no_job(drill, times, thread):
    """What ran under a killed keeper is rescued after its lease, by the others; no process is left behind."""
    # Where imports leave a thread behind runners are spawned.
    habits = {"worker_habits": lambda number: {"environment": {"STAGE_THREAD": thread}}}
    name = "kill_keeper_spawning" if thread else "kill_keeper"
    with drill(name, workers=3, rate=30, mix=WITH_ATOMIC, **habits) as stage:
        report = stage.run(
            kill_a_keeper,
            times(5),
            allowed=Allowed(charges=True, deaths=True),
            between=(0.5, 1.0),
            budget=budgets.keeper_died(stage.lease_seconds),
        )

        assert report.is_good, report.details()
