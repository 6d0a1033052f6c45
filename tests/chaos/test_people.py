"""Fault: runners are killed while a person cancels, with force or without, replays and discards."""

from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.test_kill_runner import kill_a_runner

MIX = {"fast": 0.35, "slow": 0.2, "slow_async": 0.15, "long": 0.05, "once": 0.05, "atomic": 0.1, "dies": 0.1}
AT_WORK = {"mix": MIX, "rate": 25, "acts_a_second": 5}


def test_what_a_person_asks_for_happens_once(drill, times):
    """A cancelled job never comes back, a replay is one new life, and each act has one audit entry, whoever dies."""
    with drill("people", **AT_WORK) as stage:
        allowed = Allowed(charges=True, deaths=True)
        report = stage.run(kill_a_runner, times(8, 60), allowed=allowed, between=(0.8, 1.4), budget=budgets.RUNNER_DIED)

        assert report.is_good, report.details()
