"""Fault: the line of one worker stalls past the lease, while the other can take its jobs over."""

from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

ONE_LINE = {"proxied": True, "only_line": 1, "rate": 5, "mix": {"fast": 0.5, "slow": 0.1, "long": 0.4}}
LEASES = (1.6, 2.2)


def stall_one_line(drill):
    """Stall the line of the first worker until the second must have its jobs."""
    before = drill.proxy.touched
    drill.proxy.mode = "stall"
    pause(drill.lease_seconds * drill.dice.uniform(*LEASES))
    drill.proxy.mode = "pass"
    return healed(drill.proxy.touched - before)


def test_a_worker_that_cannot_renew_stops_its_jobs_before_another_starts_them(drill, times):
    """What it runs is taken over, which costs attempts; no two runs of a job overlap, though its processes live."""
    allowed = Allowed(charges=True, deaths=True)
    with drill("one_line", **ONE_LINE) as stage:
        report = stage.run(stall_one_line, times(5), allowed=allowed, between=(1.0, 2.0))

        assert report.is_good, report.details()
        ends = [attempt["outcome"] for attempts in report.evidence.attempts.values() for attempt in attempts]
        assert ends.count("lost") >= times(5), "little was taken over"
