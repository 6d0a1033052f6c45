"""The keeper's picture of its runners: who has room, who gets what, what has begun."""

import json
from collections import Counter
from copy import copy

import pytest

from django_jobqueue.policy.outcomes import Cancelled, Committed, Interrupted, TimedOut
from django_jobqueue.worker import clock
from django_jobqueue.worker.child import BEGIN_SECONDS, PATIENCE_SECONDS, Phase
from django_jobqueue.worker.fleet import Fleet, Room
from django_jobqueue.worker.flight import COMMIT_NEWS_SECONDS, COROUTINE_GRACE_SECONDS
from django_jobqueue.worker.frames import pack
from django_jobqueue.worker.quarantine import REST
from tests.waiting import wait_until
from tests.worker.flights import flight, runner


class Crew:
    """A fleet with runners whose other ends a test can read."""

    def __init__(self):
        self.fleet = Fleet()
        self.peers = {}

    def add(self, **facts):
        number = len(self.peers)
        self.fleet.runners[number], self.peers[number] = runner(number, **facts)
        return self.fleet.runners[number]

    def place(self, *flights):
        """Hand flights out; answer with the runner that each went to, None for those that wait."""
        self.fleet.waiting += flights
        self.fleet.place()
        return [self.whereabouts(each) for each in flights]

    def whereabouts(self, one):
        return next((n for n, each in self.fleet.runners.items() if one.ticket in each.flights), None)


@pytest.fixture
def crew():
    """A fleet without runners."""
    crew = Crew()
    yield crew
    for number, peer in crew.peers.items():
        peer.sock.close()
        crew.fleet.runners[number].sock.close()


def room(crew, ahead_per_slot=0):
    found = crew.fleet.room(ahead_per_slot)
    return (found.functions, found.ahead, found.coroutines)


# Room


def test_an_idle_runner_has_room_for_what_it_can_run(crew):
    """Free slots count for functions, the loop's places for coroutines."""
    crew.add(threads=2, coroutines=5)
    crew.add(threads=1, coroutines=3)

    assert room(crew) == (3, 0, 8)


@pytest.mark.parametrize("phase", [Phase.STARTING, Phase.DYING])
def test_a_runner_that_is_not_ready_has_no_room(crew, phase):
    """Nothing is claimed for a runner that starts or dies."""
    crew.add(threads=2, coroutines=5, phase=phase)

    assert room(crew, 10) == (0, 0, 0)


def test_a_long_function_takes_a_slot(crew):
    """A slot with a long function is free for nothing, and nothing is claimed ahead behind it."""
    crew.add(threads=2).hand([flight()])

    assert room(crew, 10) == (1, 10, 0)

    crew.fleet.runners[0].hand([flight()])
    assert room(crew, 10) == (0, 0, 0)


def test_short_functions_leave_a_slot_free(crew):
    """A slot that holds short functions only takes any job, and as many short ones as are allowed ahead."""
    crew.add(threads=1).hand([flight(is_short=True) for _ in range(4)])

    assert room(crew, 10) == (1, 6, 0)


def test_a_slot_holds_no_more_than_it_is_allowed(crew):
    """Where more short functions are held than allowed ahead, no more are claimed."""
    crew.add(threads=1).hand([flight(is_short=True) for _ in range(12)])

    assert room(crew, 10) == (1, 0, 0)


def test_coroutines_take_places_of_their_own(crew):
    """Coroutines take no slot of functions, nor functions a place of coroutines."""
    crew.add(threads=1, coroutines=3).hand([flight(is_coroutine=True), flight()])

    assert room(crew) == (0, 0, 2)


def test_what_waits_has_its_place_already(crew):
    """Jobs that wait for a runner are taken off the room."""
    crew.add(threads=3, coroutines=3)
    crew.fleet.waiting = [flight(), flight()]

    assert room(crew, 2) == (1, 4, 1)


def test_the_last_jobs_of_a_runner_are_counted_once(crew):
    """A runner that may end one job more has room for one: a function or a coroutine, as there is."""
    last = crew.add(threads=1, coroutines=5)
    last.jobs_left = 1

    assert crew.fleet.room(10) == Room(0, 0, 0, either=1)
    last.hand([flight(is_coroutine=True)])
    assert crew.fleet.room(10) == Room(0, 0, 0, either=0)


@pytest.mark.parametrize("left", range(2, 30))
def test_a_runner_has_room_for_no_more_jobs_than_it_may_end(crew, left):
    """Whatever is claimed for a runner it may still end, and each kind has its share."""
    crew.add(threads=2, coroutines=9).jobs_left = left
    found = crew.fleet.room(10)

    assert found.functions + found.ahead + found.coroutines + found.either <= left
    assert found.functions + found.either >= 1
    assert found.coroutines + found.either >= 1


def test_a_runner_that_reads_nothing_has_no_room(crew):
    """A runner with much unread gets no more, however many slots are free."""
    stuck = crew.add(threads=4)
    stuck.queue(b"x" * 20_000_000)

    assert room(crew) == (0, 0, 0)


# Place


def test_jobs_are_spread(crew):
    """Each runner gets its share of what was claimed."""
    crew.add(threads=2)
    crew.add(threads=2)

    assert Counter(crew.place(*[flight() for _ in range(4)])) == {0: 2, 1: 2}


def test_a_job_goes_where_a_slot_is_free(crew):
    """A function goes to the runner that can start it, however many coroutines that one has."""
    crew.add(threads=1, coroutines=10).hand([flight(is_coroutine=True) for _ in range(5)])
    crew.add(threads=1, coroutines=10).hand([flight()])

    assert crew.place(flight()) == [0]


def test_a_job_does_not_queue_behind_a_long_one(crew):
    """A function goes to a runner with many short ones rather than behind a long one: there a slot is free soon."""
    crew.add(threads=1).hand([flight()])
    crew.add(threads=1).hand([flight(is_short=True) for _ in range(20)])

    assert crew.place(flight(is_short=True), flight()) == [1, 1]


def test_read_ahead_goes_to_slots_that_are_free_soon(crew):
    """Short jobs claimed ahead are not handed to a runner whose only slot has a long one."""
    crew.add(threads=1).hand([flight()])
    crew.add(threads=1)

    assert crew.place(*[flight(is_short=True) for _ in range(6)]) == [1] * 6


def test_coroutines_are_spread_by_coroutines(crew):
    """A coroutine goes to the runner with the fewest of them, whatever functions that one runs."""
    crew.add(threads=3, coroutines=2).hand([flight(), flight(), flight()])
    crew.add(threads=3, coroutines=2).hand([flight(is_coroutine=True), flight(is_coroutine=True)])

    assert crew.place(flight(is_coroutine=True)) == [0]


def test_without_a_runner_jobs_wait(crew):
    """Jobs wait while no runner takes any, in their order."""
    crew.add(phase=Phase.STARTING)
    first, second = flight(), flight()

    assert crew.place(first, second) == [None, None]
    assert crew.fleet.waiting == [first, second]
    assert crew.fleet.size == 2


def test_an_order_says_what_the_runner_must_know(crew):
    """An order holds ticket, job, attempt, task, version, arguments as stored, moments, workers, and its token."""
    crew.add()
    one = flight(args='[1, "zwei\\n"]', kwargs='{"q": "\\""}', attempt_number=3, task='say "hi"', version=7)

    crew.place(one)

    ((head, args, kwargs),) = crew.peers[0].heard()
    job = one.claimed
    assert head == [
        one.ticket, job.id, 3, 'say "hi"', 7, 0,
        job.enqueued_at, job.started_at, job.last_attempted_at, ["w"], str(one.token), False,
    ]  # fmt: skip
    assert (args, kwargs) == ([1, "zwei\n"], {"q": '"'})


def test_only_an_atomic_task_is_told_its_token(crew):
    """The right to write a job leaves the keeper for the tasks that finish themselves, and for no other."""
    crew.add()
    one = flight()
    one.is_atomic = True

    crew.place(one)

    (((*_, token, _), *_),) = crew.peers[0].heard()
    assert token == str(one.token)


# Suspects


def test_a_suspect_runs_alone(crew):
    """A job that may have taken a process down gets an empty runner, and nothing joins it there."""
    crew.add(threads=4)
    crew.add(threads=4)
    suspect, others = flight(crash_count=1), [flight() for _ in range(3)]

    crew.place(suspect, *others)

    home = crew.whereabouts(suspect)
    assert list(crew.fleet.runners[home].flights) == [suspect.ticket]
    assert [crew.whereabouts(other) for other in others] == [1 - home] * 3
    assert crew.place(flight()) == [1 - home]


def test_a_suspect_waits_for_an_empty_runner(crew):
    """Where no runner is empty, one takes nothing more until it is."""
    crew.add(threads=4)
    guest = flight()
    crew.place(guest)
    suspect, late = flight(crash_count=1), flight()

    assert crew.place(suspect, late) == [None, None]
    assert room(crew) == (0, 0, 0)

    crew.fleet.runners[0].take_back(guest.ticket)
    assert crew.place() == []
    assert crew.whereabouts(suspect) == 0
    assert crew.whereabouts(late) is None


def test_suspects_run_one_after_the_other(crew):
    """Two suspects never share a runner."""
    crew.add(threads=4)
    first, second = flight(crash_count=1), flight(crash_count=2)

    assert crew.place(first, second) == [0, None]

    crew.fleet.runners[0].take_back(first.ticket)
    crew.place()
    assert crew.whereabouts(second) == 0


def test_a_reserved_runner_takes_jobs_again(crew):
    """When the suspect is gone and none waits, its runner takes any job."""
    crew.add(threads=2)
    suspect = flight(crash_count=1)
    crew.place(suspect)
    crew.fleet.release_reserved()
    assert room(crew) == (0, 0, 0)

    crew.fleet.runners[0].take_back(suspect.ticket)
    crew.fleet.release_reserved()

    assert room(crew) == (2, 0, 0)


def test_suspects_leave_the_other_runners_alone(crew):
    """While one suspect runs, a second one does not reserve another runner: the others' jobs go on."""
    crew.add(threads=1)
    crew.add(threads=1).hand([flight()])
    crew.place(flight(crash_count=1))
    crew.place(flight(crash_count=1))

    assert not crew.fleet.runners[1].reserved


def test_what_no_runner_can_take_goes_back(crew):
    """A job that waits in the keeper for longer than a second may be taken by another worker."""
    crew.add(threads=1).hand([flight()])
    waiting = flight()
    crew.place(waiting)
    now = clock.now()

    assert crew.fleet.take_impatient(now) == []
    assert crew.fleet.take_impatient(now + PATIENCE_SECONDS + 0.1) == [waiting]
    assert crew.fleet.waiting == []


def test_a_suspect_that_finds_no_empty_runner_goes_back_and_is_not_asked_for_at_once(crew):
    """Its runner takes jobs again; the next suspect is asked for after a while, and waited for twice as long."""
    crew.add(threads=2).hand([flight()])
    now = clock.now()
    for patience in (PATIENCE_SECONDS, 2 * PATIENCE_SECONDS, 4 * PATIENCE_SECONDS):
        assert crew.fleet.may_ask_for_suspects(now)
        suspect = flight(crash_count=1)
        crew.place(suspect)
        assert crew.fleet.take_impatient(now) == []
        assert crew.fleet.take_impatient(now + patience - 0.1) == []
        now += patience + 0.1
        assert crew.fleet.take_impatient(now) == [suspect]
        assert not crew.fleet.may_ask_for_suspects(now)
        crew.fleet.release_reserved()
        assert room(crew) == (1, 0, 0)
        now += REST * patience + 0.1


def test_a_suspect_is_asked_for_where_a_runner_is_empty(crew):
    """However often it was in vain before: an empty runner can take one at once, and then all is forgotten."""
    one = crew.add(threads=2)
    one.hand([guest := flight()])
    crew.fleet.quarantine.failed(clock.now())
    assert not crew.fleet.may_ask_for_suspects(clock.now())

    one.take_back(guest.ticket)
    assert crew.fleet.may_ask_for_suspects(clock.now())
    assert crew.place(flight(crash_count=1)) == [0]
    assert crew.fleet.quarantine.patience == PATIENCE_SECONDS


# Begun or not


def begun(one):
    return [each.has_begun for each in one.flights.values()]


def test_the_oldest_functions_have_begun(crew):
    """As many functions as there are slots have begun, the oldest first; the rest is read-ahead."""
    one = crew.add(threads=2)
    flights = [flight(is_short=True) for _ in range(4)]
    one.hand(flights)
    assert begun(one) == [True, True, False, False]

    one.take_back(flights[0].ticket)
    assert begun(one) == [True, True, False]


def test_coroutines_begin_at_once(crew):
    """A coroutine has begun when it is handed over, and takes no function's slot."""
    one = crew.add(threads=1, coroutines=5)
    one.hand([flight(is_coroutine=True), flight(), flight(is_coroutine=True), flight()])

    assert begun(one) == [True, True, True, False]


def test_a_time_limit_runs_from_the_beginning(crew):
    """No deadline is set by the hand-over, but when the code of the task is called; a coroutine's is a second later."""
    one = crew.add(threads=1, coroutines=1)
    first, second, coroutine = flight(timeout=5), flight(timeout=5), flight(timeout=5, is_coroutine=True)
    one.hand([first, second, coroutine])
    assert [each.deadline for each in (first, second, coroutine)] == [None] * 3
    assert one.overdue(clock.now() + 20, 6.0) == {}

    first.limit()
    coroutine.limit()
    now = clock.now()

    assert first.deadline == pytest.approx(now + 5, abs=1)
    assert coroutine.deadline == pytest.approx(now + 5 + COROUTINE_GRACE_SECONDS, abs=1)
    assert one.overdue(now, 6.0) == {}
    assert isinstance(one.overdue(first.deadline, 6.0)[first.ticket], TimedOut)


@pytest.fixture
def hung(crew):
    """A runner in which a coroutine with a limit does not begin, beside one that was before it, and one after."""
    one = crew.add(threads=1, coroutines=9)
    before, stuck, after = (flight(is_coroutine=True, timeout=limit) for limit in (None, 5, None))
    one.hand([before, stuck, after])
    return one, before, stuck, after


def test_a_job_that_does_not_begin_finds_the_guilty_one(hung):
    """What ran before it is interrupted, counted, so that it is over after some times; nobody else is accused."""
    one, before, _stuck, _after = hung
    now = clock.now()
    assert one.hung(now) == {}

    ((ticket, end),) = one.hung(now + BEGIN_SECONDS + 1).items()

    assert ticket == before.ticket
    assert isinstance(end, Interrupted)
    assert end.counted


def test_a_job_that_does_not_begin_though_nothing_is_before_it_is_the_guilty_one(hung):
    """A receiver of its start that never returns interrupts its own job, counted: that has an end too."""
    one, before, stuck, after = hung
    for each in (before, after):
        one.take_back(each.ticket)

    assert list(one.hung(clock.now() + BEGIN_SECONDS + 1)) == [stuck.ticket]


def test_a_job_whose_own_receivers_do_not_return_is_the_guilty_one(crew):
    """It was taken, so the GIL and the loop were free: what ran before it, and what waits behind it, are innocent."""
    one = crew.add(threads=2, coroutines=9)
    innocent, stuck, behind = flight(), flight(timeout=5), flight(timeout=5, is_coroutine=True)
    one.hand([innocent, stuck, behind])
    one.note_taken(stuck.ticket)
    behind.limit()

    ((ticket, end),) = one.hung(clock.now() + BEGIN_SECONDS + 1).items()

    assert ticket == stuck.ticket
    assert isinstance(end, Interrupted)
    assert end.counted


def test_a_receiver_that_blocks_the_loop_accuses_its_own_job_alone(crew):
    """Another coroutine with a limit was handed over before it and waits behind it: neither that nor a third one."""
    one = crew.add(coroutines=9)
    innocent, behind, stuck = (flight(timeout=limit, is_coroutine=True) for limit in (None, 5, 5))
    one.hand([innocent, behind, stuck])
    behind.begun_at -= 20
    one.note_taken(stuck.ticket)
    now = clock.now()

    assert one.hung(now + BEGIN_SECONDS - 1) == {}
    assert list(one.hung(now + BEGIN_SECONDS + 1)) == [stuck.ticket]


def test_a_function_that_is_taken_shows_that_the_gil_is_free(crew):
    """One that waits for its turn beside it is no sign that something keeps the GIL."""
    one = crew.add(threads=3)
    innocent, waits, taken = flight(), flight(timeout=5), flight(timeout=5)
    one.hand([innocent, waits, taken])
    for each in (innocent, waits):
        each.begun_at -= BEGIN_SECONDS + 1
    assert list(one.hung(clock.now())) == [innocent.ticket]

    one.note_taken(taken.ticket)

    assert one.hung(clock.now()) == {}


def test_a_job_that_has_begun_is_not_waited_for(hung):
    """Once its own code is called its time limit is all that counts."""
    one, _before, stuck, _after = hung
    stuck.limit()

    assert one.hung(clock.now() + BEGIN_SECONDS + 1) == {}


def test_a_loop_that_turns_is_slow_and_not_hung(hung):
    """While coroutines begin or end, one that has to wait for them is no sign of a blocked loop."""
    one, *_ = hung
    one.loop_turned_at = clock.now() + BEGIN_SECONDS

    assert one.hung(clock.now() + BEGIN_SECONDS + 1) == {}


def test_a_job_without_a_limit_is_never_overdue(crew):
    """A task without a timeout may run for ever."""
    one = crew.add()
    one.hand([flight()])

    assert one.overdue(clock.now() + 20, 6.0) == {}


def test_each_that_must_be_stopped_has_an_end_of_its_own(crew):
    """A time limit, a request with force and a lost lease in one process: each job ends as what happened to it."""
    one = crew.add(threads=4)
    limited, unwanted, lost, healthy = (flight(timeout=limit) for limit in (5, None, None, None))
    one.hand([limited, unwanted, lost, healthy])
    limited.limit()
    unwanted.ask(forced=True)
    lost.lease_until = clock.now()

    ends = one.overdue(clock.now() + 5, 6.0)

    assert {ticket: type(end) for ticket, end in ends.items()} == {
        limited.ticket: TimedOut,
        unwanted.ticket: Cancelled,
        lost.ticket: Interrupted,
    }


def test_a_function_that_was_to_be_stopped_before_its_turn_has_a_moment_to_say_so(crew):
    """It waited behind another one; its runner does not begin it, and is killed only if it does not say that."""
    one = crew.add(threads=1)
    first, unwanted = flight(is_short=True), flight(is_short=True)
    one.hand([first, unwanted])
    unwanted.ask(forced=True)
    one.take_back(first.ticket)
    now = clock.now()

    assert one.overdue(now, 6.0) == {}
    assert list(one.overdue(now + COROUTINE_GRACE_SECONDS, 6.0)) == [unwanted.ticket]


def test_what_has_committed_its_own_end_needs_no_lease(crew):
    """An atomic task that has committed holds no lease; only its time limit ends it, and it has succeeded then too."""
    one = crew.add()
    done = flight(timeout=5)
    one.hand([done])
    done.limit()
    done.is_committed = True
    done.lose_lease()

    assert list(crew.fleet.leased()) == []
    assert one.overdue(clock.now() + 1, 6.0) == {}
    assert one.overdue(clock.now() + 6, 6.0) == {done.ticket: Committed()}


def test_an_atomic_task_whose_lease_is_lost_has_a_moment_to_say_that_it_has_committed(crew):
    """Where the row has no token any more it may be the task itself that has finished it."""
    one = crew.add()
    one.hand([atomic := flight()])
    atomic.is_atomic = True
    atomic.lose_lease()

    assert one.overdue(clock.now(), 6.0) == {}
    assert isinstance(one.overdue(clock.now() + COMMIT_NEWS_SECONDS + 0.1, 6.0)[atomic.ticket], Interrupted)


def test_what_has_not_begun_is_no_reason_to_kill(crew):
    """Read-ahead whose lease is lost, or that a person wants cancelled, takes no process down."""
    one = crew.add(threads=1)
    busy, lost, unwanted = flight(), flight(), flight()
    one.hand([busy, lost, unwanted])
    lost.lease_until = 0.0
    unwanted.ask(forced=True)

    assert one.overdue(clock.now(), 6.0) == {}


def test_a_flight_is_no_other_that_looks_the_same():
    """Two are never compared field by field: to look for one among thousands would read the payloads of all."""
    one = flight()

    assert one != copy(one)
    assert one in {one}


def test_a_request_is_news_once(crew):
    """A request that was passed on is not passed on again, but for the one that adds force."""
    one = flight()

    assert [one.ask(forced=forced) for forced in (False, False, True, True, False)] == [True, False, True, False, False]


def test_a_long_run_holds_up_what_was_to_follow_it_soon(crew):
    """A short task that runs long for once: what waits behind it is to go back, and the slot counts as taken."""
    one = crew.add(threads=1)
    first, second = flight(is_short=True), flight(is_short=True)
    one.hand([first, second])
    now = clock.now()

    assert not one.holds_up(now)
    assert one.holds_up(now + PATIENCE_SECONDS + 1)
    one.take_back(second.ticket)
    assert not one.holds_up(now + PATIENCE_SECONDS + 1)
    assert room(crew, 10) == (0, 0, 0)


def test_a_job_waits_rather_than_queue_behind_long_ones(crew):
    """Where every slot is in a long job, a function waits for the next free one, and not in the line of a process."""
    crew.add(threads=1).hand([flight()])
    waiting = flight()

    assert crew.place(waiting) == [None]
    crew.add(threads=1)
    assert crew.place() == []
    assert crew.whereabouts(waiting) == 1


def test_a_loop_runs_no_more_coroutines_than_it_may(crew):
    """A runner is handed coroutines up to its limit; more of them wait."""
    crew.add(coroutines=2)

    assert crew.place(*(flight(is_coroutine=True) for _ in range(3))) == [0, 0, None]


def test_an_unknown_ticket_is_nothing(crew):
    """A ticket that was taken back already, or never was, is no flight."""
    assert crew.add().take_back(4711) is None


# The socket


def test_the_keeper_does_not_block_on_a_runner_that_reads_nothing(crew):
    """What the socket does not take stays in line, and arrives whole when the runner reads again."""
    one = crew.add()
    for number in range(50):
        one.say("note", number, "x" * 50_000)
    assert one.outgoing

    messages = []

    def arrived():
        messages.extend(crew.peers[0].heard())
        one.flush()
        return len(messages) == 50

    wait_until(arrived)
    assert [message[1] for (message,) in messages] == list(range(50))
    assert not one.outgoing


def test_a_runner_that_is_gone_is_no_error(crew):
    """To speak to a runner whose end is closed does nothing; its silence is heard as the end."""
    one = crew.add()
    crew.peers[0].sock.close()

    one.say("stop")
    one.hand([flight()])

    assert one.receive() is None


def test_a_line_that_was_closed_is_no_error(crew):
    """A runner whose socket is closed already takes nothing, and ends nobody."""
    one = crew.add()
    one.sock.close()

    one.say("give_back")

    assert one.outgoing


def test_the_last_words_are_heard_before_the_end(crew):
    """What a runner said before it died is read first, then its end."""
    one = crew.add()
    crew.peers[0].sock.send(pack(b'["ready"]') + pack(b'["told",1]') + pack(b"half")[:6])
    crew.peers[0].sock.close()

    assert [json.loads(payload) for payload in one.receive()] == [["ready"], ["told", 1]]
    assert one.receive() is None


def test_a_silent_runner_says_nothing(crew):
    """Nothing to read is not the end."""
    assert crew.add().receive() == []
