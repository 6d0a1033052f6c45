"""Fault: the disk that holds the queue's tables is full."""

import time
from contextlib import closing, contextmanager

from tests.chaos.harness import budgets
from tests.chaos.harness.disk import filled, small_disk
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import hold


@contextmanager
def small_tablespace(server, size="48m"):
    """Make a tablespace on a small disk, and answer with its folder."""
    with small_disk(server, size) as folder:
        with closing(server.connect()) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
        yield folder
        with closing(server.connect()) as connection:
            connection.execute("DROP TABLESPACE small")


def fill(folder):
    """Return the fault that fills the disk for a second and a half."""

    def fault(drill):
        since = time.time()
        with filled(folder):
            bites = hold(1.5, lambda: drill.refused("53100", since=since))
        return healed(bites)

    return fault


def test_a_full_disk_costs_nothing(server, drill, times):
    """Producers are refused, workers wait; when there is room again everything goes on."""
    with small_tablespace(server) as folder, drill("disk_full", tablespace="small", rate=60) as stage:
        report = stage.run(fill(folder), times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
