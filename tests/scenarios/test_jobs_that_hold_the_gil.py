"""Liveness does not depend on the job: who renews a lease and keeps a time limit is another process."""

import pytest

from django_jobqueue.models import Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

LEASE = {"lease_seconds": 3, "renew_seconds": 0.5}


def test_a_call_of_c_that_keeps_the_gil_for_several_leases_keeps_its_lease(start_worker, job_is):
    """For more than two leases no other thread of its process runs. It is not started again, and its end counts."""
    start_worker("--processes", "1", "--threads", "2", options=LEASE)
    result = tasks.keep_the_gil.enqueue(7)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    start_worker("--processes", "1", options=LEASE)
    ends = set()

    def has_ended():
        job = Job.objects.get(pk=int(result.id))
        ends.add(job.lease_expires_at)
        return job.status == "SUCCESSFUL"

    wait_until(has_ended, seconds=SECONDS)

    assert Trace.objects.filter(what="start").count() == 1
    assert [attempt.outcome for attempt in Job.objects.get().attempts.all()] == ["succeeded"]
    assert len(ends - {None}) >= 4


def test_the_time_limit_holds_also_for_one_that_keeps_the_gil(start_worker, job_is):
    """A regular expression that never ends is killed at its limit of 1 s; a neighbour is interrupted, uncharged."""
    start_worker("--processes", "1", "--threads", "2", options=LEASE)
    neighbour = tasks.be_late_at_first.enqueue(600, False)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    attempt = job_is(tasks.hold_the_gil.enqueue(), "FAILED").attempts.get()
    neighbour = job_is(neighbour, "SUCCESSFUL")

    assert attempt.outcome == "timed_out"
    assert (attempt.finished_at - attempt.started_at).total_seconds() >= 1
    assert (neighbour.failure_count, neighbour.interruption_count) == (0, 0)
    assert [a.outcome for a in neighbour.attempts.order_by("number")] == ["interrupted", "succeeded"]


@pytest.mark.parametrize(
    ("guilty", "innocent"),
    [
        (tasks.block_the_loop, tasks.be_quick_in_a_coroutine),
        (tasks.ask_the_database_for_long, tasks.be_quick_in_a_coroutine),
        (tasks.keep_the_gil, tasks.be_quick),
    ],
    ids=["loop", "database", "gil"],
)
def test_a_time_limit_does_not_run_before_its_job_does(start_worker, job_is, guilty, innocent):
    """A job with a limit of 1 s waits four in its process for one that lets nothing else run: both succeed at once."""
    start_worker("--processes", "1", "--threads", "2", options=LEASE)
    first = guilty.enqueue(4)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    second = innocent.enqueue()

    for result in (first, second):
        job = job_is(result, "SUCCESSFUL")
        assert [attempt.outcome for attempt in job.attempts.all()] == ["succeeded"]
