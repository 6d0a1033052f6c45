"""What is measured: each drill answers with seconds, one for each time that it happened."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator

from benchmarks.budgets import marks, tasks
from benchmarks.budgets.workers import Worker, wait_for, working
from django_jobqueue.compat import task_backends
from django_jobqueue.models import Attempt, Job
from django_jobqueue.models import Worker as WorkerRow

LEASE = 2
"""Seconds; shorter than the default, so that thirty leases may run out while somebody waits."""

GRACE = 1
"""Seconds; for the same reason."""


def child_dies(samples: int) -> list[float]:
    """From a job that kills its runner to the start of the next job in the same slot, and to the closed attempt."""
    figures = []
    with working("--processes", "1") as worker:
        for _ in range(samples):
            victim, follower = int(tasks.die.enqueue().id), int(tasks.note.enqueue().id)
            replaced = wait_for(lambda follower=follower: marks.at("noted", follower), worker)
            closed = wait_for(lambda victim=victim: marks.closed(victim), worker)
            figures.append(max(replaced, closed) - marks.at("dies", victim))
    return figures


def keeper_dies(samples: int) -> list[float]:
    """From the SIGKILL of a keeper to the start of its job in another worker."""
    options = {"lease_seconds": LEASE, "renew_seconds": 0.5}
    figures = []
    marks.empty()
    workers = {worker.process.pid: worker for worker in (Worker("--processes", "1", **options) for _ in range(2))}
    try:
        wait_for(lambda: WorkerRow.objects.count() == 2)
        for _ in range(samples):
            job_id = int(tasks.hold_at_first.enqueue().id)
            wait_for(lambda job_id=job_id: marks.at("held", job_id))
            pid = WorkerRow.objects.get(pk=Job.objects.get(pk=job_id).worker_id).pid
            killed_at = marks.now()
            os.kill(pid, signal.SIGKILL)
            workers.pop(pid).end()
            replacement = Worker("--processes", "1", **options)
            workers[replacement.process.pid] = replacement
            figures.append(wait_for(lambda job_id=job_id: marks.at("held", job_id, 2)) - killed_at)
            wait_for(lambda pid=replacement.process.pid: WorkerRow.objects.filter(pid=pid).exists())
    finally:
        for worker in workers.values():
            worker.end()
    return figures


def hung(samples: int) -> Iterator[tuple[str, list[float]]]:
    """From the claim of a job that hangs to its closed attempt."""
    hanging = {"a loop in Python": tasks.loop, "a call that keeps the GIL": tasks.keep_the_gil}
    hanging["a stopped process"] = tasks.stop_the_process
    for what, task in hanging.items():
        with working("--processes", "1") as worker:
            for _ in range(samples):
                task.enqueue()
            wait_for(lambda: Attempt.objects.count() == samples, worker)
            attempts = list(Attempt.objects.all())
        if others := [f"{each.outcome} {each.message}" for each in attempts if each.outcome != "timed_out"]:
            raise SystemExit(f"{what} did not end at its time limit: {others}")
        yield what, [(attempt.finished_at - attempt.started_at).total_seconds() for attempt in attempts]


def stop(samples: int) -> list[float]:
    """From SIGTERM to the exit, with a job in hand that is longer than the grace."""
    figures = []
    for _ in range(samples):
        with working("--processes", "1", "--grace", str(GRACE)) as worker:
            job_id = take_a_long_job(worker)
            figures.append(worker.seconds_to_exit())
            check_handed_back(job_id)
    return figures


def stop_now(samples: int) -> list[float]:
    """From the second SIGTERM to the exit, of a worker whose grace is long."""
    figures = []
    for _ in range(samples):
        with working("--processes", "1", "--grace", "600") as worker:
            job_id = take_a_long_job(worker)
            worker.process.send_signal(signal.SIGTERM)
            wait_for(lambda worker=worker: "asked to stop" in worker.log, worker)
            figures.append(worker.seconds_to_exit())
            check_handed_back(job_id)
    return figures


def take_a_long_job(worker: Worker) -> int:
    """Have a worker begin a job that takes long."""
    job_id = int(tasks.hold_at_first.enqueue().id)
    wait_for(lambda: marks.at("held", job_id), worker)
    return job_id


def check_handed_back(job_id: int) -> None:
    """Make sure that the job is READY again, uncharged."""
    job = Job.objects.get(pk=job_id)
    if (job.status, job.failure_count, job.interruption_count) != ("READY", 0, 1):
        raise SystemExit(f"a worker that left did not hand its job back: {job.status}")


def unheard(samples: int) -> list[float]:
    """From the enqueue to the start, in an idle worker that no notification reaches."""
    figures = []
    with working("--processes", "1", notify=False) as worker:
        for number in range(-1, samples):
            time.sleep(random.uniform(0.5, 1.7))
            job_id = int(tasks.note.enqueue().id)
            noted = wait_for(lambda job_id=job_id: marks.at("noted", job_id), worker)
            # The first one waits for the runner to be there.
            if number >= 0:
                figures.append(noted - Job.objects.get(pk=job_id).enqueued_at.timestamp())
    return figures


WINDOW_SECONDS = 3.0


def poison(samples: int) -> list[float]:
    """How many times slower short jobs are done while another kills its runner again and again, by two runners."""
    figures = []
    with working("--processes", "2") as worker:
        task_backends["default"].enqueue_many([(tasks.note, (), {})] * 2)
        wait_for(lambda: Attempt.objects.count() == 2, worker)
        for _ in range(samples):
            refill()
            rates = [rate(is_poisoned=False), rate(is_poisoned=True)]
            figures.append(rates[0] / rates[1])
            # The next pair begins with two runners that are well.
            wait_for(lambda: not live("poison"), worker)
            time.sleep(0.5)
    return figures


def rate(*, is_poisoned: bool) -> float:
    """Measure how many short jobs a second are done for a while; a poison job is there at every moment, or never."""
    deaths = 0
    began = marks.now()
    while marks.now() < began + WINDOW_SECONDS:
        if is_poisoned and not live("poison"):
            tasks.poison.using(priority=9).enqueue()
            deaths += 1
        time.sleep(0.05)
    done = marks.ask(
        "SELECT count(*) FROM django_jobqueue_attempt JOIN django_jobqueue_job AS job ON job.id = job_id "
        "WHERE job.task LIKE '%%rest' AND extract(epoch FROM django_jobqueue_attempt.finished_at) BETWEEN %s AND %s",
        began,
        began + WINDOW_SECONDS,
    )
    if not live("rest"):
        raise SystemExit("the short jobs ran out")
    return max(done, 1) / WINDOW_SECONDS


def refill() -> None:
    """Have more short jobs than two runners can do in a pair of windows."""
    missing = 3000 - Job.objects.filter(status="READY").count()
    task_backends["default"].enqueue_many([(tasks.rest, (0.01,), {})] * max(0, missing))


def live(name: str) -> bool:
    """Whether a job of this task is not over."""
    return Job.objects.filter(task__endswith=f".{name}", status__in=["READY", "WAITING", "RUNNING"]).exists()
