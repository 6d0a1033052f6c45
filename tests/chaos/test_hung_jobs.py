"""Fault: jobs that hang past their timeout, in Python and in C that keeps the GIL, among others that do their work."""

from tests.chaos.harness import budgets, recovery
from tests.chaos.harness.checker import Allowed
from tests.chaos.tasks import TIMEOUT_SECONDS
from tests.chaos.test_deadly_jobs import wait_for

MIX = {"fast": 0.88, "slow": 0.08, "fails": 0.02, "spin": 0.01, "keep_gil": 0.01}
HUNG = ("spin", "keep_gil")


def test_jobs_that_hang_are_killed_alone(drill, times):
    """Each is a dead letter after two attempts, killed soon after its timeout, and every other job succeeds."""
    with drill("hung_jobs", rate=20, mix=MIX) as stage:
        report = stage.run(
            wait_for(*HUNG),
            times(8, 40),
            allowed=Allowed(charges=True),
            budget=budgets.hung(TIMEOUT_SECONDS),
            measure=lambda evidence: recovery.closings(evidence, HUNG),
        )

        assert report.is_good, report.details()
        hung = [job for job in report.evidence.jobs.values() if job["kwargs"].get("how") in HUNG]
        assert hung
        assert {job["status"] for job in hung} == {"FAILED"}
