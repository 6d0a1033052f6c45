"""Limits and order under four workers whose processes are killed: they hold, and nothing is stuck."""

import os
import random
import signal
import time
from itertools import pairwise

import psutil
import pytest

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

QUICK = {"lease_seconds": 2, "renew_seconds": 0.5, "rescue_seconds": 0.3, "poll_seconds": 0.2}
LIVE = ["WAITING", "READY", "RUNNING"]


def torment(workers, is_over, *, seconds=0.4):
    """Kill runners, and now and then a keeper for which another one comes, until it is over."""
    wait_until(Job.objects.filter(attempt_count__gt=0).exists, seconds=SECONDS)
    deadline = time.monotonic() + 4 * SECONDS
    while not is_over():
        assert time.monotonic() < deadline, "something is stuck"
        worker = random.choice(workers)
        runners = [process for process in worker.family() if process.pid != worker.pid and not process.children()]
        if runners:
            try:
                os.kill(random.choice(runners).pid, signal.SIGKILL)
            except (ProcessLookupError, psutil.NoSuchProcess):
                continue
        time.sleep(random.uniform(0, 2 * seconds))


def most_at_once(attempts):
    """Sweep over the attempts: how many were open at once, by PostgreSQL's clock."""
    moments = sorted(moment for attempt in attempts for moment in ((attempt.started_at, 1), (attempt.finished_at, -1)))
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most


def test_a_limit_holds_while_processes_die(start_worker):
    """Of three tenants two jobs each run at once, through failures and kills, and all come to their end."""
    workers = [start_worker("--processes", "2", "--threads", "2", options=QUICK) for _ in range(4)]
    calls = [(tasks.sync, (tenant, 0.05), {"fails": int(n % 10 == 0)}) for n in range(100) for tenant in "abc"]
    task_backends["default"].enqueue_many(calls)

    torment(workers, lambda: not Job.objects.filter(status__in=LIVE).exists(), seconds=0.15)

    assert Attempt.objects.filter(outcome="lost").exists(), "nobody was killed"
    for tenant in "abc":
        most = most_at_once(Attempt.objects.filter(job__concurrency_key=f"tenant:{tenant}"))
        assert most <= 2
    assert set(Job.objects.values_list("status", flat=True)) <= {"SUCCESSFUL", "FAILED"}
    assert Job.objects.filter(status="SUCCESSFUL").count() > 200


def test_an_order_holds_while_processes_die(start_worker):
    """Of each account one job is on its way, in the order of the ids, through retries and kills."""
    workers = [start_worker("--processes", "2", "--threads", "2", options=QUICK) for _ in range(4)]
    calls = [(tasks.post, (account, n), {"fails": int(n % 7 == 0)}) for n in range(20) for account in "abc"]
    task_backends["default"].enqueue_many(calls)

    torment(workers, lambda: not Job.objects.filter(status__in=LIVE).exists(), seconds=0.8)

    for account in "abc":
        jobs = Job.objects.filter(order_key=f"account:{account}").order_by("pk").prefetch_related("attempts")
        spans = [span_of(job) for job in jobs]
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        done = Trace.objects.filter(what__startswith=f"{account}:").order_by("pk").values_list("what", flat=True)
        numbers = [int(what.partition(":")[2]) for what in done]
        assert numbers == sorted(numbers)
        # Whoever was killed three times is a dead letter.
        assert len(set(numbers)) + jobs.filter(status="FAILED").count() >= 20


def span_of(job):
    """Say from when to when a job was on its way."""
    attempts = job.attempts.all()
    return min(attempt.started_at for attempt in attempts), max(attempt.finished_at for attempt in attempts)
