"""What a worker counts of its circuit breakers, and when it writes, decides and asks."""

import pytest

from django_jobqueue import Breaker, Reject, Retry, Snooze, task, tasks
from django_jobqueue.policy.breaker import Standing, State
from django_jobqueue.policy.outcomes import Failed, Failure, Interrupted, Succeeded, TimedOut
from django_jobqueue.registry import Registry
from django_jobqueue.store.breakers import Count, Probed
from django_jobqueue.worker import clock
from django_jobqueue.worker.breakers import NO_NOTES, Breakers
from tests.worker.orders import run

STRIPE = Breaker("stripe", trips_on=(ConnectionError, TimeoutError), minimum=4, pause_seconds=30)
REFUSED = Failed(Failure("builtins.ConnectionRefusedError"), trips=True)


def charge():
    """What the task does."""


def end(how):
    """Raise what is asked for."""
    try:
        raise ConnectionResetError("the provider hung up")
    except ConnectionResetError as error:
        match how:
            case "connection":
                raise
            case "retry":
                raise Retry(after=5) from error
            case "snooze":
                raise Snooze(5) from error
            case "reject":
                raise Reject("no use") from error
    raise ValueError(how)


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.moment = 1000.0

    def now(self):
        return self.moment


@pytest.fixture(autouse=True)
def time(monkeypatch):
    """The clock of the worker."""
    hands = Clock()
    monkeypatch.setattr(clock, "_read", hands.now)
    return hands


@pytest.fixture
def declare(monkeypatch):
    """Declare tasks for one test."""
    monkeypatch.setattr(tasks, "_declared", dict(tasks._declared))
    return task


@pytest.fixture
def breakers(declare):
    """A worker's breakers: `stripe`, of the task `charge`."""
    return Breakers(Registry({"charge": declare(breaker=STRIPE, task_name="charge")(charge)}))


def standing(state=State.CLOSED, generation=0, ended=0, tripped=0, probe_in=None):
    """How `stripe` stands."""
    return Standing("stripe", state, generation, ended, tripped, 0, "", probe_in, False)


@pytest.mark.parametrize(
    ("how", "trips"), [("connection", True), ("retry", True), ("snooze", True), ("reject", True), ("other", False)]
)
def test_the_runner_says_whether_an_exception_trips(declare, how, trips):
    """By its class, or that of what a signal of the task's was raised from; the keeper asks nothing of the task."""
    assert run(declare(breaker=STRIPE)(end), how).trips is trips


def test_a_task_without_a_breaker_trips_none(declare):
    """Nor does one that was not called, because its arguments do not fit."""
    assert run(declare(end), "connection").trips is None
    assert run(declare(breaker=STRIPE)(charge), "too much").trips is None


def test_a_failure_is_written_at_once_and_successes_once_in_a_while(breakers, time):
    """A row that all workers share is not written for each job that goes well."""
    breakers.note("charge", Succeeded(), 0)
    assert breakers.take(time.moment).counts == [Count(STRIPE, 0, 1, 0)]
    breakers.note("charge", Succeeded(), 0)
    assert breakers.take(time.moment) == NO_NOTES or not breakers.take(time.moment).counts
    breakers.note("charge", Succeeded(), 0)
    breakers.note("charge", REFUSED, 0)

    assert breakers.take(time.moment).counts == [Count(STRIPE, 0, 3, 1, "builtins.ConnectionRefusedError")]


def test_what_says_nothing_is_not_counted(breakers, time):
    """An interruption, and a job of a task that has no breaker; a time limit counts, as time-outs do."""
    breakers.note("charge", Interrupted(), 0)
    breakers.note("resize", REFUSED, 0)
    assert breakers.take(time.moment) == NO_NOTES

    breakers.note("charge", TimedOut(Failure("builtins.TimeoutError")), 0)
    assert breakers.take(time.moment).counts == [Count(STRIPE, 0, 1, 1, "builtins.TimeoutError")]


def test_what_could_not_be_written_is_written_later(breakers, time):
    """Another worker had the row: the counts are kept, and the worker asks again by itself, a little later."""
    breakers.note("charge", REFUSED, 0)
    notes = breakers.take(time.moment)
    breakers.heard(notes, [], [])
    assert breakers.take(time.moment) == NO_NOTES
    assert breakers.writes_at > time.moment

    time.moment = breakers.writes_at
    assert breakers.take(time.moment) == notes


def test_counts_of_an_earlier_state_are_dropped(breakers, time):
    """They say nothing of the present one."""
    breakers.note("charge", REFUSED, 3)
    breakers.note("charge", REFUSED, 5)
    breakers.note("charge", REFUSED, 4)

    assert [(count.generation, count.ended) for count in breakers.take(time.moment).counts] == [(5, 1)]


def test_whoever_sees_that_it_is_down_decides_it(breakers, time):
    """Whether it has counted itself or has only read; with the generation that it saw."""
    breakers.stand([standing(generation=7, ended=4, tripped=3)])

    (due,) = breakers.take(time.moment).changes
    assert (due.name, due.generation, due.change.state, due.change.pause_seconds) == ("stripe", 7, State.OPEN, 30)


def test_a_decision_is_dropped_when_it_stands_otherwise_by_now(breakers, time):
    """Another worker was first."""
    breakers.stand([standing(generation=7, ended=4, tripped=3)])
    breakers.stand([standing(State.OPEN, generation=8, probe_in=30.0)])

    assert breakers.take(time.moment) == NO_NOTES


def test_probes_are_asked_for_when_their_time_has_come(breakers, time):
    """With a poll; between polls where something was found, or a job has ended."""
    assert breakers.to_probe(time.moment, is_poll=True) == []
    assert breakers.stand([standing(State.OPEN, 1, probe_in=30.0)]) == 0.0
    assert breakers.stand([standing(State.OPEN, 1, probe_in=30.0)]) == 30.0
    assert breakers.to_probe(time.moment, is_poll=True) == []

    time.moment += 30.0
    assert breakers.to_probe(time.moment, is_poll=True) == [(STRIPE, ["charge"])]
    assert breakers.to_probe(time.moment, is_poll=False) == []
    breakers.note("charge", Succeeded(), 1)
    assert breakers.to_probe(time.moment, is_poll=False) == [(STRIPE, ["charge"])]


def test_one_that_is_half_open_is_probed_with_any_poll(breakers, time):
    """Also with one of the turn in which that was heard, whose moment is from a little before."""
    breakers.stand([standing(State.HALF_OPEN, 1)])

    assert breakers.to_probe(time.moment - 0.01, is_poll=True) == [(STRIPE, ["charge"])]


def test_one_that_a_person_has_opened_is_not_probed(breakers, time):
    """It has no moment."""
    breakers.stand([standing(State.OPEN, 1)])

    assert breakers.to_probe(time.moment + 1e6, is_poll=True) == []


def test_a_probe_counts_for_the_state_that_it_was_claimed_in(breakers, time):
    """Half-open, which the claim itself may have made it."""
    breakers.stand([standing(State.OPEN, 4, probe_in=-1.0)])
    assert breakers.generation_of("charge") == 4

    assert breakers.probed([Probed("stripe", 5, is_news=True)], ["stripe"], ["charge"])
    assert breakers.generation_of("charge") == 5
    assert not breakers.probed([None], ["stripe"], [])
