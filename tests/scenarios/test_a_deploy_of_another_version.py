"""Jobs that the code of the workers does not know yet, or does not know any more."""

import pytest

from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import SECONDS, wait_for_signs_of_life
from tests.stage.models import Trace
from tests.store.hands import add_job, at
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

GROW = "tests.stage.tasks.grow"


def is_parked(job_id):
    return Job.objects.filter(pk=job_id, status="WAITING", waiting_for="worker").exists()


def test_a_job_of_a_newer_version_waits_for_a_newer_worker(start_worker):
    """The older one puts it aside and says so once; the newer one takes it back and runs it, at its first attempt."""
    older = start_worker("--processes", "1")
    newer_job, older_job = add_job(task=GROW, version=2, run_after=at(-60)), add_job(task=GROW, run_after=at(-60))
    wait_until(lambda: is_parked(newer_job) and f"jobs of {GROW} v2" in older.log, seconds=SECONDS)

    start_worker("--processes", "1", environment={"STAGE_VERSION": "2"})
    wait_until(lambda: Job.objects.filter(status="SUCCESSFUL").count() == 2, seconds=SECONDS)

    assert list(Attempt.objects.order_by("job_id").values_list("job_id", "number", "outcome")) == [
        (job, 1, "succeeded") for job in sorted((newer_job, older_job))
    ]
    assert Trace.objects.filter(what="grown").count() == 2
    assert older.log.count(f"jobs of {GROW} v2 are due, and this worker knows v1: deploy the newer code") == 1


def test_a_worker_that_starts_says_what_waits_for_one_that_knows_it(start_worker):
    """In one line, with the version where it is that; the jobs that it knows itself it takes back without a word."""
    for task, version, number in [("shop.gone", 1, 2), (GROW, 2, 1), (GROW, 1, 1)]:
        for _ in range(number):
            add_job(task=task, version=version, status="WAITING", waiting_for="worker", parked_at=at(-5))

    worker = start_worker("--processes", "1")
    wait_for_signs_of_life(worker, 3)

    line = f"3 jobs wait for a worker that knows their task: shop.gone (2), {GROW} v2 (1)"
    assert worker.log.count(line) == 1
    assert worker.log.count("wait for a worker") == 1


def test_a_slow_worker_keeps_its_backlog_from_those_that_do_not_know_it(start_worker):
    """A job that another living worker knows is not put aside, however long it has been due."""
    start_worker("--processes", "1", "--queue", "elsewhere", environment={"STAGE_VERSION": "2"})
    older = start_worker("--processes", "1")
    job = add_job(task=GROW, version=2, run_after=at(-60))
    wait_until(lambda: f"jobs of {GROW} v2 are due" in older.log, seconds=SECONDS)

    assert not is_parked(job)
