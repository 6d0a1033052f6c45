"""Fault: the server takes no writes: sessions read-only by default, and a standby after a failover."""

import signal
import time

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import hold

READ_ONLY = "25006"


def read_only_by_default(drill):
    """Make every session read-only that does not say otherwise, for a second, and back."""
    since = time.time()
    drill.server.configure("default_transaction_read_only", "on")
    try:
        bites = hold(1.0, lambda: drill.refused(READ_ONLY, since=since))
    finally:
        drill.server.configure("default_transaction_read_only")
    return healed(bites)


def standby(drill):
    """Restart the server as a standby, which takes no writes whatever a session says; promote it after a second."""
    since = time.time()
    drill.server.stop(signal.SIGINT)
    (drill.server.places.data / "standby.signal").touch()
    drill.server.start()
    bites = hold(1.0, lambda: drill.refused(READ_ONLY, since=since))
    drill.ask("SELECT pg_promote()")
    return healed(bites)


def test_read_only_sessions_cost_nothing(drill, times):
    """The queue's transactions say READ WRITE; a producer that is refused has left nothing."""
    with drill("read_only_default") as stage:
        report = stage.run(read_only_by_default, times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()


def test_a_standby_costs_nothing(drill, times):
    """A worker that finds itself on a standby waits, keeps its outcomes, and goes on after the promotion."""
    with drill("standby") as stage:
        report = stage.run(standby, times(5), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
