"""The process that forks runners dies, or says nothing any more: who held what, and what becomes of it."""

import os
import signal
from contextlib import suppress

import psutil
import pytest

from tests.scenarios.conftest import SECONDS, runner_of
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
