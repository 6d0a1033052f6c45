"""When a runner has done enough."""

import os

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.worker import clock, recycling
from django_jobqueue.worker.child import Phase
from django_jobqueue.worker.crew import Crew
from django_jobqueue.worker.frames import pack
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.service import SERVICE
from django_jobqueue.worker.wakeup import Wakeup
from tests.worker.flights import runner

LIMIT = 300_000_000


class Stage:
    """A crew under a limit, whose runners hold as much memory as the test says."""

    def __init__(self, monkeypatch):
        self.resident, self.now = {}, clock.now()
        monkeypatch.setattr(recycling, "resident_bytes", lambda pid: self.resident[pid])
        monkeypatch.setattr(os, "killpg", lambda _pid, _number: None)
        self.wakeup = Wakeup()
        self.crew = Crew(WorkerPlan("default", Options(max_process_bytes=LIMIT)), self.wakeup)
        self.pids = iter(range(100_000, 200_000))

    def add(self, number=0, *, holds):
        """Have a fresh runner get ready, which holds so much."""
        one, peer = runner(number, phase=Phase.STARTING)
        self.crew.fleet.runners[number] = one
        pid = next(self.pids)
        self.resident[pid] = holds
        self.crew._on_start(number, pid)
        peer.sock.send(pack(b'["ready"]'))
        self.crew._on_ready(one, 0)
        return one, peer

    def look(self):
        """Have memory looked at."""
        self.now += 2 * recycling.LOOK_SECONDS
        self.crew.check(self.now, lease_margin=6.0)


@pytest.fixture
def stage(monkeypatch):
    """A crew under a limit."""
    stage = Stage(monkeypatch)
    yield stage
    stage.wakeup.close()


def test_a_runner_that_has_grown_is_replaced(stage):
    """Above the limit it is ended when it is empty."""
    one, _ = stage.add(holds=LIMIT - 1)
    stage.look()
    assert one.phase is Phase.READY

    stage.resident[one.pid] = LIMIT + 1
    stage.look()

    assert one.phase is Phase.DYING


def test_a_limit_below_what_a_fresh_runner_holds_is_not_applied(stage, caplog):
    """Such a limit would replace every runner for ever: one warning says what to set, and runners stay."""
    runners = [stage.add(number, holds=LIMIT + 5)[0] for number in range(3)]
    stage.look()

    assert [one.phase for one in runners] == [Phase.READY] * 3
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert all(word in warning for word in (str(LIMIT), str(LIMIT + 5), "max_process_bytes"))


def test_a_runner_in_which_a_receiver_is_at_work_is_not_replaced(stage):
    """The runner of receivers has no jobs, and yet is not empty until it has told what it was handed; then it is."""
    one, peer = stage.add(SERVICE, holds=1)
    stage.crew.service.tell([1, 2])
    stage.resident[one.pid] = LIMIT + 1
    stage.look()
    assert one.phase is Phase.READY
    stage.crew.service.tell([3])
    assert len(peer.heard()) == 1

    peer.sock.send(pack(b'["told",2]'))
    stage.crew._on_ready(one, 0)
    stage.look()

    assert one.phase is Phase.DYING
    assert stage.crew.service.untold == 1


def test_a_runner_that_imports_is_not_judged(stage):
    """What a process holds before it is ready is no growth: killed for that, it would never run a job."""
    one, _ = runner(5, phase=Phase.STARTING)
    stage.crew.fleet.runners[5] = one
    stage.resident[1000] = LIMIT + 1
    stage.crew._on_start(5, 1000)
    stage.look()

    assert one.phase is Phase.STARTING
