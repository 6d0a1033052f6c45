"""Promises of time: each is kept once, and printed. On a busy machine a multiple of it passes.

`python -m benchmarks.budgets` measures them again and again.
"""

import signal
import time

import pytest

from django_jobqueue.compat import task_backends
from django_jobqueue.models import Attempt, Job, Worker
from tests.scenarios.conftest import SECONDS
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]

LIMIT = 1.0
"""The timeout of what hangs."""


@pytest.mark.parametrize("task", [tasks.loop, tasks.hold_the_gil, tasks.stop_its_process], ids=lambda task: task.name)
def test_a_hung_job_is_killed_two_seconds_after_its_limit(start_worker, job_is, within, task):
    """A loop in Python, a call of C that keeps the GIL, and a process that is stopped end; their slot goes on."""
    start_worker("--processes", "1")
    (attempt,) = job_is(task.enqueue(), "FAILED").attempts.all()
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    assert attempt.outcome == "timed_out"
    took = (attempt.finished_at - attempt.started_at).total_seconds()
    assert took >= LIMIT
    within(f"killed at the limit: {task.name}", took, LIMIT + 2)


def test_a_worker_leaves_two_seconds_after_its_grace(start_worker, within):
    """With a job in hand that does not end, which is handed back uncharged."""
    worker = start_worker("--processes", "1", "--grace", "1", options={"lease_seconds": 600})
    result = tasks.sleep.enqueue(600)
    wait_until(Trace.objects.exists, seconds=SECONDS)
    took = seconds_to_exit(worker)

    assert is_handed_back(result)
    within("exit after SIGTERM, with a grace of 1 s", took, 1 + 2)


def test_a_second_signal_takes_two_seconds(start_worker, within):
    """Whatever the grace; the job is handed back uncharged."""
    worker = start_worker("--processes", "1", "--grace", "600", options={"lease_seconds": 600})
    result = tasks.sleep.enqueue(600)
    wait_until(Trace.objects.exists, seconds=SECONDS)
    worker.send(signal.SIGTERM)
    wait_until(lambda: "asked to stop" in worker.log, seconds=SECONDS)
    took = seconds_to_exit(worker)

    assert is_handed_back(result)
    within("exit after a second SIGTERM", took, 2)


def test_a_lost_wake_up_costs_one_poll(start_worker, job_is, within):
    """An idle worker that hears of nothing finds a job when it looks, at the defaults within 1.2 s."""
    # The chores look for jobs, too: the first are done, and the next are far away.
    start_worker("--processes", "1", options={"notify": False, "poll_seconds": 1.1, "rescue_seconds": 60})
    came = wait_until(Worker.objects.first, seconds=SECONDS).last_seen_at
    job_is(tasks.start.enqueue(), "SUCCESSFUL")
    wait_until(Worker.objects.filter(last_seen_at__gt=came).exists, seconds=SECONDS)
    job = job_is(tasks.start.enqueue(), "SUCCESSFUL")

    within("start after a lost wake-up", (job.started_at - job.enqueued_at).total_seconds(), 1.2)


SAMPLE = 400
"""So many short jobs show the pace: two to three seconds of them."""


def test_a_poison_job_leaves_the_others_half_of_their_pace(start_worker):
    """While a job kills its runner again and again, the other of two runners goes on.

    The pace is compared with that of the same worker before, so a third of it is asked for: half, and some slack.
    """
    start_worker("--processes", "2")
    task_backends["default"].enqueue_many([(tasks.nap, (0.01,), {})] * 6000)
    wait_until(lambda: Attempt.objects.count() > 50, seconds=SECONDS)
    before = pace()
    beside = pace(meanwhile=poison)

    assert Job.objects.filter(task=NAP, status="READY").exists()
    assert Attempt.objects.filter(outcome="lost").exists()
    assert beside >= before / 3, f"{beside:.0f} jobs a second of {before:.0f}"


NAP, POISON = "tests.stage.tasks.nap", "tests.stage.tasks.kill_its_process"


def pace(meanwhile=lambda: None):
    """Measure how many short jobs end in a second, while something is done again and again."""
    ended = Job.objects.filter(task=NAP, status="SUCCESSFUL")
    began, count = time.monotonic(), ended.count()
    done = wait_until(lambda: meanwhile() or max(0, ended.count() - count - SAMPLE), seconds=SECONDS) + SAMPLE
    return done / (time.monotonic() - began)


def poison():
    """See that there is one poison job, before all others."""
    if not Job.objects.filter(task=POISON, status__in=["WAITING", "READY", "RUNNING"]).exists():
        tasks.kill_its_process.using(priority=9).enqueue()


def seconds_to_exit(worker):
    """Send SIGTERM, and measure."""
    began = time.monotonic()
    worker.send(signal.SIGTERM)
    assert worker.wait(seconds=SECONDS) == 0
    return time.monotonic() - began


def is_handed_back(result):
    job = Job.objects.get(pk=int(result.id))
    return (job.status, job.failure_count, job.interruption_count) == ("READY", 0, 1)
