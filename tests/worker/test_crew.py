"""The crew, without processes: what becomes of jobs that wait for a runner."""

import json
import selectors
import signal

import pytest

from django_jobqueue.conf import Options
from django_jobqueue.policy.outcomes import Committed, Interrupted, Lost, Succeeded, TimedOut
from django_jobqueue.worker import clock
from django_jobqueue.worker.child import BEGIN_SECONDS, Phase
from django_jobqueue.worker.crew import Crew
from django_jobqueue.worker.frames import pack
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.service import SERVICE
from django_jobqueue.worker.wakeup import Wakeup
from tests.waiting import wait_until
from tests.worker.flights import flight, runner


@pytest.fixture
def crew():
    """A crew that was not started."""
    wakeup = Wakeup()
    yield Crew(WorkerPlan("default", Options()), wakeup)
    wakeup.close()


def test_a_job_whose_lease_ends_while_it_waits_is_not_started(crew):
    """A job that waits for a runner is let go before its lease ends: another worker may soon have it."""
    now = clock.now()
    late, good = flight(), flight()
    late.lease_until = now + 5
    crew.fleet.waiting = [late, good]

    crew.place(now, lease_margin=6.0)

    assert crew.never_started == [late]
    assert crew.fleet.waiting == [good]


def add_runner(crew, **facts):
    one, peer = runner(**facts)
    crew.fleet.runners[one.number] = one
    return one, peer


def test_read_ahead_whose_lease_is_lost_is_asked_back(crew):
    """What waits in a runner and is another's by now is asked for, once; the job that runs there is left alone."""
    one, peer = add_runner(crew, threads=1)
    one.hand([flight(is_short=True), flight(is_short=True)])
    list(one.flights.values())[1].lease_until = 0.0
    for _ in range(3):
        crew.check(clock.now(), lease_margin=6.0)

    assert one.phase is Phase.READY
    assert peer.heard()[2:] == [[["give_back"]]]


def test_neighbours_of_a_lost_lease_are_not_counted(crew):
    """A lost lease takes the process down; only the job that lost it comes nearer to its bound."""
    one, peer = add_runner(crew, threads=2)
    lost, neighbour = flight(), flight()
    one.hand([lost, neighbour])
    lost.lease_until = 0.0
    crew.check(clock.now(), lease_margin=6.0)
    assert one.phase is Phase.DYING
    peer.sock.close()

    crew._on_exit(one.number, -9)

    ends = {report.flight.ticket: report.outcome for report in crew.reports}
    assert {ticket: (type(end), end.counted) for ticket, end in ends.items()} == {
        lost.ticket: (Interrupted, True),
        neighbour.ticket: (Interrupted, False),
    }


def test_a_runner_that_hung_up_gets_no_job(crew):
    """After the end of its socket a runner is as good as dead: a job would be charged for a death before its time."""
    one, peer = add_runner(crew, threads=1)
    peer.sock.close()
    crew._on_ready(one, 0)
    crew.fleet.waiting = [flight()]

    crew.place(clock.now(), lease_margin=6.0)

    assert len(crew.fleet.waiting) == 1
    assert not one.flights


def test_a_runner_that_hung_up_is_killed(crew, monkeypatch):
    """A task that has closed its runner's socket and goes on for ever is out of reach of a limit: it is ended."""
    killed = []
    monkeypatch.setattr("os.killpg", lambda pid, number: killed.append((pid, number)))
    one, peer = add_runner(crew, threads=1)
    one.pid = 4711
    one.hand([flight(timeout=3600)])
    peer.sock.close()

    crew._on_ready(one, 0)

    assert killed == [(4711, signal.SIGKILL)]


def test_words_that_make_no_sense_lose_no_job(crew):
    """A runner that reports nonsense of a job is killed, and the job in it is still accounted for."""
    one, peer = add_runner(crew, threads=1)
    one.hand([held := flight()])
    peer.sock.send(pack(json.dumps(["done", held.ticket, 0.1, ["no outcome"]]).encode()))
    crew._on_ready(one, 0)

    assert one.phase is Phase.DYING
    crew._on_exit(one.number, -9)
    assert [report.flight for report in crew.reports] == [held]


def test_nonsense_of_a_runner_that_is_dying_changes_nothing(crew):
    """It was killed because a job was past its limit: that job timed out, and its neighbour is no suspect."""
    one, peer = add_runner(crew, threads=2)
    late, neighbour = flight(timeout=5), flight()
    one.hand([late, neighbour])
    tell(crew, one, peer, "begun", late.ticket)
    crew.check(clock.now() + 6, lease_margin=6.0)
    tell(crew, one, peer, "done", neighbour.ticket, 0.1, ["no outcome"])
    crew._on_exit(one.number, -9)

    ends = {report.flight.ticket: report.outcome for report in crew.reports}
    assert type(ends[late.ticket]) is TimedOut
    assert (type(ends[neighbour.ticket]), ends[neighbour.ticket].suspect) == (Interrupted, False)


def test_last_words_that_make_no_sense_kill_nobody(crew, monkeypatch):
    """A runner that has been reaped has no number any more: it may be a stranger's."""
    killed = []
    monkeypatch.setattr("os.killpg", lambda pid, number: killed.append(pid))
    one, peer = add_runner(crew, threads=1)
    one.pid = 4711
    one.hand([held := flight()])
    peer.sock.send(pack(b'"nonsense'))
    crew._on_exit(one.number, -11)

    assert killed == []
    assert [(report.flight, type(report.outcome)) for report in crew.reports] == [(held, Lost)]


def test_an_order_that_never_left_is_given_back(crew):
    """A runner is dead and the keeper has not heard: what it is handed then has not begun, and accuses nobody."""
    one, peer = add_runner(crew, threads=3)
    one.hand([held := flight()])
    assert peer.heard()
    peer.sock.close()
    one.hand(late := [flight(), flight()])
    crew._on_exit(one.number, -9)

    assert crew.never_started == late
    assert [(report.flight, type(report.outcome)) for report in crew.reports] == [(held, Lost)]


def test_an_order_of_which_a_part_has_left_may_have_begun(crew):
    """What is left of it in line does not tell: the other end may have the rest, and those after it are given back."""
    one, peer = add_runner(crew, threads=3)
    orders = [flight(args=json.dumps(["x" * size])) for size in (10, 2_000_000, 10)]
    one.hand(orders)
    peer.heard()
    peer.sock.close()
    crew._on_exit(one.number, -9)

    assert [report.flight for report in crew.reports] == orders[:2]
    assert crew.never_started == orders[2:]


def test_what_is_to_be_told_waits_for_a_launcher(crew):
    """The process that starts runners is gone for a moment: receivers are told of what ended meanwhile after that."""
    crew._nursery._lose(0.0)
    crew._lose_all()
    crew.service.tell([1, 2])
    assert SERVICE not in crew.fleet.runners
    assert crew.service.untold == 2

    crew.check(clock.now() + 1, lease_margin=6.0)

    assert SERVICE in crew.fleet.runners
    assert crew.service.untold == 2
    crew.close()


def test_half_a_message_ends_no_runner(crew):
    """A large outcome arrives in pieces: the runner is waited for, and what it says is understood when it is whole."""
    one, peer = add_runner(crew, threads=1)
    one.hand([held := flight()])
    frame = pack(json.dumps(["done", held.ticket, 0.1, ["succeeded", '"' + "x" * 1000 + '"']]).encode())
    peer.sock.send(frame[:500])
    crew._on_ready(one, selectors.EVENT_READ)
    assert one.phase is Phase.READY

    peer.sock.send(frame[500:])
    crew._on_ready(one, selectors.EVENT_READ)

    assert [report.flight for report in crew.reports] == [held]


def test_a_socket_that_can_be_written_ends_no_runner(crew):
    """Orders that the socket did not take at once follow when it does, and a runner that has nothing to say lives."""
    one, peer = add_runner(crew, threads=1)
    crew.fleet.waiting = [flight(is_short=True, args=json.dumps(["x" * 10_000])) for _ in range(200)]
    crew.place(clock.now(), lease_margin=6.0)
    assert one.outgoing

    heard = []
    wait_until(lambda: crew._wakeup.wait(0.01) or heard.extend(peer.heard()) or len(heard) == 200)

    assert one.phase is Phase.READY
    assert len(one.flights) == 200


def test_what_a_dead_runner_said_counts_though_its_socket_stays_open(crew):
    """A program that a job has started may hold the socket: the last words are taken, their end is not waited for."""
    one, peer = add_runner(crew, threads=2)
    told, lost = flight(), flight()
    one.hand([told, lost])
    frame = pack(json.dumps(["done", told.ticket, 0.1, ["succeeded", "null"]]).encode())
    peer.sock.send(frame + frame[:9])

    crew._on_exit(one.number, -11)

    ends = {report.flight.ticket: type(report.outcome) for report in crew.reports}
    assert ends == {told.ticket: Succeeded, lost.ticket: Lost}


def test_a_time_limit_counts_from_the_runners_word(crew):
    """A job that its runner has not begun is not late, however long ago it was handed over."""
    one, peer = add_runner(crew, threads=1)
    one.hand([limited := flight(timeout=5)])
    crew.check(clock.now() + 20, lease_margin=6.0)
    assert one.phase is Phase.READY

    peer.sock.send(pack(json.dumps(["begun", limited.ticket]).encode()))
    crew._on_ready(one, selectors.EVENT_READ)
    crew.check(clock.now() + 5, lease_margin=6.0)

    assert one.phase is Phase.DYING
    crew._on_exit(one.number, -9)
    assert [type(report.outcome) for report in crew.reports] == [TimedOut]


def test_a_hung_runner_is_killed_and_only_what_hangs_it_is_counted(crew):
    """A coroutine blocks the loop: it comes nearer to its bound, the job that could not begin does not."""
    one, _ = add_runner(crew, threads=1, coroutines=9)
    blocks, waits = flight(is_coroutine=True), flight(is_coroutine=True, timeout=5)
    one.hand([blocks, waits])
    for each in (blocks, waits):
        each.lease_until += 3600
    crew.check(clock.now() + BEGIN_SECONDS + 1, lease_margin=6.0)
    assert one.phase is Phase.DYING

    crew._on_exit(one.number, -9)

    ends = {report.flight.ticket: report.outcome for report in crew.reports}
    assert {ticket: (type(end), end.counted) for ticket, end in ends.items()} == {
        blocks.ticket: (Interrupted, True),
        waits.ticket: (Interrupted, False),
    }


def test_a_receiver_that_does_not_return_is_counted_to_its_own_job(crew):
    """The runner has said that the job's turn has come: the function beside it, however long, is not what hangs."""
    one, peer = add_runner(crew, threads=2)
    innocent, stuck = flight(), flight(timeout=5)
    one.hand([innocent, stuck])
    for each in (innocent, stuck):
        each.lease_until += 3600
    tell(crew, one, peer, "taken", stuck.ticket)
    crew.check(clock.now() + BEGIN_SECONDS + 1, lease_margin=6.0)
    assert one.phase is Phase.DYING

    crew._on_exit(one.number, -9)

    ends = {report.flight.ticket: report.outcome for report in crew.reports}
    assert {ticket: (type(end), end.counted) for ticket, end in ends.items()} == {
        innocent.ticket: (Interrupted, False),
        stuck.ticket: (Interrupted, True),
    }


def tell(crew, one, peer, *message):
    """Have a runner say something, and hear it."""
    peer.sock.send(pack(json.dumps(message).encode()))
    crew._on_ready(one, selectors.EVENT_READ)


def test_each_end_is_one_of_those_that_a_runner_has_left(crew):
    """A runner that is to be replaced after so many jobs comes nearer to that with every one, however it ended."""
    one, peer = add_runner(crew, threads=1)
    one.jobs_left = 2
    one.hand([held := flight()])
    tell(crew, one, peer, "done", held.ticket, 0.1, ["succeeded", "null"])

    assert one.jobs_left == 1


@pytest.mark.parametrize("words", [["begun"], ["done", 0.1, ["succeeded", "null"]]], ids=["begins", "ends"])
def test_a_coroutine_that_begins_or_ends_shows_that_the_loop_turns(crew, words):
    """One that waits to begin in that loop is no sign that it is blocked."""
    one, peer = add_runner(crew, coroutines=9)
    neighbour, waits = flight(is_coroutine=True), flight(is_coroutine=True, timeout=5)
    one.hand([neighbour, waits])
    waits.begun_at -= BEGIN_SECONDS + 1
    assert one.hung(clock.now())

    tell(crew, one, peer, words[0], neighbour.ticket, *words[1:])

    assert not one.hung(clock.now())


def test_a_task_that_has_committed_is_known_to_have(crew):
    """Its success is on record from then on, whatever becomes of its runner."""
    one, peer = add_runner(crew, threads=1)
    one.hand([held := flight()])
    tell(crew, one, peer, "committed", held.ticket)
    crew._on_exit(one.number, -9)

    assert [report.outcome for report in crew.reports] == [Committed()]


def test_what_a_runner_gives_back_has_never_started(crew):
    """It is given back to the queue, and the runner may be asked again when there is more to ask for."""
    one, peer = add_runner(crew, threads=1)
    runs, *waiting = (flight(is_short=True) for _ in range(3))
    one.hand([runs, waiting[0]])
    waiting[0].lease_until = 0.0
    crew.check(clock.now(), lease_margin=6.0)
    tell(crew, one, peer, "returned", [waiting[0].ticket])
    one.hand([waiting[1]])
    waiting[1].lease_until = 0.0
    crew.check(clock.now(), lease_margin=6.0)

    assert crew.never_started == [waiting[0]]
    assert peer.heard().count([["give_back"]]) == 2
