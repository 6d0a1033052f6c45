"""Fault: SIGKILL of a keeper while the database is away; it comes back when the leases have run out."""

import signal

from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.drill import OPTIONS
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import is_running
from tests.chaos.harness.workers import pause
from tests.waiting import wait_until

LEASES = (1.0, 1.5)
BUSY = {"fast": 0.5, "slow": 0.4, "long": 0.1}
"""Jobs that take long enough for a worker to hold some when it dies; at eight a second half of the slots are taken."""

NEVER_LEFT = "SELECT id FROM django_jobqueue_worker WHERE stopped_at IS NULL"
"""Who was killed could not say goodbye."""


def kill_a_keeper_in_an_outage(drill):
    """Stop the server, kill one keeper, start another worker, and bring the server back after the leases."""
    worker = drill.dice.choice(drill.workers)
    pids = wait_until(worker.runners)
    drill.server.stop(signal.SIGINT)
    worker.kill()
    wait_until(lambda: not any(map(is_running, worker.seen)), seconds=10)
    drill.replace(worker)
    pause(drill.lease_seconds * drill.dice.uniform(*LEASES))
    drill.server.start()
    wound = healed(1, pids)
    drill.claims_again(wound.healed_at)
    return wound


def test_a_worker_that_is_lost_in_an_outage_is_rescued_in_time(drill, times):
    """What ran under it is closed as soon after the database's return as it would be after a death at any other time.

    What the others had in hand costs nothing: they are given the time to come back.
    """
    budget = budgets.keeper_died(OPTIONS["lease_seconds"])
    with drill("kill_in_outage", rate=8, mix=BUSY) as stage:
        report = stage.run(
            kill_a_keeper_in_an_outage,
            times(3),
            allowed=Allowed(charges=True, deaths=True),
            between=(budget, budget + 1),
            budget=budget,
        )

        assert report.is_good, report.details()
        killed = {worker_id for (worker_id,) in stage.ask(NEVER_LEFT)}
        lost = [a for attempts in report.evidence.attempts.values() for a in attempts if a["outcome"] == "lost"]
        assert lost, "no worker had anything in hand when it was killed"
        assert [attempt for attempt in lost if attempt["worker_id"] not in killed] == []
