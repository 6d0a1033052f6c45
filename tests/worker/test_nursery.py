"""Where runners come from, when the system has no room for a process."""

import errno
import json
import os
import socket
from contextlib import suppress
from itertools import count
from unittest.mock import Mock

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.policy.outcomes import Interrupted
from django_jobqueue.worker import clock, forkserver
from django_jobqueue.worker.child import Phase
from django_jobqueue.worker.crew import Crew
from django_jobqueue.worker.launcher import Forkserver
from django_jobqueue.worker.nursery import SILENT_SECONDS, SLOW_SECONDS
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.service import SERVICE
from django_jobqueue.worker.wakeup import Wakeup
from tests.waiting import wait_until
from tests.worker.flights import flight, runner

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

    assert [record.message.split(":")[0] for record in caplog.records if "can be started" in record.message] == [
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


def test_who_tells_receivers_is_tried_again_when_it_could_not_be_started(crew, monkeypatch, caplog):
    """What it is to tell waits for it: once there is room, the log says so of it as of any other."""
    with monkeypatch.context() as patch:
        patch.setattr("socket.socketpair", refuse)
        crew.service.tell([1])
    crew.service.wait(0.0)
    crew.check(clock.now(), lease_margin=6.0)
    wait_until(lambda: crew.take_events() or crew.fleet.runners[SERVICE].pid)

    assert "processes can be started again" in [record.message for record in caplog.records]


class FakeForkserver:
    """The other end of a forkserver's socket: nobody is started, and the socket takes few requests at a time."""

    def __init__(self, monkeypatch, plan):
        monkeypatch.setattr("subprocess.Popen", self._keep_the_socket)
        self.launcher = Forkserver(plan)
        self.launcher._control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        self.sock.setblocking(False)
        self.pids = count(100_000)

    def _keep_the_socket(self, _command, *, pass_fds, stdin):
        self.sock = socket.socket(fileno=os.dup(pass_fds[0]))
        return Mock(pid=4711, **{"poll.return_value": None})

    def say(self, **event):
        """Say something to the keeper."""
        self.sock.send(json.dumps(event).encode())

    def start_all(self):
        """Take every request that is there, and answer as if each runner had a process; say which they were."""
        numbers = []
        with suppress(BlockingIOError):
            while True:
                data, fds, *_ = socket.recv_fds(self.sock, 4096, 1)
                os.close(fds[0])
                numbers.append(json.loads(data)["number"])
        for number in numbers:
            self.say(event="started", number=number, pid=next(self.pids))
        return numbers


@pytest.fixture
def fake(monkeypatch):
    """A forkserver that is none."""
    fake = FakeForkserver(monkeypatch, WorkerPlan("default", Options()).runner)
    yield fake
    fake.launcher._control.close()
    fake.sock.close()


def test_more_runners_than_the_socket_takes_requests_are_all_started(fake):
    """A large worker asks for its runners bit by bit, as the forkserver gets round to it."""
    pairs = [socket.socketpair() for _ in range(100)]
    for number, (_, theirs) in enumerate(pairs):
        fake.launcher.launch(number, theirs)
    fake.say(event="ready")
    fake.launcher.events()
    asked = fake.start_all()
    assert len(asked) < 100

    def all_are_started():
        fake.launcher.events()
        asked.extend(fake.start_all())
        return len(asked) == 100

    wait_until(all_are_started, seconds=5)

    assert asked == list(range(100))
    for ours, _ in pairs:
        ours.close()


def test_a_launcher_whose_code_imports_no_longer_is_not_started_again(crew, fake):
    """It says why and ends: what waits for it is accounted for, and nobody listens to its socket any more."""
    crew._nursery._forget()
    crew._nursery._launcher = fake.launcher
    crew.start()
    crew.check(clock.now() + 60, lease_margin=6.0)
    fake.say(event="broken", error="ImportError")
    fake.sock.shutdown(socket.SHUT_RDWR)
    crew.take_events()
    crew.check(clock.now() + 60, lease_margin=6.0)

    assert crew.broken == "ImportError"
    assert not crew.fleet.runners
    assert not crew._nursery.is_open


@pytest.fixture
def asked(crew, fake):
    """A crew whose forkserver was ready, and has been asked for runner 0 since."""
    crew._nursery._forget()
    crew._nursery._launcher = fake.launcher
    fake.say(event="ready")
    crew.take_events()
    crew._launch(0)
    return crew


def test_a_launcher_that_answers_nothing_is_replaced_and_no_job_is_counted(asked, fake, caplog):
    """It was asked for a runner and is silent: it is killed, once, and a job in hand comes no nearer to its bound."""
    busy, _ = runner(3)
    busy.hand([held := flight()])
    asked.fleet.runners[3] = busy
    asked.check(clock.now() + SILENT_SECONDS - 1, lease_margin=6.0)
    assert not fake.launcher._process.kill.called
    held.lease_until += 3600
    for seconds in (1, 2):
        asked.check(clock.now() + SILENT_SECONDS + seconds, lease_margin=6.0)
    fake.launcher._process.kill.assert_called_once_with()
    fake.launcher._process.poll.return_value = -9
    asked.take_events()

    (report,) = asked.reports
    assert (report.flight, type(report.outcome), report.outcome.counted) == (held, Interrupted, False)
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


@pytest.mark.parametrize("word", ["started", "not_started", "exited"])
def test_a_launcher_that_says_something_is_not_silent(asked, fake, word):
    """One that has much to do answers bit by bit: each word of it is a sign of life."""
    asked._launch(1)
    fake.launcher._silent_since -= SILENT_SECONDS
    fake.say(event=word, number=0, pid=99_999_999, error="no room", code=0)
    asked.take_events()
    asked.check(clock.now() + 1, lease_margin=6.0)

    assert not fake.launcher._process.kill.called


def test_a_launcher_of_which_nothing_is_wanted_may_be_silent(asked, fake):
    """It has answered all that it was asked, and has nothing to say for an hour."""
    fake.say(event="started", number=0, pid=99_999_999)
    asked.take_events()
    asked.check(clock.now() + 3600, lease_margin=6.0)

    assert not fake.launcher._process.kill.called


def test_a_launcher_that_imports_may_be_silent(crew, fake):
    """What waits for its imports is no sign of anything; how long those may take nobody knows."""
    crew._nursery._forget()
    crew._nursery._launcher = fake.launcher
    crew._launch(0)
    crew.check(clock.now() + 3600, lease_margin=6.0)

    assert not fake.launcher._process.kill.called


def test_a_launcher_that_hangs_in_its_imports_is_named_once(crew, fake, caplog):
    """Nothing says so but the worker's silence: after half a minute one warning names the process."""
    crew._nursery._forget()
    crew._nursery._launcher = fake.launcher
    crew.check(clock.now() + SLOW_SECONDS - 5, lease_margin=6.0)
    assert not caplog.records
    for seconds in (1, 2):
        crew.check(clock.now() + SLOW_SECONDS + seconds, lease_margin=6.0)

    (warning,) = caplog.records
    assert "4711" in warning.getMessage()
    fake.say(event="ready")
    crew.take_events()
    assert fake.launcher.importing is None


def test_a_runner_that_hangs_in_its_imports_is_named_once(crew, caplog):
    """A spawned runner imports by itself: one that is not ready after half a minute is named."""
    crew._nursery._use_spawn = True
    crew._nursery._forget()
    crew._nursery._open()
    one, _ = runner(3, phase=Phase.STARTING)
    crew.fleet.runners[3] = one
    crew._on_start(3, 99_999_999)
    for seconds in (1, 2):
        crew.check(clock.now() + SLOW_SECONDS + seconds, lease_margin=6.0)

    (warning,) = caplog.records
    assert "99999999" in warning.getMessage()
