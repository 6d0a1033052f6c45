"""The process that forks runners dies, or says nothing any more: who held what, and what becomes of it."""

import os
import signal
from contextlib import suppress

import psutil
import pytest

from tests.scenarios.conftest import LONG_LEASE, SECONDS, runner_of
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


def is_running(pid):
    """Whether a process has not ended."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def ends_of(job):
    """How the attempts of a job ended, and which were charged."""
    return list(job.attempts.order_by("number").values_list("outcome", "charged"))


def test_its_death_is_seen_though_a_child_of_the_imports_lives_on(start_worker, job_is):
    """What the project's imports have forked holds the forkserver's socket open; it is replaced all the same."""
    worker = start_worker("--processes", "1", environment={"STAGE_FORK": "1"})
    result = tasks.be_late_at_first.enqueue(60, False)
    runner = runner_of(result)
    forkserver = psutil.Process(runner).parent()
    (left_behind,) = [child for child in forkserver.children() if child.pid != runner]
    forkserver.kill()
    try:
        job = job_is(result, "SUCCESSFUL")
        assert left_behind.is_running()
    finally:
        left_behind.kill()

    assert ends_of(job) == [("interrupted", False), ("succeeded", False)]
    assert "the process that starts runners died" in worker.log


def program():
    """The program that a job has started."""
    return wait_until(lambda: Trace.objects.filter(what="a program").first(), seconds=SECONDS).pid


def test_the_programs_of_its_runners_die_with_it(start_worker, job_is):
    """Nobody is left who reaps the runners: the keeper kills what their jobs have started, before they are retried."""
    start_worker("--processes", "1")
    result = tasks.start_a_program_at_first.enqueue(60)
    runner = runner_of(result)
    started = program()
    psutil.Process(runner).parent().kill()
    job = job_is(result, "SUCCESSFUL")

    assert ends_of(job) == [("interrupted", False), ("succeeded", False)]
    wait_until(lambda: not is_running(started), seconds=SECONDS)


def test_the_programs_of_a_runner_die_though_it_is_stopped(start_worker, job_is):
    """A runner dies while the forkserver is stopped: what its job has started dies before the job is retried."""
    start_worker("--processes", "1")
    result = tasks.start_a_program_at_first.enqueue(60)
    runner = runner_of(result)
    started = program()
    psutil.Process(runner).parent().suspend()
    os.kill(runner, signal.SIGKILL)
    job_is(result, "SUCCESSFUL")

    wait_until(lambda: not is_running(started), seconds=SECONDS)


def test_a_stopped_forkserver_costs_a_neighbour_no_attempt_at_once(start_worker, job_is):
    """A runner dies beside a long job: that goes on while the forkserver may come back, and it does."""
    worker = start_worker("--processes", "2", options=LONG_LEASE)
    sleepers = [tasks.sleep.enqueue(6), tasks.be_late_at_first.enqueue(60, False)]
    _, victim = map(runner_of, sleepers)
    forkserver = psutil.Process(victim).parent()
    forkserver.suspend()
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: "nobody saw how" in worker.log, seconds=SECONDS)
    forkserver.resume()

    assert ends_of(job_is(sleepers[0], "SUCCESSFUL")) == [("succeeded", False)]
    assert ends_of(job_is(sleepers[1], "SUCCESSFUL")) == [("lost", True), ("succeeded", False)]
    assert forkserver.is_running()


def test_a_forkserver_that_stays_stopped_is_replaced_and_nobody_is_counted(start_worker, job_is):
    """It starts nothing: its runners are started anew, and the job beside the one that died is no nearer to a bound."""
    start_worker("--processes", "2", options=LONG_LEASE)
    neighbour, victim = (tasks.be_late_at_first.enqueue(60, False) for _ in range(2))
    pids = [runner_of(neighbour), runner_of(victim)]
    forkserver = psutil.Process(pids[1]).parent()
    forkserver.suspend()
    os.kill(pids[1], signal.SIGKILL)
    job = job_is(neighbour, "SUCCESSFUL")

    assert ends_of(job) == [("interrupted", False), ("succeeded", False)]
    assert job.interruption_count == 0
    assert ends_of(job_is(victim, "SUCCESSFUL")) == [("lost", True), ("succeeded", False)]
    assert not forkserver.is_running()


@pytest.mark.parametrize("dies", [False, True], ids=["stopped", "killed"])
def test_a_worker_that_cannot_tell_receivers_any_more_leaves_before_its_grace_is_over(start_worker, job_is, dies):
    """Receivers are to be told in a process that nobody starts: a worker that is asked to stop does not wait for it."""
    worker = start_worker("--processes", "1", "--grace", "600", receivers=True)
    result = tasks.sleep.enqueue(1)
    forkserver = psutil.Process(runner_of(result)).parent()
    forkserver.suspend()
    job_is(result, "SUCCESSFUL")
    worker.send(signal.SIGTERM)
    wait_until(lambda: "is asked to stop" in worker.log, seconds=SECONDS)
    if dies:
        forkserver.kill()

    assert worker.wait() == 0
    assert "receivers of task_finished are not told of 1 ends of jobs" in worker.log


def test_receivers_are_told_though_their_process_was_not_started_at_first(start_worker, job_is):
    """A forkserver that does not answer is replaced, and who was to be told of an end is."""
    worker = start_worker("--processes", "1", receivers=True)
    result = tasks.sleep.enqueue(1)
    psutil.Process(runner_of(result)).parent().suspend()
    job_is(result, "SUCCESSFUL")

    wait_until(lambda: Trace.objects.filter(what__startswith="finished").exists(), seconds=SECONDS)
    assert "has not answered" in worker.log
