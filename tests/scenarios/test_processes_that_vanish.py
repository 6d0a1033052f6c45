"""Processes of a worker that are killed from outside come back, and what they held is accounted for."""

import os
import signal

import psutil
import pytest

from django_jobqueue.models import Attempt, Job
from tests.scenarios.conftest import LONG_LEASE, SECONDS, runner_of
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def test_a_runner_that_is_killed_is_replaced(start_worker, job_is):
    """kill -9 of a runner five times: its slot takes jobs again each time; the job it held is lost, and retried."""
    worker = start_worker("--processes", "1")
    for _ in range(5):
        result = tasks.be_late_at_first.enqueue(60, False)
        os.kill(runner_of(result), signal.SIGKILL)
        job = job_is(result, "SUCCESSFUL")
        assert list(job.attempts.order_by("number").values_list("outcome", flat=True)) == ["lost", "succeeded"]

    assert len(worker.family()) == 3


def test_a_worker_survives_the_death_of_its_forkserver(start_worker, job_is):
    """kill -9 of the process that forks runners takes them down; all are started again, and the job is not charged."""
    worker = start_worker("--processes", "2")
    result = tasks.be_late_at_first.enqueue(60, False)
    runner = runner_of(result)
    psutil.Process(runner).parent().kill()
    job = job_is(result, "SUCCESSFUL")

    assert list(job.attempts.order_by("number").values_list("outcome", "charged")) == [
        ("interrupted", False),
        ("succeeded", False),
    ]
    wait_until(lambda: len(worker.family()) == 4, seconds=SECONDS)
    wait_until(lambda: not psutil.pid_exists(runner), seconds=SECONDS)


def test_where_a_thread_is_alive_runners_are_spawned(start_worker, job_is):
    """Where imports leave a thread behind one warning names it, and runners come as fresh interpreters."""
    worker = start_worker("--processes", "3", thread=True)
    sleepers = [tasks.sleep.enqueue(1) for _ in range(3)]
    for sleeper in sleepers:
        job_is(sleeper, "SUCCESSFUL")
    assert Trace.objects.filter(what="end").values("pid").distinct().count() == 3
    poison = job_is(tasks.kill_its_process.enqueue(), "FAILED")
    job_is(tasks.start.enqueue(), "SUCCESSFUL")

    assert "threads are alive after the imports (left-behind)" in worker.log
    assert poison.dead_letter.reason == "crash_loop"
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0
    assert not Job.objects.filter(status="RUNNING").exists()


def test_a_forkserver_that_dies_before_its_runners_are_ready_is_replaced(start_worker, job_is):
    """A worker whose forkserver is killed while it imports starts another, and hears its runners."""
    worker = start_worker("--processes", "2")
    forkserver = wait_until(lambda: psutil.Process(worker.pid).children())[0]
    forkserver.kill()

    for result in [tasks.start.enqueue() for _ in range(4)]:
        job_is(result, "SUCCESSFUL")


@pytest.mark.parametrize("who", ["keeper", "forkserver"])
def test_a_process_that_cannot_be_started_costs_no_job(start_worker, job_is, who):
    """Out of descriptors, keeper or forkserver start no runner: the job in another one goes on, and they try again."""
    worker = start_worker("--processes", "2", options=LONG_LEASE)
    sleepers = [tasks.sleep.enqueue(seconds) for seconds in (3, 60)]
    survivor, victim = map(runner_of, sleepers)
    parent = psutil.Process(victim).parent()
    short = parent if who == "forkserver" else parent.parent()
    limits = short.rlimit(psutil.RLIMIT_NOFILE)
    short.rlimit(psutil.RLIMIT_NOFILE, (4, limits[1]))
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: "no process can be started" in worker.log, seconds=SECONDS)
    short.rlimit(psutil.RLIMIT_NOFILE, limits)
    wait_until(lambda: "processes can be started again" in worker.log, seconds=SECONDS)
    job_is(sleepers[0], "SUCCESSFUL")

    assert parent.is_running()
    assert Attempt.objects.filter(job_id=int(sleepers[0].id)).count() == 1
    assert worker.log.count("no process can be started") == 1
    assert runner_of(sleepers[0]) == survivor
    wait_until(lambda: len(worker.family()) == 4, seconds=SECONDS)


def test_a_death_is_seen_though_the_forkserver_is_stopped(start_worker, job_is):
    """A stopped forkserver tells of no death and starts nothing: it is replaced, and the job is retried."""
    worker = start_worker("--processes", "1")
    result = tasks.be_late_at_first.enqueue(60, False)
    runner = runner_of(result)
    forkserver = psutil.Process(runner).parent()
    forkserver.suspend()
    os.kill(runner, signal.SIGKILL)
    job = job_is(result, "SUCCESSFUL")

    assert list(job.attempts.order_by("number").values_list("outcome", "message")) == [
        ("lost", "its process died: nobody saw how"),
        ("succeeded", ""),
    ]
    assert not forkserver.is_running()
    assert worker.popen.poll() is None


def test_a_worker_whose_forkserver_is_stopped_hands_back_what_it_holds(start_worker, job_is):
    """At the end of the grace the job is READY, uncharged, though nobody tells that its process is dead."""
    worker = start_worker("--processes", "1", "--grace", "0")
    result = tasks.be_late_at_first.enqueue(60, False)
    psutil.Process(runner_of(result)).parent().suspend()
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0

    job = Job.objects.get(pk=int(result.id))
    assert (job.status, job.failure_count) == ("READY", 0)


@pytest.mark.parametrize("thread", [False, True], ids=["forked", "spawned"])
def test_a_program_that_the_project_starts_in_its_imports_may_end(start_worker, job_is, thread):
    """A child that is no runner is nobody's loss: the worker goes on, and so does the job in hand."""
    worker = start_worker("--processes", "1", thread=thread, environment={"STAGE_PROGRAM": "1"})
    result = tasks.sleep.enqueue(4)
    runner = runner_of(result)
    wait_until(lambda: not _programs(worker), seconds=SECONDS)

    assert job_is(result, "SUCCESSFUL").attempt_count == 1
    assert runner_of(tasks.start.enqueue()) == runner
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0


def _programs(worker):
    return [each for each in worker.family() if each.name() == "sleep"]
