"""Recycling: a process that has done enough makes room for a fresh one, between jobs."""

import pytest

from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def pids():
    return list(Trace.objects.filter(what="start").order_by("pk").values_list("pid", flat=True))


def test_a_process_is_replaced_after_so_many_jobs(run_until_idle):
    """No process runs more jobs than it may; none is lost, none is charged, each runs once."""
    for _ in range(50):
        tasks.start.enqueue()
    run_until_idle("--processes", "1", options={"max_jobs_per_process": 10})

    assert Job.objects.filter(status="SUCCESSFUL", attempt_count=1).count() == 50
    assert Attempt.objects.exclude(outcome="succeeded").count() == 0
    counts = {pid: pids().count(pid) for pid in pids()}
    assert len(counts) >= 5
    assert max(counts.values()) <= 10


def test_a_process_that_has_grown_is_replaced_between_jobs(start_worker, job_is):
    """Above its memory it takes no more jobs; the one that runs ends in peace, the next one has a fresh process."""
    start_worker("--processes", "1", options={"max_process_bytes": 300 * 1024 * 1024})
    grown = tasks.hold_memory.enqueue(400, 2)
    job_is(grown, "SUCCESSFUL")
    first = pids()[0]
    wait_until(lambda: job_is(tasks.start.enqueue(), "SUCCESSFUL") and pids()[-1] != first, seconds=SECONDS)

    assert list(Attempt.objects.filter(job_id=int(grown.id)).values_list("outcome", flat=True)) == ["succeeded"]
    assert not Attempt.objects.exclude(outcome="succeeded").exists()


def test_a_job_that_a_worn_out_process_cannot_run_is_left_to_others(start_worker, job_is):
    """A process that runs one job more is in a long function: a coroutine waits for no end of that."""
    one_each = {"max_jobs_per_process": 1}
    long, short = tasks.sleep.enqueue(120), tasks.return_from_a_coroutine.enqueue(1)
    start_worker("--processes", "1", options=one_each)
    wait_until(pids, seconds=SECONDS)
    start_worker("--processes", "1", options=one_each)

    assert job_is(short, "SUCCESSFUL").attempt_count == 1
    assert Job.objects.get(pk=int(long.id)).status == "RUNNING"
