"""Fault: the network between the workers and the database, by a proxy that does what networks do."""

import pytest

from tests.chaos.conftest import in_full
from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

WAYS = {
    # Longer than the lease: the worker must stop its jobs before the lease ends.
    "stall": (2.2, 3.0),
    "drop": (2.2, 3.0),
    "delay": (1.0, 2.0),
    "throttle": (1.0, 2.0),
    "cut": (0.0, 0.0),
    "reset": (0.0, 0.0),
}


def break_line(way):
    """Return the fault that breaks the line in this way, and mends it."""

    def fault(drill):
        before = drill.proxy.touched
        match way:
            case "cut":
                drill.proxy.cut()
            case "reset":
                drill.proxy.reset()
            case _:
                drill.proxy.mode = way
                pause(drill.dice.uniform(*WAYS[way]))
                drill.proxy.mode = "pass"
        return healed(drill.proxy.touched - before)

    return fault


@pytest.mark.parametrize("way", ["stall", "cut", *map(in_full, ["reset", "drop", "delay", "throttle"])])
def test_a_line_that_breaks_costs_nothing(drill, times, way):
    """Whatever the network does: nothing is lost or doubled, and the workers claim again."""
    with drill(f"link_{way}", proxied=True) as stage:
        report = stage.run(break_line(way), times(5), between=(0.5, 1.0), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
