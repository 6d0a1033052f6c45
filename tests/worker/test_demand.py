"""What a worker asks for, and in which of the two ways."""

from uuid import uuid4

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.registry import discover
from django_jobqueue.worker import clock, demand
from django_jobqueue.worker.demand import Demand
from django_jobqueue.worker.fleet import Fleet, Phase, Runner
from django_jobqueue.worker.pace import Pace
from django_jobqueue.worker.plan import WorkerPlan


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.moment = 1000.0

    def now(self):
        return self.moment


@pytest.fixture
def time(monkeypatch):
    """The clock of the worker."""
    hands = Clock()
    monkeypatch.setattr(clock, "_read", hands.now)
    return hands


@pytest.fixture
def worker(time):
    """The demand of a worker with a free slot."""
    plan = WorkerPlan("default", Options())
    return Demand(plan, discover(), Pace(), plan.card().id)


def way(worker):
    """Name the way in which the next claim goes."""
    fleet = Fleet()
    fleet.runners[0] = Runner(number=0, threads=1, coroutines=0, sock=None, phase=Phase.READY)
    (claim, *_), _ = worker.claims(fleet, 10, uuid4(), is_poll=True)
    return claim.inner


def test_claims_go_in_order(worker):
    """As long as claims are quick they read the ready jobs in order."""
    worker.note([], 0.01)

    assert way(worker) == "ready_in_order"


def test_after_a_slow_claim_the_next_ones_go_by_group(worker, time):
    """A claim that read past the jobs of others is not made that way again for a while, and then it is tried."""
    worker.note([], demand.SLOW_SECONDS + 0.1)

    assert way(worker) == "ready_by_group"
    time.moment += demand.BY_GROUP_SECONDS + 1
    assert way(worker) == "ready_in_order"


def test_a_claim_that_was_cancelled_was_slow(worker):
    """A claim that ran into its time limit counts as a slow one."""
    worker.note_slow()

    assert way(worker) == "ready_by_group"


def test_each_time_it_takes_longer_until_order_is_tried_again(worker, time):
    """While others' jobs lie before a worker's own, the costly try becomes rare; a quick one ends that."""
    waits = []
    for _ in range(8):
        worker.note_slow()
        start = time.moment
        while way(worker) == "ready_by_group":
            time.moment += 1
        waits.append(time.moment - start)

    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]
    worker.note([], 0.01)
    worker.note_slow()
    time.moment += demand.BY_GROUP_SECONDS + 1
    assert way(worker) == "ready_in_order"


def test_a_slow_claim_by_group_changes_nothing(worker, time):
    """What is slow by group too is a slow server: order is tried again when it was to be."""
    worker.note_slow()
    time.moment += demand.BY_GROUP_SECONDS - 1
    worker.note([], 5.0)
    time.moment += 2

    assert way(worker) == "ready_in_order"
