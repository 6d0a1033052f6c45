"""Turns: of the jobs with an order key one at a time is on its way, by id, through retries, until it is over."""

import pytest

from django_jobqueue.exceptions import Refused
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.store.cancel import cancel
from django_jobqueue.store.discard import discard
from tests.store.hands import BURY, COMMITS, FINISH, RELEASE, RETRY, RETRY_NOW, add_job, at, at_once, replay, row

pytestmark = COMMITS

SIGNED = {"by": "ada", "reason": "it is in the way", "using": "default"}


def waiting(count=1, key="account:1", **columns):
    """Add jobs that wait for their turn; their ids are their order."""
    return [
        add_job(status="WAITING", waiting_for="order", order_key=key, **{"run_after": at(-60), **columns})
        for _ in range(count)
    ]


def ready():
    return [*Job.objects.filter(status="READY").order_by("id").values_list("pk", flat=True)]


def test_the_first_of_each_key_has_its_turn(worker):
    """By id, whatever their priority or moment; the next one when it is over."""
    first, second = waiting(), waiting(priority=9, run_after=at(-3600))
    (other,) = waiting(key="account:2")

    assert (worker.admit(), ready()) == (2, [*first, other])
    assert worker.admit() == 0
    for job in worker.claim(2):
        worker.settle(job.settled_as(FINISH))
    assert (worker.admit(), ready()) == (1, second)


@pytest.mark.parametrize("decision", [RETRY, RETRY_NOW, RELEASE], ids=["waits", "is due again", "is ready again"])
def test_a_job_keeps_its_turn_until_it_is_over(worker, decision):
    """Through retries and interruptions nothing of its key goes before it."""
    waiting(2)
    worker.admit()
    (job,) = worker.claim()
    worker.settle(job.settled_as(decision))
    worker.promote()

    assert worker.admit() == 0
    assert Job.objects.filter(waiting_for="order").count() == 1


def test_a_job_that_is_not_due_holds_up_its_successors(worker):
    """The order is that of the ids, not of the moments."""
    waiting(run_after=at(3600))
    waiting()

    assert worker.admit() == 0


def test_a_later_commit_with_a_smaller_id_goes_next(worker):
    """It never interrupts one that has had its turn."""
    (late,) = waiting()
    Job.objects.filter(pk=late).update(waiting_for="batch")  # as if it were not committed yet
    Job.objects.filter(pk=late).update(order_key=None)
    begun, last = waiting(2)
    worker.admit()
    (job,) = worker.claim()
    Job.objects.filter(pk=late).update(waiting_for="order", order_key="account:1")

    assert worker.admit() == 0
    worker.settle(job.settled_as(FINISH))
    assert job.id == begun
    assert (worker.admit(), ready()) == (1, [late])
    assert row(last)["waiting_for"] == "order"


def test_a_cancelled_job_is_no_more_in_the_way(worker):
    """Cancelled before its turn, or when it has it."""
    first, second, third = waiting(3)
    worker.admit()
    cancel(first, **SIGNED)
    cancel(second, **SIGNED)
    worker.admit()

    assert ready() == [third]


@pytest.mark.parametrize("blocks", [True, False], ids=["blocks", "passes"])
def test_what_a_dead_letter_does_to_the_next_one_is_declared(worker, blocks):
    """It blocks until it is discarded or its job succeeds, or it lets them pass."""
    first, second = waiting(2, order_blocks=blocks)
    worker.admit()
    (job,) = worker.claim()
    worker.settle(job.settled_as(BURY))
    worker.admit()

    assert ready() == ([] if blocks else [second])
    if blocks:
        discard(DeadLetter.objects.get(job_id=first).pk, **SIGNED)
        worker.admit()
        assert ready() == [second]


def test_a_replayed_job_waits_for_its_turn_again(worker):
    """It is the first again where its successor has not begun, and else the next."""
    first, second, third = waiting(3)
    worker.admit()
    (job,) = worker.claim()
    worker.settle(job.settled_as(BURY))
    worker.admit()
    replay(first)

    assert (row(first)["status"], row(first)["waiting_for"]) == ("WAITING", "order")
    assert (worker.admit(), ready()) == (0, [second])
    (job,) = worker.claim()
    worker.settle(job.settled_as(FINISH))
    worker.admit()
    assert ready() == [first]
    assert row(third)["waiting_for"] == "order"


def test_a_turn_and_a_slot_are_two_things(worker):
    """A job that needs both has its turn first, keeps it while it waits for a slot, and then gets that."""
    (one,) = waiting(key="a", concurrency_key="k", key_limit=1)
    (two,) = waiting(key="b", concurrency_key="k", key_limit=1)
    waiting(key="b", concurrency_key="k", key_limit=1)

    assert worker.admit() == 3
    assert ready() == [one]
    assert row(two)["waiting_for"] == "limit"
    assert Job.objects.filter(waiting_for="order").count() == 1


def test_of_many_at_once_one_has_the_turn(make_worker):
    """Eight that admit, claim and settle at once never have two jobs of a key between them, and keep the order."""
    ids = waiting(100)
    begun, most = [], []

    def work(hand):
        for _ in range(60):
            hand.admit()
            for job in hand.claim(2):
                begun.append(job.id)
                most.append(Job.objects.filter(status__in=["READY", "RUNNING"]).count())
                hand.settle(job.settled_as(FINISH))

    at_once(*[lambda hand=hand: work(hand) for hand in [make_worker() for _ in range(8)]])

    assert max(most) <= 1
    assert begun == ids[: len(begun)]
    assert len(begun) > 10


def test_a_replay_that_is_refused_changes_nothing(worker):
    """As without an order."""
    (first,) = waiting()
    worker.admit()
    (job,) = worker.claim()
    worker.settle(job.settled_as(BURY))
    replay(first)

    with pytest.raises(Refused):
        replay(first)
    assert row(first)["waiting_for"] == "order"
