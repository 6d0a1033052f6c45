"""Fault: PostgreSQL restarts, by the book and not: fast, immediate, and SIGKILL of the postmaster."""

import signal

import pytest

from tests.chaos.harness.nemesis import healed

WAYS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT, "postmaster_killed": signal.SIGKILL}


@pytest.mark.parametrize("way", WAYS)
def test_a_restart_of_the_database_costs_nothing(drill, times, way):
    """No job is lost, no attempt charged, no worker leaves; all of them claim again soon after it is back."""

    def restart(drill):
        drill.server.stop(WAYS[way])
        drill.server.start()
        return healed()

    with drill(f"restart_{way}") as stage:
        report = stage.run(restart, times(5), between=(0.8, 1.4))

        assert report.is_good, report.details()
        assert max(report.recoveries) < 10
