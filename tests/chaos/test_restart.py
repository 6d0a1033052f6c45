"""Fault: PostgreSQL restarts, by the book and not: fast, immediate, and SIGKILL of the postmaster or of a backend."""

import os
import signal

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause
from tests.waiting import wait_until

WAYS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "postmaster_killed": signal.SIGKILL}


def restart(way):
    """Return the fault that restarts the server in this way."""

    def fault(drill):
        bites = len(drill.sessions())
        drill.server.stop(WAYS[way])
        drill.server.start()
        return healed(bites)

    return fault


def kill_a_backend(drill):
    """Kill one of the server's processes."""
    pids = wait_until(drill.sessions)
    pid = drill.dice.choice(pids)
    os.kill(pid, signal.SIGKILL)
    # It says that it is up until it has noticed: the first answer may still come from before.
    pause(0.1)
    wait_until(drill.server.answers)
    return healed(len(set(pids) - set(drill.sessions())))


@pytest.mark.parametrize("way", ["immediate", "postmaster_killed", in_full("fast")])
def test_a_restart_of_the_database_costs_nothing(drill, times, way):
    """No job is lost, no attempt charged, no worker leaves; all of them claim again soon after it is back."""
    with drill(f"restart_{way}") as stage:
        report = stage.run(restart(way), times(5), between=(0.8, 1.4), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()


def test_a_backend_that_is_killed_takes_the_server_down_and_costs_nothing(drill, times):
    """PostgreSQL ends every session and recovers when one of its processes dies by SIGKILL."""
    with drill("backend_killed") as stage:
        report = stage.run(kill_a_backend, times(5), between=(0.8, 1.4), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
