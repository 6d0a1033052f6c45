"""What receivers of `task_finished` are still to be told of, and their runner."""

import json
import socket

import pytest
from django.db import InterfaceError

from django_jobqueue.backend import JobQueueBackend
from django_jobqueue.compat import task_finished
from django_jobqueue.registry import Registry
from django_jobqueue.worker import receivers, runner, service
from django_jobqueue.worker.child import Phase
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.frames import FrameReader
from django_jobqueue.worker.runner import RunnerPlan
from django_jobqueue.worker.service import SERVICE, Service
from tests.tasks import succeed
from tests.worker import cast, flights
from tests.worker.orders import BOUNDS


class Stage:
    """A service whose runner is a socket, and what was asked of its starter."""

    def __init__(self):
        self.fleet, self.starts = Fleet(), 0
        self.service = Service(self.fleet, self._start, lambda _runner: None)

    def _start(self):
        self.starts += 1

    def be_started(self, phase=Phase.READY):
        """Have its runner there."""
        self.runner, self.peer = flights.runner(SERVICE, threads=0, phase=phase)
        self.fleet.runners[SERVICE] = self.runner

    def heard(self):
        """The jobs that the runner was told of since."""
        return [job_id for ((_, job_ids),) in self.peer.heard() for job_id in job_ids]


@pytest.fixture
def stage():
    """A service without its runner."""
    return Stage()


@pytest.mark.django_db(transaction=True)
def test_a_receiver_is_heard_of_after_each_job_that_it_is_told_of(monkeypatch):
    """Of many jobs the keeper hears as receivers are told of each: those that work are not taken for one that hangs."""
    keeper, own = socket.socketpair()
    keeper.setblocking(False)
    one = runner._Runner(own, Registry({}), RunnerPlan(threads=0, bounds=BOUNDS))
    monkeypatch.setattr(runner, "TOLD_SECONDS", 0.0)
    reader, heard = FrameReader(), []

    def listen(**_facts):
        try:
            heard.append([json.loads(payload) for payload in reader.feed(keeper.recv(4096))])
        except BlockingIOError:
            heard.append([])

    task_finished.connect(listen)
    try:
        one._tell_receivers([int(succeed.enqueue().id) for _ in range(3)])
    finally:
        task_finished.disconnect(listen)
    listen()

    assert heard == [[], [["told", 1]], [["told", 1]], [["told", 1]]]
    keeper.close()
    own.close()


MISDEEDS = {
    "leaves the process": lambda: cast.come_to("exit 0"),
    "interrupts": lambda: cast.come_to("interrupt"),
    "leaves a transaction open": cast.leave_autocommit_off.func,
    "breaks a transaction": cast.leave_aborted.func,
    "loses the connection": cast.hang_up_unseen.func,
    "closes it inside a transaction": cast.leave_atomic_open_and_close.func,
}


@pytest.mark.parametrize("misdeed", MISDEEDS.values(), ids=MISDEEDS)
@pytest.mark.django_db(transaction=True)
def test_whatever_a_receiver_does_the_next_ends_are_told(misdeed):
    """A receiver is a guest: what it raises, and what it leaves in the connection, is over before the next job."""
    ids = [int(succeed.enqueue().id) for _ in range(3)]
    heard = []

    def listen(task_result, **_facts):
        heard.append(int(task_result.id))
        if len(heard) == 1:
            misdeed()

    task_finished.connect(listen)
    try:
        told = list(receivers.tell(ids, backend="default"))
    finally:
        task_finished.disconnect(listen)

    assert heard == ids
    assert len(told) == 3


@pytest.mark.django_db(transaction=True)
def test_a_job_that_cannot_be_read_keeps_no_other_from_being_told(monkeypatch, caplog):
    """Whatever the driver or the code raises: the log says of which job nobody is told."""
    ids = [int(succeed.enqueue().id) for _ in range(2)]
    heard, read = [], JobQueueBackend.get_result

    def break_at_the_first(self, job_id):
        if int(job_id) == ids[0]:
            raise InterfaceError("the connection is closed")
        return read(self, job_id)

    monkeypatch.setattr(JobQueueBackend, "get_result", break_at_the_first)

    def listen(task_result, **_facts):
        heard.append(int(task_result.id))

    task_finished.connect(listen)
    try:
        list(receivers.tell(ids, backend="default"))
    finally:
        task_finished.disconnect(listen)

    assert heard == ids[1:]
    assert f"job {ids[0]}" in caplog.text


def test_what_is_told_is_handed_over_in_portions(stage, monkeypatch):
    """A runner has some in hand, and more when it has told of them, in their order; what waits outlives its death."""
    monkeypatch.setattr(service, "AT_ONCE", 4)
    stage.be_started()
    stage.service.tell(list(range(10)))
    assert stage.heard() == [0, 1, 2, 3]
    stage.service.note_told(3)
    assert stage.heard() == [4, 5, 6]

    del stage.fleet.runners[SERVICE]
    stage.service.note_death()
    assert stage.service.untold == 3
    stage.be_started()
    stage.service.turn()

    assert stage.heard() == [7, 8, 9]


@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.DYING])
def test_nothing_is_handed_to_a_runner_that_is_not_there_yet_or_any_more(stage, phase):
    """A runner that ends before it was ready takes nothing with it."""
    stage.be_started(phase)
    stage.service.tell([1])

    assert stage.heard() == []
    assert stage.service.untold == 1


def test_the_line_is_bounded(stage, monkeypatch, caplog):
    """Where jobs end faster than receivers return the oldest ends are let go, and the log says so once."""
    monkeypatch.setattr(service, "MAX_LINE", 5)
    for number in range(0, 12, 3):
        stage.service.tell([number, number + 1, number + 2])
    assert stage.service.untold == 5
    assert [record.levelname for record in caplog.records] == ["WARNING"]

    stage.be_started()
    stage.service.turn()

    assert stage.heard() == [7, 8, 9, 10, 11]
