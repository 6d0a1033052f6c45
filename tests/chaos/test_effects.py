"""Fault: SIGKILL of a runner, where every job has an effect that is to happen once."""

from collections import Counter

from tests.chaos.conftest import IS_FULL
from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.load import EFFECTS
from tests.chaos.test_kill_runner import kill_a_runner

LEAST_IN_FULL = 2000
"""So many jobs the full run has at least."""


def test_effects_happen_once_though_runners_are_killed(drill, times):
    """By an atomic task, by `once` and by `once.external`: as many effects as jobs, whoever dies in between."""
    with drill("kill_runner_of_effects", mix=EFFECTS, rate=60 if IS_FULL else 40) as stage:
        report = stage.run(
            kill_a_runner, times(8, 180), allowed=Allowed(charges=True, deaths=True), budget=budgets.RUNNER_DIED
        )

        assert report.is_good, report.details()
        jobs, effects = in_and_out(report.evidence)
        print(f"effects of jobs that succeeded: asked for {jobs}, there {effects}")
        assert jobs == effects
        assert sum(jobs.values()) >= (LEAST_IN_FULL if IS_FULL else 1)


def in_and_out(evidence):
    """Count the jobs that succeeded, and the effects that are in the database, by what keeps them from happening twice.

    A job that was killed too often may have had its effect before it died: that one is of no job that succeeded.
    """
    succeeded = {kind: set() for kind in ("atomic", "once", "external")}
    kinds = {"work_atomic": "atomic", "work_keyed": "once", "work_external": "external"}
    for job in evidence.jobs.values():
        if job["status"] == "SUCCESSFUL":
            kind = kinds[job["task"].rpartition(".")[2]]
            succeeded[kind].add(f"{kind} {job['kwargs']['intent']}")
    times = evidence.traces + Counter(key for key in evidence.orders if key.startswith("atomic "))
    there = {kind: sum(times[name] for name in names) for kind, names in succeeded.items()}
    return {kind: len(names) for kind, names in succeeded.items()}, there
