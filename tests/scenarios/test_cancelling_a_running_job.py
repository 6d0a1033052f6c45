"""Cancel: a running job is asked, stops where it can, is stopped by force, and never comes back."""

import pytest

from django_jobqueue import operations
from django_jobqueue.models import Attempt, DeadLetter, Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def started(count=1):
    wait_until(lambda: Trace.objects.filter(what="start").count() >= count, seconds=SECONDS)


def cancel(result, **how):
    return operations.cancel(result.id, by="ada", reason="not wanted any more", **how)


def ends(result):
    return list(Attempt.objects.filter(job_id=int(result.id)).order_by("number").values_list("outcome", "charged"))


@pytest.fixture(
    # Long before the first renewal of such a lease is due, this test has given up.
    params=[{"lease_seconds": 300, "renew_seconds": 150}, {"notify": False}],
    ids=["notify", "renewal"],
)
def options(request):
    """The two ways in which a worker hears of a request: at once, or with the next renewal."""
    return request.param


def test_a_function_that_looks_stops_itself(start_worker, job_is, options):
    """`context.cancelled` turns true; JobCancelled ends the job as CANCELLED, uncharged, in its only attempt."""
    start_worker("--processes", "1", options=options)
    result = tasks.look_whether_cancelled.enqueue(raises=True)
    started()
    assert cancel(result).status == "RUNNING"

    job = job_is(result, "CANCELLED")

    assert ends(result) == [("cancelled", False)]
    assert (job.lease_token, job.finished_at is not None) == (None, True)
    assert not DeadLetter.objects.exists()


def test_success_stands(start_worker, job_is):
    """A function that finishes its work in spite of the request is SUCCESSFUL."""
    start_worker("--processes", "1")
    result = tasks.look_whether_cancelled.enqueue(raises=False)
    started()
    cancel(result)

    assert job_is(result, "SUCCESSFUL").result == "finished all the same"


def test_a_coroutine_is_stopped_at_its_next_await(start_worker, job_is, options):
    """CancelledError goes through the coroutine, its `finally` runs, and the coroutine beside it goes on."""
    start_worker("--processes", "1", options=options)
    result, other = tasks.wait_for_ever.enqueue(), tasks.wait_for_ever.enqueue()
    started(2)
    cancel(result)

    job_is(result, "CANCELLED")

    assert ends(result) == [("cancelled", False)]
    assert Trace.objects.filter(what="end").count() == 1
    assert Job.objects.get(pk=int(other.id)).status == "RUNNING"
    assert Job.objects.get(pk=int(other.id)).attempt_count == 1


def test_force_stops_what_does_not_listen(start_worker, job_is):
    """With force the process is killed: the job is CANCELLED, its neighbour runs again uncharged, the slot is back."""
    start_worker("--processes", "1", "--threads", "2")
    deaf, neighbour = tasks.sleep.enqueue(3600), tasks.be_late_at_first.enqueue(3600, fails=False)
    started(2)
    cancel(deaf)
    cancel(deaf, force=True)

    job_is(deaf, "CANCELLED")
    job_is(neighbour, "SUCCESSFUL")

    assert ends(deaf) == [("cancelled", False)]
    assert ends(neighbour) == [("interrupted", False), ("succeeded", False)]
    assert Job.objects.get(pk=int(neighbour.id)).interruption_count == 0
    job_is(tasks.start.enqueue(), "SUCCESSFUL")


def test_a_request_outlives_the_worker(start_worker, job_is):
    """The worker is killed after the request: whoever rescues the job ends it as CANCELLED, and starts it no more."""
    first = start_worker("--processes", "1", options={"notify": False, "renew_seconds": 1, "lease_seconds": 2})
    result = tasks.sleep.enqueue(3600)
    started()
    first.freeze()
    cancel(result)
    first.end()
    start_worker("--processes", "1")

    job_is(result, "CANCELLED")

    assert ends(result) == [("lost", True)]
    assert Trace.objects.filter(what="start").count() == 1
