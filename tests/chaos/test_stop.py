"""Fault: SIGTERM of a worker under load, and rolling deploys."""

import signal
import time

import pytest

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

GRACE = 1
DEPLOY_SECONDS = 2.0


def stop(drill, worker):
    """Stop a worker as a deploy does; a new one takes its place at once. Answer with the seconds that it took.

    It is a list: one that had not begun says nothing of how long it takes to leave.
    """
    drill.replace(worker)
    code, seconds = worker.leave()
    # Before it has put its handlers up a worker ends as any program does: it holds nothing yet.
    had_begun = drill.ask("SELECT 1 FROM django_jobqueue_worker WHERE pid = %s", [worker.pid])
    if code and (had_begun or code != -signal.SIGTERM):
        drill.complaints.append(f"left: a worker left with {code} after SIGTERM")
    return [seconds] if had_begun else []


def stop_one(drill):
    """Replace one worker."""
    worker = drill.dice.choice(drill.workers)
    seconds = stop(drill, worker)
    return healed(not worker.is_alive, seconds=seconds)


def roll(drill):
    """Deploy: replace every worker, the oldest first."""
    seconds, old = [], list(drill.workers)
    for worker in old:
        began = time.monotonic()
        seconds += stop(drill, worker)
        pause(max(0.0, began + DEPLOY_SECONDS - time.monotonic()))
    return healed(sum(not worker.is_alive for worker in old), seconds=seconds)


def test_a_stop_costs_nothing(drill, times):
    """Jobs end within the grace or are handed back uncharged; every worker leaves with 0."""
    with drill("stop", arguments=["--grace", str(GRACE)]) as stage:
        report = stage.run(stop_one, times(5), between=(0.5, 2.0), budget=budgets.stopped(GRACE))

        assert report.is_good, report.details()


@pytest.mark.long
def test_rolling_deploys_cost_nothing(drill, times):
    """A new worker every two seconds, for a while: nothing is lost, charged or doubled."""
    with drill("rolling_deploys", rate=25, arguments=["--grace", str(GRACE)]) as stage:
        report = stage.run(roll, times(3), between=(0.0, 0.2), budget=budgets.stopped(GRACE))

        assert report.is_good, report.details()
