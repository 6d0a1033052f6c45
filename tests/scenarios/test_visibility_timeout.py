"""Visibility time-out: a job whose worker is gone or frozen comes back; one whose worker lives does not.

CASES: a killed worker, a healthy long job, a late finisher.
"""

import signal

import pytest

from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def outcomes(job):
    """The outcomes of a job's attempts, in order."""
    return list(Attempt.objects.filter(job=job).order_by("number").values_list("outcome", flat=True))


def test_a_job_of_a_killed_worker_starts_again_when_its_lease_runs_out(start_worker, job_is):
    """kill -9 of the keeper.

    Its runners die with it, the lease runs out, another worker runs the job; attempt 1 is lost.
    """
    first = start_worker("--processes", "1")
    result = tasks.sleep.enqueue(3)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    first.family()
    first.send(signal.SIGKILL)
    first.wait()
    wait_until(lambda: not first.survivors(), seconds=SECONDS)
    second = start_worker("--processes", "1")
    job = job_is(result, "SUCCESSFUL")

    assert outcomes(job) == ["lost", "succeeded"]
    assert Trace.objects.filter(what="end").count() == 1
    lost = Attempt.objects.get(job=job, number=1)
    assert lost.charged
    assert lost.worker_id != Attempt.objects.get(job=job, number=2).worker_id
    assert "is lost" in second.log or "lease ran out" in second.log


def test_a_long_job_of_a_living_worker_runs_once(start_worker, job_is):
    """A job of several leases' length starts once, with a second worker idle beside it.

    The end of its lease moves on.
    """
    start_worker("--processes", "1")
    start_worker("--processes", "1")
    result = tasks.sleep.enqueue(9)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    ends = set()

    def has_ended():
        job = Job.objects.get(pk=int(result.id))
        ends.add(job.lease_expires_at)
        return job.status == "SUCCESSFUL"

    wait_until(has_ended, seconds=SECONDS)

    assert Trace.objects.filter(what="start").count() == 1
    assert len(ends - {None}) >= 4


@pytest.mark.parametrize("fails", [False, True], ids=["with_a_result", "with_an_error"])
def test_a_frozen_worker_that_comes_back_changes_nothing(start_worker, job_is, fails):
    """SIGSTOP past the lease.

    Another worker finishes the job; after SIGCONT the first one's outcome is refused and counted.
    """
    frozen = start_worker("--processes", "1")
    result = tasks.be_late_at_first.enqueue(1, fails)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    frozen.freeze()
    start_worker("--processes", "1")
    job = job_is(result, "SUCCESSFUL")
    before = Job.objects.filter(pk=job.pk).values().get()
    frozen.thaw()
    wait_until(lambda: "the lease was lost" in frozen.log, seconds=SECONDS)

    assert Job.objects.filter(pk=job.pk).values().get() == before
    assert outcomes(job) == ["lost", "succeeded"]
    assert not hasattr(job, "dead_letter")
    again = tasks.start.enqueue()
    job_is(again, "SUCCESSFUL")
    assert frozen.popen.poll() is None
