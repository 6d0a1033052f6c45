"""Fault: SIGKILL of a runner, where every job has an effect that is to happen once."""

from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.load import EFFECTS
from tests.chaos.test_kill_runner import kill_a_runner


def test_effects_happen_once_though_runners_are_killed(drill, times):
    """By an atomic task, by `once` and by `once.external`: as many effects as jobs, whoever dies in between."""
    with drill("kill_runner_of_effects", mix=EFFECTS, rate=40) as stage:
        report = stage.run(
            kill_a_runner, times(8, 60), allowed=Allowed(charges=True, deaths=True), budget=budgets.RUNNER_DIED
        )

        assert report.is_good, report.details()
