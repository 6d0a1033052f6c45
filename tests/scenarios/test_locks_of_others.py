"""Somebody else's open transaction holds a job's row: the queue goes on around it."""

import psycopg
import pytest

from django_jobqueue.models import Job
from tests.stage import tasks
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_row_that_somebody_has_locked_holds_up_its_own_outcome_only(start_worker, job_is, database_url):
    """While an open transaction holds the row of a job that has ended, the worker settles and claims other jobs.

    Then this one.
    """
    worker = start_worker("--processes", "1")
    held_up = tasks.sleep.enqueue(1)
    job_is(held_up, "RUNNING")
    with psycopg.connect(database_url) as somebody:
        somebody.execute("SELECT FROM django_jobqueue_job WHERE id = %s FOR UPDATE", [int(held_up.id)])
        wait_until(lambda: "is locked by somebody" in worker.log)
        for follower in [tasks.start.enqueue() for _ in range(3)]:
            job_is(follower, "SUCCESSFUL", seconds=4)
        assert Job.objects.get(pk=int(held_up.id)).status == "RUNNING"

    job = job_is(held_up, "SUCCESSFUL")
    assert (job.attempt_count, worker.log.count("is locked")) == (1, 1)
    assert "cannot be used" not in worker.log
