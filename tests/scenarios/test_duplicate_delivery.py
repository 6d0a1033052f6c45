"""Duplicate delivery.

The same job twice, or the same message in two jobs, has one effect where the task makes it so.
"""

import signal

import pytest

from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Order, Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_message_that_was_enqueued_twice_has_one_effect(run_until_idle):
    """Two jobs for one key are both delivered and both succeed.

    The unique constraint lets one of them have the effect.
    """
    results = [tasks.order_once.enqueue("order:1") for _ in range(2)]
    run_until_idle("--processes", "2")
    for result in results:
        result.refresh()

    assert Trace.objects.filter(what="delivered").count() == 2
    assert Order.objects.count() == 1
    assert sorted(result.return_value for result in results) == ["already there", "created"]


def test_a_job_whose_worker_died_after_the_effect_is_delivered_again_under_the_same_key(start_worker, job_is):
    """A second delivery of one job carries the same idempotency key, so that the effect of the first can be found."""
    first = start_worker("--processes", "1")
    result = tasks.sleep.enqueue(2)
    wait_until(lambda: Trace.objects.filter(what="start").exists(), seconds=SECONDS)
    first.send(signal.SIGKILL)
    first.wait()
    start_worker("--processes", "1")
    job = job_is(result, "SUCCESSFUL")

    starts = Trace.objects.filter(what="start").order_by("attempt")
    assert [trace.attempt for trace in starts] == [1, 2]
    assert {trace.job_id for trace in starts} == {job.pk}


def test_eight_workers_start_each_job_once(start_worker):
    """Four workers of two processes each, 600 jobs: 600 starts, every job at attempt 1, one attempt row each."""
    from django_jobqueue.compat import task_backends
    from django_jobqueue.models import Attempt, Job

    task_backends["default"].enqueue_many([(tasks.start, (), {})] * 600)
    for _ in range(4):
        start_worker("--processes", "2")
    wait_until(lambda: not Job.objects.exclude(status="SUCCESSFUL").exists(), seconds=60)

    assert Trace.objects.count() == 600
    assert set(Job.objects.values_list("attempt_count", flat=True)) == {1}
    assert Attempt.objects.count() == 600
