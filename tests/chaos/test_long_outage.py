"""Fault: PostgreSQL is away for longer than the leases; the workers ask for it seldom, and speak of it once."""

import signal
import time

from tests.chaos.harness import budgets
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.workers import pause

TRIES_A_SECOND = 3.0
"""Of each worker, its listener's included, when an outage has lasted for a second; it means to try once or twice."""

MOST_LINES = 2
"""Of a kind in each log: one for the outage, and one if the server went away again while it came."""


def outage(drill):
    """Stop the server for longer than the leases; count how often the workers ask for it, and what they say of it."""
    sessions, before = drill.sessions(), words(drill)
    drill.server.stop(signal.SIGINT)
    pause(1.0)
    since, tries = time.monotonic(), drill.proxy.accepted
    pause(drill.lease_seconds * drill.dice.uniform(0.8, 1.5))
    a_second = (drill.proxy.accepted - tries) / (time.monotonic() - since) / len(drill.workers)
    drill.server.start()
    wound = healed(len(sessions))
    if a_second > TRIES_A_SECOND:
        drill.complaints.append(f"tight: a worker asked for the server {a_second:.1f} times a second")
    if drill.claims_again(wound.healed_at):
        for worker, then, now in zip(drill.workers, before, words(drill), strict=True):
            gone, back = now[0] - then[0], now[1] - then[1]
            if not 1 <= gone == back <= MOST_LINES:
                drill.complaints.append(f"flood: {worker.pid} said {gone} times that an outage is on, {back} its end")
    return wound


def words(drill):
    """How often each worker has said that the database cannot be used, and that it is back."""
    logs = [worker.log_path.read_text(errors="replace") for worker in drill.workers]
    return [(log.count("the database cannot be used"), log.count("the database is back")) for log in logs]


def test_an_outage_longer_than_the_lease_costs_nothing(drill, times):
    """Running jobs are stopped before their lease ends and start again uncharged; outcomes are kept and written.

    Meanwhile each worker tries again about once a second, and there is one line in its log for each change.
    """
    mix = {"fast": 0.8, "slow": 0.15, "long": 0.05}
    with drill("long_outage", mix=mix, rate=25, proxied=True) as stage:
        report = stage.run(outage, times(3), between=(1.5, 2.0), budget=budgets.DATABASE_BACK)

        assert report.is_good, report.details()
