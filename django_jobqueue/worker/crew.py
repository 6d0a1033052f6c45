"""The runners' processes: started, listened to, killed, buried and replaced.

Whatever becomes of an attempt in a runner, the keeper gets a Report of it from here, exactly one for each flight:
the outcome that the runner sent, or the one that its death means.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from django_jobqueue import failpoint
from django_jobqueue.policy.outcomes import Failure, Interrupted
from django_jobqueue.worker import clock
from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.fate import Report, cause, fate, tell_apart
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.launcher import Broken, Exited, Gone, NotStarted, Started
from django_jobqueue.worker.nursery import (
    SILENT_SECONDS,
    UNHEARD_AT_THE_END_SECONDS,
    UNHEARD_SECONDS,
    Nursery,
)
from django_jobqueue.worker.oom import OutOfMemory
from django_jobqueue.worker.patrol import Patrol
from django_jobqueue.worker.plan import WorkerPlan
from django_jobqueue.worker.recycling import Recycling
from django_jobqueue.worker.restarts import Restarts
from django_jobqueue.worker.service import SERVICE, Service
from django_jobqueue.worker.wakeup import Wakeup
from django_jobqueue.worker.wire import NONSENSE, read_outcome

logger = logging.getLogger("django_jobqueue.worker")


class Crew:
    """The runners of one worker."""

    def __init__(self, plan: WorkerPlan, wakeup: Wakeup) -> None:
        self.fleet = Fleet()
        self.reports: list[Report] = []
        self.never_started: list[Flight] = []
        self.broken = ""
        self.was_ready = False
        self.has_new_room = False
        self.service = Service(self.fleet, self._start_service, self._watch)
        self._plan = plan
        self._wakeup = wakeup
        self._restarts = Restarts()
        self._oom = OutOfMemory()
        self._recycling = Recycling(plan.options)
        self._may_restart = True
        self._unheard_seconds = UNHEARD_SECONDS
        self._nursery = Nursery(plan.runner, wakeup, self._restarts, self.take_events)
        self._patrol = Patrol(self.fleet, self.service, self._recycling, self._nursery, self._watch)

    def start(self) -> None:
        """Have every runner started."""
        for number in range(self._plan.processes):
            self._restarts.set(number, clock.now())

    @property
    def is_restarting(self) -> bool:
        """Whether a runner waits to be started again."""
        return self._restarts.are_pending

    def has_to_check(self, now: float) -> bool:
        """Whether there is something to do now: each moment until a spent runner is replaced is lost."""
        return self._restarts.are_due(now) or any(runner.is_spent for runner in self.fleet.runners.values())

    def ask_back(self) -> None:
        """Ask every runner for the orders that it has not begun, and start no runner any more."""
        self._may_restart = False
        self._nursery.stop()
        for runner in self.fleet.runners.values():
            runner.say("give_back")
            self._watch(runner)

    def cancel(self, flights: Sequence[Flight]) -> None:
        """Have these jobs stopped: a coroutine at its next await, a function when it looks; `check` does what is left.

        One that no runner was handed is given back, which cancels it.
        """
        for flight in flights:
            if flight in self.fleet.waiting:
                self.fleet.waiting.remove(flight)
                self.never_started.append(flight)
            for runner in self.fleet.runners.values():
                if flight.ticket in runner.flights and runner.phase is not Phase.DYING:
                    runner.say("cancel", flight.ticket)
                    self._watch(runner)

    def kill_busy(self, why: str) -> None:
        """Kill every runner that still holds a job: the worker leaves."""
        self._unheard_seconds = UNHEARD_AT_THE_END_SECONDS
        for runner in self.fleet.runners.values():
            if runner.flights and runner.phase is not Phase.DYING:
                runner.kill(why)

    def place(self, now: float, lease_margin: float) -> None:
        """Hand out what waits for a runner.

        A job that waits for long is let go, for another worker to take, and in any case before its lease ends.
        """
        self.never_started += self.fleet.take_late(now, lease_margin)
        self.fleet.release_reserved()
        if self.fleet.waiting:
            self.fleet.place()
            failpoint.hit("handed")
            for runner in self.fleet.runners.values():
                if runner.outgoing:
                    self._watch(runner)
            if self.fleet.waiting:
                self.never_started += self.fleet.take_impatient(now)

    def check(self, now: float, lease_margin: float) -> None:
        """Kill runners whose job is past its time limit or its lease, and start those whose wait is over."""
        self._nursery.look(now)
        for number in self._nursery.take_unheard(now, self._unheard_seconds):
            self._on_exit(number, None)
        if self._may_restart and self._nursery.is_silent(now, SILENT_SECONDS):
            self._replace_nursery()
        self._patrol.go_round(now, lease_margin)
        if self._service_never_comes(now):
            self.service.give_up()
        if self._may_restart:
            self._nursery.reopen(now)
        if not self._nursery.is_open:
            return
        if self._may_restart:
            for number in self._restarts.take_due(now):
                self._launch(number)
        self.service.turn()

    def take_events(self) -> None:
        """Take what the launcher has to say of processes."""
        for event in self._nursery.events():
            match event:
                case Started(number, pid):
                    self._on_start(number, pid)
                case NotStarted(number):
                    self._on_no_start(number)
                case Exited(number, code):
                    self._on_exit(number, code)
                case Broken(error):
                    self.broken = error
                case Gone():
                    self._lose_all()

    def close(self) -> None:
        """Kill whatever is left."""
        for runner in self.fleet.runners.values():
            runner.kill("the worker ends")
            self._wakeup.forget(runner.sock)
            runner.sock.close()
        self._nursery.close()

    def _replace_nursery(self) -> None:
        # What holds it up is no job's doing, as far as anyone can tell: no job comes nearer to its bound.
        why = "the process that starts runners did not answer, and was killed"
        for runner in self.fleet.runners.values():
            if runner.phase is not Phase.DYING:
                runner.kill(why, dict.fromkeys(runner.flights, Interrupted(Failure("", why), counted=False)))
        self._nursery.kill()

    def _service_never_comes(self, now: float) -> bool:
        if (runner := self.fleet.runners.get(SERVICE)) is None:
            return bool(self.broken) or not (self._may_restart or self._nursery.is_open)
        is_asked_for = runner.phase is Phase.STARTING and runner.pid is None
        return is_asked_for and not self._may_restart and self._nursery.is_silent(now, UNHEARD_SECONDS)

    def _lose_all(self) -> None:
        # What they held is accounted for, and each is started again.
        for number, runner in list(self.fleet.runners.items()):
            runner.phase = Phase.DYING
            runner.killed_why = runner.killed_why or "the process that starts runners died"
            self._on_exit(number, None)

    def _start_service(self) -> None:
        if self._nursery.is_open:
            self._launch(SERVICE)

    def _launch(self, number: int) -> None:
        if (ours := self._nursery.launch(number)) is None:
            self._wait_for_room(number)
            return
        is_service = number == SERVICE
        self.fleet.runners[number] = Runner(
            number=number,
            threads=0 if is_service else self._plan.threads,
            coroutines=0 if is_service else self._plan.coroutines,
            sock=ours,
        )
        self._watch(self.fleet.runners[number])

    def _watch(self, runner: Runner) -> None:
        self._wakeup.watch(runner.sock, partial(self._on_ready, runner), write=bool(runner.outgoing))

    def _on_ready(self, runner: Runner, _events: int) -> None:
        if runner.outgoing:
            runner.flush()
            if not runner.outgoing:
                self._watch(runner)
        try:
            if self._listen(runner) is not None:
                return
        except NONSENSE as error:
            # A task wrote into the socket. What else is damaged nobody knows, so this is a death like any other
            # that has no cause. One that is dying has a cause.
            if runner.phase is not Phase.DYING:
                logger.warning(
                    "runner %s (pid %s) makes no sense any more (%s); it is killed", runner.number, runner.pid, error
                )
                runner.kill("")
        # Or its end of the socket is closed. Mostly it is dead; what that means is known when its exit is. If a task
        # has closed the socket, no word reaches it any more, and it has no right to run.
        self._wakeup.forget(runner.sock)
        if runner.phase is Phase.READY:
            runner.kill("")

    def _listen(self, runner: Runner) -> int | None:
        """Take in what a runner has said, and say how many messages that was; None when it will say no more.

        None of them is whole while a large one is on its way, or when there was only room to write. Raises NONSENSE.
        """
        payloads = runner.receive()
        if payloads is None:
            return None
        self._hear(runner, payloads)
        return len(payloads)

    def _hear(self, runner: Runner, payloads: list[bytes]) -> None:
        if not payloads:
            return
        for message in json.loads(b"[" + b",".join(payloads) + b"]"):
            match message:
                case ["done", ticket, seconds, words]:
                    outcome = read_outcome(words)
                    if (flight := runner.take_ended(ticket)) is not None:
                        self.reports.append(Report(flight, outcome, seconds))
                        self._restarts.worked(runner.number)
                case ["taken", ticket]:
                    runner.note_taken(ticket)
                case ["begun", ticket]:
                    runner.note_begun(ticket)
                case ["committed", ticket]:
                    runner.note_committed(ticket)
                case ["returned", tickets]:
                    self.never_started += runner.take_returned(tickets)
                case ["ready"]:
                    runner.phase = Phase.READY if runner.phase is Phase.STARTING else runner.phase
                    self.has_new_room = self.was_ready = True
                    self._restarts.started()
                    self._oom.forget(clock.now())
                    self._recycling.started(runner)
                case ["worn_out", why]:
                    runner.worn_out = why
                    logger.warning("runner %s is replaced when its jobs have ended: %s", runner.number, why)
                case ["told", count]:
                    self.service.note_told(count)
                    self._restarts.worked(runner.number)
                case ["broken", error]:
                    self.broken = error

    def _on_start(self, number: int, pid: int) -> None:
        runner = self.fleet.runners[number]
        runner.pid, runner.started_at = pid, clock.now()
        # Its own word, that it is ready, comes another way and may be here before.
        self._recycling.measure(runner)
        if runner.phase is Phase.DYING:
            runner.kill_group()

    def _on_no_start(self, number: int) -> None:
        if (runner := self.fleet.runners.pop(number, None)) is not None:
            self._wakeup.forget(runner.sock)
            runner.sock.close()
        self._wait_for_room(number)

    def _wait_for_room(self, number: int) -> None:
        self._start_after(self._restarts.start_failed(), number)

    def _on_exit(self, number: int, code: int | None) -> None:
        runner = self.fleet.runners.pop(number, None)
        if runner is None:
            return
        if code is None:
            # Whoever should have reaped it, and killed what its jobs have started, is stopped, or dead like it.
            runner.kill_group()
        # What it managed to say before it died still counts. Not until the end of the socket: a program that a job has
        # started may hold it open.
        with suppress(*NONSENSE):
            while self._listen(runner):
                pass
        self._wakeup.forget(runner.sock)
        runner.sock.close()
        if number == SERVICE:
            self.service.note_death()
        self._report_death(runner, code)
        self._schedule_restart(runner)

    def _report_death(self, runner: Runner, code: int | None) -> None:
        begun, never_started = tell_apart(runner)
        self.never_started += never_started
        how = "" if runner.killed_why else cause(code, self._oom)
        if how and (begun or runner.phase is Phase.STARTING):
            jobs = ", ".join(str(flight.claimed.id) for flight in begun) or "none"
            logger.warning("runner %s (pid %s) died: %s; jobs in it: %s", runner.number, runner.pid, how, jobs)
        self.reports += [Report(flight, fate(flight, runner, begun, how), 0.0) for flight in begun]

    def _schedule_restart(self, runner: Runner) -> None:
        delay = 0.0
        if runner.phase is Phase.STARTING:
            delay = self._restarts.start_failed()
        elif not runner.killed_why:
            delay = self._restarts.died(runner.number)
            if delay:
                logger.warning("runner %s died again; it is started again in %.1f s", runner.number, delay)
        self._start_after(delay, runner.number)

    def _start_after(self, delay: float, number: int) -> None:
        if number == SERVICE:
            self.service.wait(clock.now() + delay)
        elif self._may_restart:
            self._restarts.set(number, clock.now() + delay)
