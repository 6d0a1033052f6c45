"""What a worker asks for, and in which of the two ways."""

import json
from uuid import uuid4

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.registry import discover
from django_jobqueue.worker import clock, demand
from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.demand import Demand
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.pace import Pace
from django_jobqueue.worker.plan import WorkerPlan
from tests.worker.flights import claimed, flight, runner


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
    return Demand(plan, discover(), Pace(), plan.card(discover()).id)


def way(worker):
    """Name the way in which the next claim goes."""
    fleet = Fleet()
    fleet.runners[0] = Runner(number=0, threads=1, coroutines=0, sock=None, phase=Phase.READY)
    (claim, *_), _ = worker.claims(fleet, 10, uuid4(), is_poll=True)
    return claim.inner


def test_claims_go_in_order(worker):
    """As long as claims are quick they read the ready jobs in order."""
    worker.note([], 0.01, written=0)

    assert way(worker) == "ready_in_order"


def test_after_a_slow_claim_the_next_ones_go_by_group(worker, time):
    """A claim that read past the jobs of others is not made that way again for a while, and then it is tried."""
    worker.note([], demand.SLOW_SECONDS + 0.1, written=0)

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
        way(worker)
        worker.note_slow()
        start = time.moment
        while way(worker) == "ready_by_group":
            time.moment += 1
        waits.append(time.moment - start)

    assert waits == [30, 60, 120, 240, 480, 900, 900, 900]
    worker.note([], 0.01, written=0)
    worker.note_slow()
    time.moment += demand.BY_GROUP_SECONDS + 1
    assert way(worker) == "ready_in_order"


def test_what_is_slow_by_group_too_goes_in_order(worker):
    """By group is dear where many queues and tasks have jobs: a slow claim that way is the last one."""
    worker.note_slow()
    assert way(worker) == "ready_by_group"

    worker.note([], 5.0, written=0)

    assert way(worker) == "ready_in_order"


def test_rows_that_are_written_excuse_some_time(worker):
    """A call that settles a thousand jobs takes its time, whatever its claim has cost."""
    way(worker)
    worker.note([], demand.SLOW_SECONDS + 0.1, written=1000)

    assert way(worker) == "ready_in_order"


@pytest.mark.parametrize(("has_pauses", "next_way"), [(False, "ready_in_order"), (True, "ready_by_group")])
def test_what_is_paused_is_walked_around_early(worker, has_pauses, next_way):
    """Jobs of a paused queue pile up before others: a claim that is slowed by them is the last one in order."""
    way(worker)
    worker.note([], demand.SLOW_SECONDS / 2, written=0, has_pauses=has_pauses)

    assert way(worker) == next_way


def fleet_of(threads, coroutines, *flights):
    fleet = Fleet()
    fleet.runners[0], _ = runner(threads=threads, coroutines=coroutines)
    fleet.runners[0].hand(list(flights))
    return fleet


def names(claim):
    """Read the tasks that a claim asks for."""
    return set(json.loads(f"[{claim.params['tasks'][1:-1]}]"))


def asked(worker, fleet, *, is_poll=True):
    """Name the tasks that each claim asks for: functions or coroutines."""
    claims, _ = worker.claims(fleet, 100, uuid4(), is_poll=is_poll)
    coroutines = set(discover().coroutines())
    return ["coroutines" if names(claim) <= coroutines else "functions" for claim in claims]


@pytest.mark.parametrize(
    "flights",
    [[flight(is_coroutine=True) for _ in range(20)], [flight() for _ in range(9)]],
    ids=["coroutines", "long_functions"],
)
def test_a_free_slot_is_filled_whatever_else_runs(worker, flights):
    """Coroutines and long functions in hand are no stream of short ones: each slot that is free asks for a job."""
    assert "functions" in asked(worker, fleet_of(10, 20, *flights))


def test_a_stream_of_short_functions_is_refilled_by_the_quarter(worker):
    """For the few short jobs that have just ended no claim is made while hundreds are in hand."""
    worker._pace.measure("tests.tasks.succeed", 0.001)
    flights = [flight(is_short=True) for _ in range(48)]

    assert "functions" not in asked(worker, fleet_of(1, 0, *flights))


def test_coroutines_are_asked_for_again_after_their_places_were_full(worker):
    """That there was no room for them says nothing about whether there are any."""
    full = [flight(is_coroutine=True) for _ in range(5)]
    fleet = fleet_of(1, 5, *full)
    assert asked(worker, fleet_of(1, 5)) == ["functions", "coroutines"]
    worker.note([claimed(task="tests.stage.tasks.return_from_a_coroutine")], 0.01, written=0)
    assert "coroutines" not in asked(worker, fleet)
    worker.note([], 0.01, written=0)

    fleet.runners[0].take_back(full[0].ticket)

    assert "coroutines" in asked(worker, fleet, is_poll=False)


def test_the_last_job_of_a_runner_is_whatever_comes_first(worker):
    """One claim asks for functions and coroutines together, so that neither kind waits for the other's turn."""
    fleet = fleet_of(1, 5)
    fleet.runners[0].jobs_left = 1

    (claim,), wanted = worker.claims(fleet, 100, uuid4(), is_poll=False)

    assert wanted == 1
    known = discover()
    assert names(claim) == {*known.functions(), *known.coroutines()}


def test_no_suspect_is_asked_for_that_could_not_be_placed(worker):
    """After one was given back because no runner was empty, claims pass suspects over for a while."""
    fleet = fleet_of(2, 0, flight())
    fleet.quarantine.failed(clock.now())

    ((claim, *_), _) = worker.claims(fleet, 100, uuid4(), is_poll=True)

    assert not claim.params["suspects"]


def test_what_has_waited_too_long_has_a_part_of_the_next_claim(worker):
    """One place, of ten or more a tenth; once, until the next look finds some."""
    fleet = Fleet()
    fleet.runners[0] = Runner(number=0, threads=20, coroutines=0, sock=None, phase=Phase.READY)
    worker.has_aged = True
    (aged, others), wanted = worker.claims(fleet, 20, uuid4(), is_poll=True)
    assert (aged.inner, aged.params["limit"]) == ("ready_by_age", 2)
    assert (others.params["limit"], wanted) == (18, 20)
    (again,), _ = worker.claims(fleet, 20, uuid4(), is_poll=True)
    assert again.inner == "ready_in_order"

    worker.has_aged = True
    (aged,), _ = worker.claims(fleet, 1, uuid4(), is_poll=True)
    assert (aged.inner, aged.params["limit"]) == ("ready_by_age", 1)
