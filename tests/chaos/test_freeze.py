"""Fault: SIGSTOP past the lease, then SIGCONT: of a runner, of the keeper, of the whole worker."""

import pytest

from tests.chaos.harness.checker import Allowed
from tests.chaos.harness.nemesis import healed
from tests.chaos.harness.process import is_frozen, is_running
from tests.chaos.harness.workers import pause
from tests.waiting import wait_until

MIX = {"fast": 0.8, "slow": 0.12, "long": 0.08}
LONGER_THAN_THE_LEASE = (1.2, 1.6)


def freeze(who):
    """Return the fault that freezes these processes of a worker."""

    def fault(drill):
        worker = drill.dice.choice(drill.workers)
        pids = {
            "runner": lambda: wait_until(worker.runners)[:1],
            "keeper": lambda: [worker.pid],
            "worker": worker.family,
        }[who]()
        worker.freeze(pids)
        try:
            wait_until(lambda: all(is_frozen(pid) or not is_running(pid) for pid in pids))
            pause(drill.lease_seconds * drill.dice.uniform(*LONGER_THAN_THE_LEASE))
        finally:
            worker.thaw(pids)
        return healed(len(pids))

    return fault


@pytest.mark.parametrize("who", ["runner", "keeper", "worker"])
def test_who_was_frozen_past_the_lease_changes_nothing(drill, times, who):
    """The others take over; who comes back is refused by its token, goes on with other jobs, and nothing runs twice.

    A frozen runner costs nothing at all: its keeper renews.
    """
    allowed = Allowed() if who == "runner" else Allowed(charges=True, deaths=True, overlaps=True)
    with drill(f"freeze_{who}", rate=25, mix=MIX) as stage:
        report = stage.run(freeze(who), times(5), allowed=allowed)

        assert report.is_good, report.details()
        if who != "runner":
            assert report.evidence.stale_refused > 0, "no late outcome was refused: the freezes did not bite"
