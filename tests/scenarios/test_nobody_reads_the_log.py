"""A worker whose log nobody reads: a pager, Ctrl-S, a log driver that is stuck."""

import fcntl
import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from django_jobqueue.models import Attempt
from tests.scenarios.conftest import ROOT, SECONDS, project
from tests.stage import tasks
from tests.stage.models import Trace
from tests.waiting import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def full_pipe():
    """A pipe that is full, whose reader does not read."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(write_end, False)
    with suppress(BlockingIOError):
        while True:
            os.write(write_end, b"x" * 64)
    os.set_blocking(write_end, True)
    yield write_end
    os.close(read_end)
    os.close(write_end)


def start(database_url, output, *command):
    """Start a program of the stage's project that writes where nobody reads."""
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=project(database_url),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


def test_a_worker_whose_log_nobody_reads_keeps_its_leases_and_leaves(full_pipe, database_url, job_is):
    """It renews, settles and claims as if somebody listened, and leaves with 0 when it is told to stop."""
    # Its words to the terminal would be stuck first, and at those the interpreter can end: at a log it cannot.
    quiet = ("--verbosity", "0")
    worker = start(database_url, full_pipe, "-m", "django", "runworker", "--processes", "1", "--grace", "5", *quiet)
    try:
        job_is(tasks.fail.enqueue(), "FAILED")
        long = tasks.sleep.enqueue(5)
        job_is(long, "SUCCESSFUL")
        running = tasks.sleep.enqueue(60)
        wait_until(lambda: Trace.objects.filter(job_id=int(running.id)).exists(), seconds=SECONDS)
        worker.send_signal(signal.SIGTERM)

        assert worker.wait(SECONDS) == 0
        assert Attempt.objects.get(job_id=int(long.id)).number == 1
        job_is(running, "READY")
    finally:
        worker.kill()
        worker.wait()


CALL = """
import os

import django

django.setup()
from django.core.management import call_command

call_command("runworker", "--processes", "1", "--until-idle")
os._exit(7)
"""


def test_a_program_that_calls_the_worker_outlives_it(full_pipe, database_url):
    """Where the worker was called by a program that has more to do it returns, though its log is stuck."""
    result = tasks.fail.enqueue()
    program = start(database_url, full_pipe, "-c", CALL)
    try:
        assert program.wait(SECONDS) == 7
        assert Attempt.objects.get(job_id=int(result.id)).outcome == "failed"
    finally:
        program.kill()
        program.wait()
