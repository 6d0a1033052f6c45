"""What the benchmark runs, each task named by its fate."""

import ctypes
import os
import signal
import time

from benchmarks.budgets import marks
from django_jobqueue import task
from django_jobqueue.backoff import constant

TIMEOUT = 1.0
"""The time limit of what hangs, in seconds."""


@task(takes_context=True)
def note(context):
    """Leave a mark."""
    marks.leave("noted", context)


@task(takes_context=True, max_attempts=1)
def die(context):
    """Leave a mark, then kill the process."""
    marks.leave("dies", context)
    os.kill(os.getpid(), signal.SIGKILL)


@task(takes_context=True)
def hold_at_first(context):
    """Leave a mark; the first attempt then sleeps."""
    marks.leave("held", context)
    if context.attempt == 1:
        time.sleep(600)


@task(timeout=TIMEOUT, max_attempts=1)
def loop():
    """Loop in Python without end."""
    while True:
        pass


@task(timeout=TIMEOUT, max_attempts=1)
def keep_the_gil():
    """Sleep for ten minutes in one call of C that never gives up the GIL."""
    ctypes.PyDLL(None).usleep(600_000_000)


@task(timeout=TIMEOUT, max_attempts=1)
def stop_the_process():
    """Stop the process that runs it, threads and all."""
    os.kill(os.getpid(), signal.SIGSTOP)
    # The stop may reach this thread after the next few lines of it.
    time.sleep(600)


@task
def rest(seconds):
    """Take a short time."""
    time.sleep(seconds)


@task(backoff=constant(0.2))
def poison():
    """Kill the process, every time."""
    os.kill(os.getpid(), signal.SIGKILL)
