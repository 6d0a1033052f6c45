"""Where runners come from, when the system has no room for a process."""

import errno
import json
import os
import socket

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.worker import clock, forkserver
from django_jobqueue.worker.crew import Crew
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.wakeup import Wakeup
from tests.waiting import wait_until

NO_PROCESS = OSError(errno.EAGAIN, "Resource temporarily unavailable")


def refuse(*_args, **_options):
    """Have no room."""
    raise NO_PROCESS


@pytest.fixture
def crew():
    """A crew that was not started."""
    wakeup = Wakeup()
    crew = Crew(WorkerPlan("default", Options()), wakeup)
    yield crew
    crew.close()
    wakeup.close()


def test_a_forkserver_that_cannot_fork_says_so_and_lives(monkeypatch):
    """A fork that fails for want of memory or processes is told to the keeper: every runner is a child of this one."""
    keeper, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(os, "fork", refuse)
    with keeper, control:
        forkserver._fork(control, 3, os.open(os.devnull, os.O_RDONLY), (0, 0), None, None)

        told = json.loads(keeper.recv(4096))
    assert told == {"event": "not_started", "number": 3, "error": str(NO_PROCESS)}


def test_a_keeper_without_descriptors_tries_again(crew, monkeypatch, caplog):
    """No socket can be made for a runner: it is started when there is one, and the log has a line for either change."""
    with monkeypatch.context() as patch:
        patch.setattr("socket.socketpair", refuse)
        crew.start()
        for _ in range(3):
            crew.check(clock.now() + 60, lease_margin=6.0)
        assert not crew.fleet.runners
        assert crew.is_restarting

    crew.check(clock.now() + 60, lease_margin=6.0)
    wait_until(lambda: crew.take_events() or crew.fleet.runners[0].pid)

    assert [record.message.split(":")[0] for record in caplog.records if record.name == "django_jobqueue.worker"] == [
        "no process can be started",
        "processes can be started again",
    ]


def test_a_keeper_that_cannot_start_a_launcher_tries_again(crew, monkeypatch):
    """The process that forks runners died, and another cannot be started now: it is tried again, and then it works."""
    with monkeypatch.context() as patch:
        patch.setattr("subprocess.Popen", refuse)
        crew._nursery._lose(0.0)
        crew.start()
        for _ in range(3):
            crew.check(clock.now() + 60, lease_margin=6.0)
        assert not crew._nursery.is_open

    crew.check(clock.now() + 60, lease_margin=6.0)

    wait_until(lambda: crew.take_events() or crew.fleet.runners[0].pid)
