"""Fault: somebody holds an ACCESS EXCLUSIVE lock on the job table, as a migration does, for longer than the leases."""

from contextlib import closing

import pytest

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import hold

WAITERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE application_name LIKE 'worker-%%' AND %s = ANY (pg_blocking_pids(pid))
"""


def lock(seconds):
    """Return the fault that locks the table for so long."""

    def fault(drill):
        with closing(drill.server.connect(drill.database)) as stranger, stranger.transaction():
            stranger.execute("LOCK TABLE django_jobqueue_job IN ACCESS EXCLUSIVE MODE")
            ours = stranger.info.backend_pid
            bites = hold(seconds, lambda: drill.ask(WAITERS, [ours])[0][0])
        return healed(bites)

    return fault


@pytest.mark.parametrize(
    ("seconds", "short"), [(1.5, 5), pytest.param(10.0, 1, marks=pytest.mark.long)], ids=["briefly", "for_long"]
)
def test_a_locked_table_costs_nothing(drill, times, seconds, short):
    """Jobs whose lease cannot be renewed are stopped and start again uncharged; outcomes are kept."""
    with drill(f"locked_table_{seconds:g}s") as stage:
        report = stage.run(lock(seconds), times(short), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
