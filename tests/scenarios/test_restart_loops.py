"""What dies again and again: a worker makes progress between its deaths, and a runner is not forked in a tight loop."""

import time
from contextlib import suppress

import psutil
import pytest

from django_jobqueue.models import Attempt, DeadLetter, Job
from tests.scenarios.conftest import KILL, SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_worker_that_is_killed_and_started_again_and_again_works_its_backlog_off(start_worker):
    """kill -9 of the whole worker whenever it has done a few more jobs: all of them succeed in the end."""
    tasks.nap.get_backend().enqueue_many([(tasks.nap, (0.02,), {})] * 60)

    def done():
        return Job.objects.filter(status="SUCCESSFUL").count()

    for _ in range(3):
        before = done()
        worker = start_worker("--processes", "2")
        wait_until(lambda before=before: done() >= before + 5, seconds=SECONDS)
        worker.send(KILL)
        worker.wait()
    start_worker("--processes", "2")
    wait_until(lambda: done() == 60, seconds=SECONDS)

    assert not DeadLetter.objects.exists()
    assert not Attempt.objects.filter(charged=True).exclude(outcome="lost").exists()


def test_jobs_that_all_kill_their_process_do_not_keep_the_others_from_running(start_worker, job_is):
    """Six poison messages ahead of ten good ones, one runner for all: each poison dies once, each good one succeeds."""
    poison = [tasks.die.enqueue("SIGKILL") for _ in range(6)]
    good = [tasks.start.enqueue() for _ in range(10)]
    start_worker("--processes", "1")
    for result in good:
        assert job_is(result, "SUCCESSFUL").failure_count == 0
    for result in poison:
        job_is(result, "FAILED")

    assert Trace.objects.count() == 16


def test_a_runner_that_dies_again_and_again_is_replaced_at_leisure(start_worker, job_is):
    """Killed whenever it appears for three seconds, a runner is forked a few times; then its slot works again."""
    worker = start_worker("--processes", "1")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    killed = set()
    until = time.monotonic() + 3

    def kill_what_appears():
        with suppress(psutil.NoSuchProcess, IndexError):
            for runner in psutil.Process(worker.pid).children()[0].children():
                if runner.pid not in killed:
                    runner.kill()
                    killed.add(runner.pid)
        return time.monotonic() > until

    wait_until(kill_what_appears, seconds=SECONDS)

    assert 2 <= len(killed) <= 12
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    assert "died again; it is started again in" in worker.log
