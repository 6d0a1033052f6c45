"""Fault: the connections of the workers and the producer are terminated, once a second."""

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed


def terminate(drill):
    """End every connection of the run but the nemesis's own."""
    ended = drill.ask(
        "SELECT application_name, pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    return healed(sum(name.startswith("worker-") and was_there for name, was_there in ended))


def test_terminated_backends_cost_nothing(drill, times):
    """Outcomes are kept and written; claims whose reply was lost are given back; nothing is charged."""
    with drill("terminated_backends") as stage:
        report = stage.run(terminate, times(10, 60), between=(0.8, 1.2), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
