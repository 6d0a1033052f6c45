"""Fault: a stranger updates the rows of running jobs in one transaction, from the last to the first."""

import time
from contextlib import closing, suppress

import psycopg

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

MIX = {"fast": 0.4, "slow": 0.55, "fails": 0.05}
SECONDS = 1.0
"""Half a lease: a row that is locked for longer cannot be renewed, and whoever rescues it charges it."""

MOST_SECONDS = 15.0
"""So long the first ones go on until there has been a deadlock at all: whether two meet is a matter of luck."""

UPDATE = "UPDATE django_jobqueue_job SET priority = priority WHERE id = %s AND status = 'RUNNING'"


def bait(drill):
    """Go through the running jobs in the wrong order, again and again; whoever is in the way may be the victim."""
    began, locked = time.monotonic(), 0
    with closing(drill.server.connect(drill.database)) as stranger:
        # Who looks for the circle when it has closed is the victim: the stranger soon, or never, and then the worker.
        patience = drill.dice.choice(["10ms", "10s"])
        stranger.execute(f"SET deadlock_timeout = '{patience}'")
        while (passed := time.monotonic() - began) < SECONDS or (passed < MOST_SECONDS and not deadlocks(drill)):
            running = "SELECT id FROM django_jobqueue_job WHERE status = 'RUNNING' ORDER BY id DESC LIMIT 30"
            ids = stranger.execute(running).fetchall()
            with suppress(psycopg.errors.DeadlockDetected), stranger.transaction():
                for row in ids:
                    locked += stranger.execute(UPDATE, row).rowcount
                    pause(0.03)
            pause(0.02)
    return healed(locked)


def deadlocks(drill):
    """Count the circles that PostgreSQL has broken so far."""
    return drill.ask("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0]


def test_deadlocks_cost_nothing(server, drill, times):
    """A worker that is chosen as the victim writes its outcomes again; nothing is lost or charged."""
    server.configure("deadlock_timeout", "'300ms'")
    try:
        with drill("deadlocks", mix=MIX, rate=60, arguments=["--threads", "8"]) as stage:
            report = stage.run(bait, times(8, 40), budget=budgets.DATABASE_BACK)

            assert report.is_good, report.details()
            assert deadlocks(stage)
    finally:
        server.configure("deadlock_timeout")
