"""Slots: under a limit a job is ready only when its key, its task and its queue have room for it."""

from collections import Counter

import pytest
from django.db import connection, transaction

from django_jobqueue.models import Job, Limit
from django_jobqueue.store.admit import FIRST, admit_limited, admit_lock
from django_jobqueue.store.statement import run_on
from tests.store.hands import BURY, COMMITS, FINISH, RELEASE, RETRY_NOW, add_job, add_jobs, at, at_once, row

pytestmark = COMMITS

WAITING = {"status": "WAITING", "waiting_for": "limit"}


def waiting(count=1, **columns):
    """Add jobs that wait for a slot, due for a minute, the first one longest."""
    return [add_job(**WAITING, run_after=at(-60 + n), **columns) for n in range(count)]


def ready():
    return [*Job.objects.filter(status="READY").order_by("-priority", "run_after", "id").values_list("pk", flat=True)]


@pytest.mark.parametrize(
    "columns",
    [{"concurrency_key": "tenant:5", "key_limit": 2}, {"task_limit": 2}, {"queue_limit": 2}],
    ids=["of a key", "of a task", "of a queue"],
)
def test_as_many_are_admitted_as_there_are_slots(worker, columns):
    """The first ones in claim order; one that ends makes room for the next, and nothing else does."""
    ids = waiting(5, **columns)
    urgent = add_job(**WAITING, run_after=at(-1), priority=9, **columns)

    assert (worker.admit(), ready()) == (2, [urgent, ids[0]])
    assert worker.admit() == 0
    first, second = worker.claim(2)
    assert worker.admit() == 0
    worker.settle(first.settled_as(FINISH))
    assert (worker.admit(), ready()) == (1, [ids[1]])
    worker.settle(second.settled_as(RELEASE))
    assert (worker.admit(), sorted(ready())) == (1, sorted([ids[1], second.id]))


@pytest.mark.parametrize("decision", [FINISH, BURY, RETRY_NOW, RELEASE], ids=["ends", "dies", "waits", "is put back"])
def test_a_slot_is_given_back_with_the_state(worker, decision):
    """By the job's end, its wait for a retry, and its return to the queue: whoever is first then gets it."""
    waiting(2, task_limit=1)
    worker.admit()
    (job,) = worker.claim(1)
    worker.settle(job.settled_as(decision))

    assert worker.admit() == 1


def test_a_retry_needs_a_slot_again(worker):
    """A job under a limit that has fallen due waits for a slot, and not beside it."""
    first, second = waiting(2, concurrency_key="k", key_limit=1)
    worker.admit()
    (job,) = worker.claim(1)
    worker.settle(job.settled_as(RETRY_NOW))
    worker.admit()
    assert worker.promote().moved == 1

    assert ready() == [second]
    assert (row(first)["status"], row(first)["waiting_for"]) == ("WAITING", "limit")
    assert worker.admit() == 0


def test_every_limit_of_a_job_counts(worker):
    """A key, a task and a queue: what is admitted is within each of them."""
    limits = {"key_limit": 2, "task_limit": 3, "queue_limit": 4}
    for key in ("a", "b", "c"):
        for task in ("shop.charge", "shop.mail"):
            waiting(4, task=task, concurrency_key=key, **limits)
    while worker.admit():
        pass

    jobs = Job.objects.filter(status="READY")
    assert len(jobs) == 4
    assert max(Counter(job.concurrency_key for job in jobs).values()) <= 2
    assert max(Counter(job.task for job in jobs).values()) <= 3


def test_those_whose_key_is_full_hold_up_no_others(worker):
    """The queue's slots go to the next ones whose own key has room, whatever waits before them."""
    waiting(3, concurrency_key="full", key_limit=1, queue_limit=3, priority=9)
    others = waiting(3, concurrency_key="free", key_limit=5, queue_limit=3)
    worker.admit()

    assert ready()[1:] == others[:2]


def test_jobs_under_no_limit_take_no_slot(worker):
    """They are ready from the start, of the same task and queue, and nobody counts them."""
    add_jobs(5)
    waiting(2, task_limit=1, queue_limit=1)

    assert worker.admit() == 1


def test_keys_are_shared_by_tasks_and_queues_of_a_backend(worker):
    """A key is a key: two tasks that name the same one share its slots; another backend's is another."""
    waiting(1, task="shop.charge", queue_name="one", concurrency_key="k", key_limit=1)
    waiting(1, task="shop.mail", queue_name="two", concurrency_key="k", key_limit=1)
    waiting(1, backend="other", concurrency_key="k", key_limit=1)

    assert worker.admit() == 2
    assert worker.admit() == 0


@pytest.mark.parametrize(("kind", "target"), [("key", "k"), ("task", "shop.charge"), ("queue", "default")])
@pytest.mark.parametrize("at_once", [0, 1, 3])
def test_a_limit_that_a_person_has_set_stands_for_the_declared_one(worker, kind, target, at_once):
    """Lower, higher or none at all."""
    column = {"key": "key_limit", "task": "task_limit", "queue": "queue_limit"}[kind]
    waiting(5, concurrency_key="k", **{column: 2})
    Limit.objects.create(kind=kind, target=target, at_once=at_once, set_by="ada")
    worker.admit()

    assert len(ready()) == at_once


def test_one_at_a_time_admits(worker):
    """Whoever comes while another transaction is at it does nothing, waits for nothing, and is told so."""
    waiting(3, task_limit=2)
    with transaction.atomic():
        assert run_on(connection, admit_lock()) == (True, True)
        assert len(run_on(connection, admit_limited()).queues) == 2
        assert worker.admit() == 0

    assert len(ready()) == 2


def test_looks_that_are_cut_short_go_round():
    """Whoever looks at two lanes at a time has looked at all five after three looks, and then begins anew."""
    for key in "abcde":
        waiting(2, concurrency_key=key, key_limit=1)
    seen, after = [], FIRST
    for _ in range(4):
        with transaction.atomic():
            run_on(connection, admit_lock())
            admitted = run_on(connection, admit_limited(after=after, lanes=2))
        seen.append((len(admitted.queues), admitted.left_off.key))
        after = admitted.left_off

    assert seen == [(2, "b"), (2, "d"), (1, ""), (0, "b")]


def test_without_the_lock_nobody_is_admitted():
    """The statement by itself moves nothing: it cannot know who else counts."""
    waiting(1, task_limit=1)

    with transaction.atomic():
        assert run_on(connection, admit_limited()).queues == []


def test_of_many_at_once_the_limit_holds(make_worker):
    """Eight that admit, claim and settle at once never have more than three jobs of a key between them."""
    waiting(120, concurrency_key="k", key_limit=3)
    most = []

    def work(hand):
        for _ in range(60):
            hand.admit()
            held = hand.claim(2)
            most.append(Job.objects.filter(status__in=["READY", "RUNNING"]).count())
            hand.settle(*[one.settled_as(FINISH) for one in held])
        connection.close()

    at_once(*[lambda hand=hand: work(hand) for hand in [make_worker() for _ in range(8)]])

    assert max(most) == 3
    assert Job.objects.filter(status="SUCCESSFUL").count() > 20
