"""Fault: the server takes no writes: sessions read-only by default, and a standby after a failover."""

import signal

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause


def read_only_by_default(drill):
    """Make every session read-only that does not say otherwise, for a second, and back."""
    drill.server.configure("default_transaction_read_only", "on")
    try:
        pause(1.0)
    finally:
        drill.server.configure("default_transaction_read_only")
    return healed()


def standby(drill):
    """Restart the server as a standby, which takes no writes whatever a session says; promote it after a second."""
    drill.server.stop(signal.SIGINT)
    (drill.server.places.data / "standby.signal").touch()
    drill.server.start()
    pause(1.0)
    drill.ask("SELECT pg_promote()")
    return healed()


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
