"""How runners' processes are started and buried, either way."""

import _thread
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import psutil
import pytest

from django_jobqueue.conf import Options
from django_jobqueue.worker import launcher
from django_jobqueue.worker.forkserver import living_threads
from django_jobqueue.worker.launcher import Exited, Spawner, Started
from django_jobqueue.worker.plan import WorkerPlan
from tests.waiting import wait_until

FLAGS = ["-O", "-W", "error::UserWarning", "-X", "dev"]

TELL = "import sys; print(sys.flags.optimize, sys.warnoptions, sys.flags.dev_mode)"


def test_a_child_has_the_flags_of_its_parent():
    """Assertions, warnings and development mode are in a runner as whoever started the worker has asked for."""
    start = f"import subprocess as s; from {launcher.__name__} import python; s.run(python('builtins.exec', {TELL!r}))"
    told, expected = (
        subprocess.run([sys.executable, *FLAGS, "-c", code], capture_output=True, text=True, check=True).stdout
        for code in (start, TELL)
    )

    assert told == expected
    assert told.startswith("1 ")


IMPORT = "import os, time; os.write({fd}, str(os.getpid()).encode()); time.sleep(600)"


def test_a_child_that_still_imports_dies_with_its_parent():
    """A project may take its time to import: a child does not outlive its killed keeper until it has come through."""
    ours, theirs = os.pipe()
    command = f"{launcher.__name__}.python('builtins.exec', {IMPORT.format(fd=theirs)!r})"
    start = f"import subprocess as s, {launcher.__name__}; s.run({command}, pass_fds=[{theirs}])"
    with subprocess.Popen([sys.executable, "-c", start], pass_fds=[theirs]) as parent:
        os.close(theirs)
        child = psutil.Process(int(os.read(ours, 20)))
        parent.kill()
    os.close(ours)
    try:
        wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, seconds=10)
    finally:
        with suppress(psutil.NoSuchProcess):
            child.kill()


@pytest.fixture
def spawner():
    """A spawner of one child that sleeps."""
    spawner = Spawner(WorkerPlan("default", Options()).runner)
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    spawner._processes[3] = child
    spawner._events.append(Started(3, child.pid))
    yield spawner
    spawner.close()
    child.kill()
    child.wait()


def test_a_spawned_child_is_not_reaped_before_its_group_is_killed(spawner, monkeypatch):
    """It ends in the moment after it was looked at: it is buried, and its group killed, at the next look."""
    child = spawner._processes[3]
    killed = []
    monkeypatch.setattr(launcher, "kill_group", killed.append)
    with monkeypatch.context() as patch:
        patch.setattr("os.waitid", lambda *_: None)
        os.kill(child.pid, signal.SIGKILL)
        wait_until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
        assert spawner.events() == [Started(3, child.pid)]

    assert spawner.events() == [Exited(3, -signal.SIGKILL)]
    assert killed == [child.pid]


def start_with_threading(run, _arguments):
    """Start a thread in the usual way."""
    threading.Thread(target=run).start()


@pytest.mark.parametrize("start", [start_with_threading, _thread.start_new_thread])
def test_every_thread_of_python_counts(start):
    """Forking is unsafe where a thread is alive, also one that was started below `threading`."""
    end = threading.Event()
    before = living_threads()
    start(end.wait, ())
    after = wait_until(lambda: living_threads() != before and living_threads())
    end.set()

    assert len(after) == len(before) + 1
    wait_until(lambda: living_threads() == before)
