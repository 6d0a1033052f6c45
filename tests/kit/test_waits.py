"""A test can ask why a job did not run, and say what it should wait for."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from django_jobqueue import operations, task
from django_jobqueue.models import Job, Worker
from django_jobqueue.testing import assert_enqueued, assert_not_enqueued, assert_waits_for, deliver_twice, run_jobs, why
from tests import tasks as cast

pytestmark = pytest.mark.django_db

SIGNED = {"by": "ada", "reason": "the provider is down"}


@task(concurrency_limit=1)
def one_at_a_time(number): ...


@task(order_key="account:{account}")
def in_order(account): ...


def full():
    """Let one job have the only slot, and enqueue another one."""
    Job.objects.filter(pk=int(one_at_a_time.enqueue(1).id)).update(status="READY", waiting_for="")
    return one_at_a_time.enqueue(2)


def test_a_job_waits_for_what_it_should():
    """One code, or several; all that stands in the way is answered."""
    waits = full()
    operations.pause("default", **SIGNED)

    assert [reason.code for reason in assert_waits_for(waits, "limit")] == ["limit", "paused"]
    assert_waits_for(waits, "paused", "limit")
    assert_waits_for(in_order.enqueue("a"), "paused")
    assert run_jobs() == []


def test_it_is_told_what_a_job_waits_for_instead():
    """With the sentence that a person would read."""
    waits = full()

    with pytest.raises(AssertionError) as error:
        assert_waits_for(waits, "paused", "limit", "turn")

    assert str(error.value).startswith(f"job {waits.id} does not wait for paused and turn, but for limit: the task ")
    assert "runs 1 at once, and 1 are (jobs " in str(error.value)


def test_run_jobs_is_the_worker():
    """None need be alive for a job to be next; one that is elsewhere does not hide that no code knows a task."""
    known, gone = cast.succeed.enqueue(), cast.succeed.enqueue()
    Job.objects.filter(pk=int(gone.id)).update(task="shop.gone")
    words = {"hostname": "elsewhere", "pid": 1, "processes": 1, "threads": 1, "coroutines": 1}
    Worker.objects.create(id=uuid4(), backend="default", tasks={"shop.gone": 1}, **words)

    assert_waits_for(known, "next")
    assert_waits_for(gone, "unknown_task")


@pytest.mark.parametrize("form", [lambda r: r, lambda r: r.id, lambda r: int(r.id), lambda r: Job.objects.get(pk=r.id)])
def test_a_job_is_named_by_whatever_there_is(form):
    """What enqueue has returned, a job, or its id."""
    later = cast.succeed.using(run_after=timezone.now() + timedelta(hours=1)).enqueue()

    assert [reason.code for reason in why(form(later))] == ["not_due"]


def test_what_is_no_job_is_an_error_of_the_test():
    """With what is taken."""
    with pytest.raises(TypeError, match="takes what enqueue"):
        why(cast.succeed)
    with pytest.raises(AssertionError, match="there is no job 4711; was it rolled back"):
        why(4711)


@pytest.mark.parametrize(
    ("codes", "error", "words"),
    [
        (["limt"], ValueError, "nothing that a job waits for is called 'limt'; did you mean 'limit'?"),
        (["xyzzy"], ValueError, "there are over, running"),
        ([], TypeError, "takes what the job waits for: over"),
    ],
)
def test_a_mistyped_code_is_told(codes, error, words):
    """It would look like a job that does not wait."""
    job = cast.succeed.enqueue()

    with pytest.raises(error, match=re.escape(words)):
        assert_waits_for(job, *codes)


def test_the_other_assertions_say_what_a_job_waits_for():
    """Of each job that did not run; nothing of one that is next, or over."""
    first, second = cast.take.enqueue(1), cast.take.enqueue(2)
    operations.pause("default", **SIGNED)
    paused = "(paused: queue default is paused by ada: the provider is down)"

    with pytest.raises(
        AssertionError, match=re.escape(f"there are 2: job {second.id}(2) READY {paused}, job {first.id}")
    ):
        assert_enqueued(cast.take, 3)
    with pytest.raises(AssertionError, match=re.escape(f"job {first.id}(1) READY {paused}")):
        assert_not_enqueued(cast.take, 1)

    operations.resume("default", by="ada")
    run_jobs()
    with pytest.raises(AssertionError, match=re.escape(f"job {first.id}(1) SUCCESSFUL") + "$"):
        assert_not_enqueued(cast.take, 1)


@pytest.mark.django_db(transaction=True)
def test_the_drill_says_why_it_cannot_begin():
    """A pause keeps it from its job, as it would a worker."""
    operations.pause(task="tests.tasks.*", **SIGNED)

    words = "is READY (paused: task tests.tasks.* is paused by ada: the provider is down), and cannot be claimed"
    with pytest.raises(AssertionError, match=re.escape(words) + "$"):
        deliver_twice(cast.take, arrange=lambda: {"first": 1}, effects=lambda first: {}, allow_none=True)
