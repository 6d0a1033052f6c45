"""Fault: the clock of a worker jumps by an hour, forwards or back, while it works."""

import time

import pytest

from tests.chaos.conftest import only_in_full
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import hold
from tests.scenarios.clock import HOUR, LIBRARY, Clock

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed")

# The library makes a turn of a worker's loop cost many times as much, and starves it for seconds on a busy machine: a
# lease that forgives that, and few jobs. An hour is more than either.
# Nobody is told of new jobs: a worker that waits for the wrong moment is deaf.
OPTIONS = {"lease_seconds": 10, "renew_seconds": 2, "notify": False}
NOTICED_SECONDS = 1.2
"""A process looks at its clock's file once a second."""


def jump(clocks):
    """Return the fault that sets the clock of one worker, and leaves it there until the next time."""

    ahead = dict.fromkeys(clocks, 0)

    def fault(drill):
        number = drill.dice.randrange(len(clocks))
        clock, since = clocks[number], time.time()
        ahead[clock] = drill.dice.choice([hours for hours in (-1, 0, 1) if hours != ahead[clock]])
        clock.set(ahead[clock] * HOUR)
        pids = drill.workers[number].family()

        def feels():
            starts = [start for start in drill.ledger.read("start") if start["pid"] in pids and start["at"] > since]
            return sum(hours_ahead(start) == ahead[clock] for start in starts)

        return healed(hold(NOTICED_SECONDS, feels))

    return fault


def hours_ahead(start):
    """How many hours the clock of a job was ahead when it began."""
    return round((start["clock"] - start["at"]) / HOUR)


@only_in_full
def test_a_clock_that_jumps_costs_nothing(drill, times, tmp_path):
    """Leases, due times and retries are PostgreSQL's: nothing is lost, charged or rescued early, whatever it shows."""
    clocks = [Clock(tmp_path / f"clock-{number}") for number in (1, 2)]
    mix = {"fast": 0.7, "slow": 0.1, "long": 0.1, "fails": 0.1}
    habits = {"worker_habits": lambda number: {"environment": clocks[number - 1].environment}, "options": OPTIONS}
    with drill("clock_jumps", mix=mix, rate=8, **habits) as stage:
        report = stage.run(jump(clocks), times(6))

        assert report.is_good, report.details()
        starts = [start for starts in report.evidence.starts.values() for start in starts]
        assert set(map(hours_ahead, starts)) > {0}
        assert max(report.recoveries) < 15
