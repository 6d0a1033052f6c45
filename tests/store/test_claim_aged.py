"""Aging: what has waited too long is claimed by its age, whatever its priority."""

import pytest
from django.db import connection

from django_jobqueue.models import Pause
from django_jobqueue.store.claim import Serving, aged_wanted
from django_jobqueue.store.statement import run_on
from tests.store.hands import COMMITS, FINISH, add_job, add_jobs, at, locked
from tests.store.test_query_plans import buffers, plan_of

pytestmark = COMMITS


def is_wanted():
    return run_on(connection, aged_wanted(300))


def ids(held):
    return [job.id for job in held]


def test_the_oldest_goes_first_whatever_its_priority(worker):
    """Of those that have waited for longer, of all priorities, in all queues and tasks."""
    add_jobs(5, priority=9, run_after=at(-10))
    second = add_job(priority=-5, run_after=at(-400), queue_name="other")
    first = add_job(priority=-100, run_after=at(-500))
    third = add_job(priority=9, run_after=at(-350))

    assert is_wanted()
    assert sorted(ids(worker.claim(2, aging_seconds=300))) == sorted([first, second])
    assert ids(worker.claim(9, aging_seconds=300)) == [third]
    assert not is_wanted()


def test_without_a_second_priority_nobody_is_passed_over(worker):
    """The order of claims is that of age then; and what has not waited so long is left to it."""
    add_jobs(3, run_after=at(-400))
    assert not is_wanted()
    add_job(priority=9, run_after=at(-1))
    assert is_wanted()

    assert len(worker.claim(9, aging_seconds=300)) == 3
    assert worker.claim(9, aging_seconds=300) == []


def test_a_claim_by_age_takes_what_any_claim_takes(worker):
    """Nothing of another queue, task, version or backend, nothing paused, no suspect where none is wanted."""
    old = {"run_after": at(-400), "priority": -1}
    mine = add_job(**old)
    add_job(**old, queue_name="other")
    add_job(**old, task="shop.unknown")
    add_job(**old, version=2)
    add_job(**old, backend="other")
    add_job(**old, crash_count=1)
    add_job(**old, queue_name="mail")
    Pause.objects.create(kind="queue", pattern="mail", paused_by="ada", reason="")

    held = worker.claim(9, aging_seconds=300, suspects=False, serving=Serving(("default", "mail")))
    assert ids(held) == [mine]


def test_what_somebody_has_locked_is_passed_over(worker):
    """The next one is taken instead."""
    first, second = (add_job(run_after=at(-400 + n)) for n in range(2))
    with locked(first):
        assert ids(worker.claim(1, aging_seconds=300)) == [second]


@pytest.mark.parametrize("levels", [1, 21])
def test_a_look_reads_priorities_and_not_jobs(worker, levels):
    """A few pages for each priority, however many jobs have it."""
    for priority in range(levels):
        add_jobs(20_000 // levels, priority=priority, run_after=at(-400))
    plan = plan_of(worker.session, aged_wanted(300), run=True)

    assert buffers(plan) <= 8 * levels + 10


def test_a_stream_of_high_priority_holds_nobody_up(worker):
    """One place in a claim by age is enough for all that are old, in their order."""
    old = [add_job(priority=-1, run_after=at(-400 + n)) for n in range(5)]
    begun = []
    for _ in range(5):
        add_jobs(4, priority=9, run_after=at(-1))
        held = worker.claim(1, aging_seconds=300) + worker.claim(3)
        begun += ids(held)
        worker.settle(*[job.settled_as(FINISH) for job in held])

    assert [job_id for job_id in begun if job_id in old] == old
