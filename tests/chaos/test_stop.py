"""Fault: SIGTERM of a worker under load, and rolling deploys."""

import signal

from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause


def stop_and_start(drill):
    """Stop one worker as a deploy does; a new one takes its place at once."""
    worker = drill.dice.choice(drill.workers)
    drill.replace(worker)
    worker.send(signal.SIGTERM)
    code = worker.popen.wait(timeout=30)
    # Before it has put its handlers up a worker ends as any program does: it holds nothing yet.
    had_begun = drill.ask("SELECT FROM django_jobqueue_worker WHERE pid = %s", [worker.pid])
    if code and (had_begun or code != -signal.SIGTERM):
        drill.complaints.append(f"a worker left with {code} after SIGTERM")
    return healed()


def roll(drill):
    """Deploy: replace every worker, the oldest first, without waiting for the last one's end."""
    for worker in list(drill.workers):
        drill.replace(worker)
        worker.send(signal.SIGTERM)
        pause(2.0)
    return healed()


def test_a_stop_costs_nothing(drill, times):
    """Jobs end within the grace or are handed back uncharged; every worker leaves with 0."""
    with drill("stop", arguments=["--grace", "1"]) as stage:
        report = stage.run(stop_and_start, times(5))

        assert report.is_good, report.details()


def test_rolling_deploys_cost_nothing(drill, times):
    """A new worker every two seconds, for a while: nothing is lost, charged or doubled."""
    with drill("rolling_deploys", rate=25, arguments=["--grace", "1"]) as stage:
        report = stage.run(roll, times(3, 15), between=(0.0, 0.2))

        assert report.is_good, report.details()
