"""A depth limit beside real workers that are killed: it is never exceeded, and its room always comes back."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

from django_jobqueue.exceptions import QueueFull
from django_jobqueue.models import Attempt, Credit, Job
from django_jobqueue.store import depth
from django_jobqueue.store.depth import Bound
from django_jobqueue.store.session import connect
from tests.scenarios.conftest import SECONDS
from tests.scenarios.test_limits import LIVE, QUICK, torment
from tests.stage import tasks
from tests.store.test_depth_races import SNAPSHOT
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

MAX_DEPTH = 40
BOUND = Bound("queue", "default", "default", MAX_DEPTH)


def test_a_limit_holds_while_workers_die(start_worker, settings):
    """Eight who enqueue are refused now and then, and all get their jobs in; what the killed had held comes back."""
    default = settings.TASKS["default"]
    rules = {"queues": {"default": {"max_depth": MAX_DEPTH}}}
    settings.TASKS = {"default": default | {"OPTIONS": default["OPTIONS"] | rules}}
    workers = [start_worker("--processes", "2", options=QUICK | rules) for _ in range(2)]
    over, sums, refused = threading.Event(), [], []

    def produce(_number):
        try:
            for number in range(40):
                deadline = time.monotonic() + 4 * SECONDS
                while time.monotonic() < deadline:
                    try:
                        tasks.sync.using(queue_name="default").enqueue(str(number), 0.005)
                        break
                    except QueueFull as error:
                        refused.append(error)
                        over.wait(0.02)
        finally:
            connections.close_all()

    def watch():
        shares = depth.shares(MAX_DEPTH)
        with connect("default") as line:
            while not over.wait(0.005):
                _, held, amount, slots = line.execute(SNAPSHOT).fetchone()
                sums.append(held + amount + sum(share for slot, share in enumerate(shares) if slot not in slots))

    with ThreadPoolExecutor(9) as pool:
        watcher = pool.submit(watch)
        producers = [pool.submit(produce, number) for number in range(8)]
        try:
            torment(
                workers,
                lambda: all(each.done() for each in producers) and not Job.objects.filter(status__in=LIVE).exists(),
                seconds=0.15,
            )
            for each in producers:
                each.result()
            wait_until(lambda: depth.left(BOUND, using="default") == MAX_DEPTH, seconds=SECONDS)
        finally:
            over.set()
        watcher.result()

    assert max(sums) <= MAX_DEPTH
    assert refused
    assert Job.objects.filter(status="SUCCESSFUL").count() == 320
    assert Attempt.objects.exclude(outcome="succeeded").exists(), "nobody was killed"
    assert Credit.objects.count() <= len(depth.shares(MAX_DEPTH))
    connection.close()
