"""Rates under four workers whose processes are killed: never exceeded, and nothing is stuck."""

from datetime import timedelta

import pytest

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Attempt, Job
from django_jobqueue.policy.rate import parse
from tests.scenarios.conftest import SECONDS
from tests.scenarios.test_limits import LIVE, QUICK, torment
from tests.stage import tasks
from tests.store.test_claim_rated import over_the_rate
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

OF_THE_QUEUE = "15/s burst 4"


def test_a_rate_holds_while_processes_die(start_worker):
    """Of three tenants, and of their queue, no window has more starts than their rates allow, retries counted."""
    options = QUICK | {"queues": {"calls": {"rate_limit": OF_THE_QUEUE}}}
    workers = [start_worker("--processes", "2", "--threads", "2", options=options) for _ in range(4)]
    calls = [
        (tasks.call.using(queue_name="calls"), (tenant,), {"fails": int(n % 5 == 0)})
        for n in range(50)
        for tenant in "abc"
    ]
    task_backends["default"].enqueue_many(calls)

    torment(workers, lambda: not Job.objects.filter(status__in=LIVE).exists(), seconds=0.15)

    assert Attempt.objects.filter(outcome="lost").exists(), "nobody was killed"
    starts = Attempt.objects.values_list("started_at", flat=True)
    assert over_the_rate(starts, parse(OF_THE_QUEUE)) == []
    for tenant in "abc":
        of_tenant = starts.filter(job__rate_key=f"tenant:{tenant}")
        assert over_the_rate(of_tenant, parse(tasks.call.rate_limit)) == []
    # Whose process was killed three times in a row is a dead letter.
    assert set(Job.objects.values_list("status", flat=True)) <= {"SUCCESSFUL", "FAILED"}
    assert Job.objects.filter(status="SUCCESSFUL").count() > 120


def test_an_idle_worker_wakes_for_the_next_token(start_worker):
    """It does not wait for its poll: twenty starts at a pace of 0.1 s need no poll of a minute."""
    options = {"poll_seconds": 60, "notify": False, "queues": {"calls": {"rate_limit": "10/s burst 1"}}}
    nap = {"task": "tests.stage.tasks.nap", "args": [0], "queue_name": "calls"}
    Job.objects.bulk_create(Job(**nap, rate_key="") for _ in range(20))
    start_worker("--processes", "1", options=options)

    wait_until(lambda: Job.objects.filter(status="SUCCESSFUL").count() == 20, seconds=SECONDS)
    starts = sorted(Attempt.objects.values_list("started_at", flat=True))
    assert over_the_rate(starts, parse("10/s burst 1")) == []
    assert starts[-1] - starts[0] >= timedelta(seconds=1.9)
