"""Tenants that share a queue, with real workers: who comes late does not wait behind a big backlog."""

import pytest

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

OPTIONS = {"poll_seconds": 0.2, "queues": {"imports": {"fair_share": True}}}


def test_a_small_tenant_does_not_wait_behind_a_big_one(start_worker, settings):
    """Of the starts after its arrival every second one is its own, until it has no more; and all jobs end."""
    default = settings.TASKS["default"]
    settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | OPTIONS}}
    shared = tasks.convert.using(queue_name="imports")
    for _ in range(2):
        start_worker("--processes", "1", "--threads", "4", options=OPTIONS)
    task_backends["default"].enqueue_many([(shared, ("big", 0.05), {})] * 400)
    wait_until(lambda: Job.objects.filter(status="SUCCESSFUL").count() >= 20, seconds=2 * SECONDS)
    task_backends["default"].enqueue_many([(shared, ("small", 0.05), {})] * 20)
    wait_until(lambda: not Job.objects.exclude(status="SUCCESSFUL").exists(), seconds=3 * SECONDS)

    arrival = Job.objects.filter(concurrency_key="small").earliest("enqueued_at").enqueued_at
    after = Job.objects.filter(started_at__gt=arrival).order_by("started_at").values_list("concurrency_key", flat=True)
    # Eight places: the first eight that are free are enough for its half, and then it keeps it.
    last = max(index for index, key in enumerate(after) if key == "small")
    assert last < 8 + 2 * 20 + 8
