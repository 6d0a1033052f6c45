"""Atomic tasks under kill and freeze: one effect, whatever happens in between."""

import os
import signal

import pytest
from django.db import connection

from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def outcomes(result):
    return list(Attempt.objects.filter(job_id=int(result.id)).order_by("number").values_list("outcome", flat=True))


@pytest.fixture
def writing():
    """Find the process whose transaction has written and not committed: the runner of an atomic task that sleeps."""

    def find(worker):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pid FROM pg_stat_activity "
                "WHERE datname = current_database() AND state = 'idle in transaction' AND backend_xid IS NOT NULL"
            )
            if cursor.fetchone() is None:
                return None
        return max(process.pid for process in worker.family())

    return find


def test_an_atomic_task_that_is_killed_leaves_no_effect(start_worker, job_is, writing):
    """SIGKILL in the middle: what was written is gone, the next attempt writes it once."""
    worker = start_worker("--processes", "1")
    result = tasks.book.enqueue(3600)
    job_is(result, "RUNNING")
    runner = wait_until(lambda: writing(worker), seconds=SECONDS)
    os.kill(runner, signal.SIGKILL)

    job_is(result, "SUCCESSFUL")

    assert outcomes(result) == ["lost", "succeeded"]
    assert list(Trace.objects.values_list("what", "attempt")) == [("booked", 2)]


def test_an_atomic_task_that_has_lost_its_lease_writes_nothing(start_worker, job_is, writing):
    """Frozen past the lease in the middle of its transaction: another worker does it; the late one rolls back."""
    frozen = start_worker("--processes", "1")
    result = tasks.book.enqueue(1)
    job_is(result, "RUNNING")
    wait_until(lambda: writing(frozen), seconds=SECONDS)
    frozen.freeze()
    start_worker("--processes", "1")
    job_is(result, "SUCCESSFUL")
    frozen.thaw()
    again = tasks.start.enqueue()
    job_is(again, "SUCCESSFUL")
    wait_until(lambda: "the lease was lost" in frozen.log, seconds=SECONDS)

    assert outcomes(result) == ["lost", "succeeded"]
    assert list(Trace.objects.filter(what="booked").values_list("attempt", flat=True)) == [2]
    assert Job.objects.get(pk=int(result.id)).result is None


def test_an_atomic_task_commits_where_the_project_has_autocommit_off(start_worker, job_is):
    """AUTOCOMMIT False in DATABASES: the task and its success are committed all the same."""
    start_worker("--processes", "1", database={"AUTOCOMMIT": False})
    result = tasks.book.enqueue(0)
    job_is(result, "SUCCESSFUL")
    again = tasks.book.enqueue(0)
    job_is(again, "SUCCESSFUL")

    assert outcomes(result) == outcomes(again) == ["succeeded"]
    assert Trace.objects.filter(what="booked").count() == 2


def test_what_an_atomic_task_leaves_for_after_its_commit_may_take_its_time(start_worker, job_is):
    """The job has succeeded, and has no lease to lose: its callbacks run to their end, and the end is told."""
    worker = start_worker("--processes", "1", receivers=True, options={"renew_seconds": 0.3})
    result = tasks.book_and_call_back.enqueue(4)
    job_is(result, "SUCCESSFUL")
    wait_until(lambda: Trace.objects.filter(what="called back").exists(), seconds=SECONDS)
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    wait_until(
        lambda: Trace.objects.filter(what="finished SUCCESSFUL", job_id=int(result.id)).exists(), seconds=SECONDS
    )
    assert outcomes(result) == ["succeeded"]
    assert "could not be renewed" not in worker.log
    assert "the lease was lost" not in worker.log
