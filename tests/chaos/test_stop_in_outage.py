"""Fault: a deploy while the database is away: workers are stopped, and started, without it."""

import signal

from tests.chaos.harness import budgets
from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

GRACE = 1


def deploy_without_database(drill):
    """Stop one worker and start another while the database is down; then bring it back."""
    bites = len(drill.sessions())
    drill.server.stop(signal.SIGINT)
    pause(drill.dice.uniform(0.0, 1.0))
    worker = drill.dice.choice(drill.workers)
    code, seconds = worker.leave()
    if code:
        drill.complaints.append(f"left: a worker left with {code} after SIGTERM")
    drill.replace(worker)
    pause(drill.dice.uniform(0.5, 1.5))
    drill.server.start()
    wound = healed(bites, seconds=[seconds])
    drill.wait_for_claims(wound.healed_at)
    return wound


def test_a_deploy_without_the_database_loses_nothing(drill, times):
    """A worker leaves in time, with 0; what it could not write comes back when its lease has run out.

    A worker that starts waits for the database.
    """
    with drill("stop_in_outage", arguments=["--grace", str(GRACE)]) as stage:
        allowed = Allowed(charges=True, deaths=True)
        report = stage.run(deploy_without_database, times(3), allowed=allowed, budget=budgets.stopped(GRACE))

        assert report.is_good, report.details()
