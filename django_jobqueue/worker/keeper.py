"""The keeper: the loop that all of a worker turns around.

It waits in one place and never blocks in another. A turn takes in what has happened to processes, runners and the
database, passes what has ended to the exchange and what was claimed to the crew, and lets each decide what is next.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable

from django_jobqueue import failpoint
from django_jobqueue.exceptions import JobQueueError
from django_jobqueue.policy.outcomes import Committed, Interrupted
from django_jobqueue.registry import Registry
from django_jobqueue.worker import clock
from django_jobqueue.worker.crew import Crew
from django_jobqueue.worker.exchange import Exchange
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.plan import WorkerPlan, counted
from django_jobqueue.worker.receivers import anyone_listens
from django_jobqueue.worker.scribe import Scribe
from django_jobqueue.worker.wakeup import Wakeup

logger = logging.getLogger("django_jobqueue.worker")

CHECK_SECONDS = 0.05
"""How often time limits and leases are looked at, while a job is in hand."""

EXIT_SECONDS = 1.0
"""After its grace a worker gives the database this long to take what it knows; then leases run out instead."""

GATHER_SECONDS = 0.001
"""While the database is busy outcomes are taken in together that arrive within this long: none can be written yet."""

LEASE_MARGIN = 0.2
"""The part of a lease that is kept in reserve.

A job whose lease could not be renewed is stopped that much before its end.
"""


class WorkerFailed(JobQueueError):
    """The worker cannot go on, and trying again would not help."""


class Keeper:
    """One worker. `run` is its life."""

    def __init__(self, plan: WorkerPlan, registry: Registry, say: Callable[[str], object] | None = None) -> None:
        """Make a worker. `say` is told, in a line, what a person in front of it should know."""
        self._plan = plan
        self.scribe = Scribe()
        self._say = self.scribe.later(say or (lambda _line: None))
        self._card = plan.card(registry)
        self._wakeup = Wakeup()
        self._crew = Crew(plan, self._wakeup)
        self._exchange = Exchange(plan, registry, self._card, self._crew.fleet, self._wakeup)
        self._lease_margin = plan.options.lease_seconds * LEASE_MARGIN
        self._tells = anyone_listens()
        self._stop_signals = 0
        self._kill_at: float | None = None
        self._check_at = 0.0
        self._error = ""
        self._handed_back = 0

    def run(self) -> None:
        """Work until told to stop, idle or done, as the plan says. Raises WorkerFailed.

        The first SIGTERM or SIGINT lets running jobs end within the grace; the second leaves within two seconds. Code
        that imports no longer, when a runner is to be replaced, is as the first.
        """
        self.scribe.open()
        try:
            self._work()
        finally:
            self.scribe.close()
        if error := self._error or self._crew.broken:
            raise WorkerFailed(error)

    def _work(self) -> None:
        self._say(f"Worker of {self._plan.summary}. Stop it with Ctrl-C.")
        self._wakeup.catch((signal.SIGTERM, signal.SIGINT), self._count_signal)
        self._wakeup.catch((signal.SIGCHLD,), lambda: None)
        logger.info("worker %s starts (pid %d)", self._card.id, self._card.pid)
        try:
            self._crew.start()
            while not self._is_done():
                self._turn()
        finally:
            self._exchange.close()
            self._crew.close()
            self._wakeup.close()
        figures = f"attempts claimed: {self._exchange.claimed_count}, jobs handed back: {self._handed_back}"
        logger.info("worker %s stops; %s", self._card.id, figures)
        self._say(f"Stopped; {figures}.")

    @property
    def _is_stopping(self) -> bool:
        """Whether a person, or code that imports no longer, has asked for the end."""
        return self._stop_signals > 0 or (self._crew.was_ready and bool(self._crew.broken))

    def _turn(self) -> None:
        self._wakeup.wait(self._next_moment() - clock.now())
        now = clock.now()
        self._crew.take_events()
        if now >= self._check_at or self._crew.has_to_check(now):
            self._check_at = now + CHECK_SECONDS
            self._crew.check(now, self._lease_margin)
        self._stop_if_told(now)
        is_stream = bool(self._crew.reports)
        self._pass_on_reports()
        if self._crew.has_new_room:
            self._crew.has_new_room = False
            self._exchange.look_now()
        self._exchange.turn(now)
        if self._exchange.unwanted:
            self._crew.cancel(self._exchange.unwanted)
            self._exchange.unwanted.clear()
        if not self._is_stopping:
            self._crew.place(now, self._lease_margin)
        if self._exchange.ended:
            if self._tells:
                self._crew.service.tell(self._exchange.ended)
            self._exchange.ended.clear()
        # Code that imports no longer after it did is a deploy: what runs in the old processes may end there.
        self._error = self._exchange.error or ("" if self._crew.was_ready else self._crew.broken)
        if is_stream and self._exchange.is_asking:
            self._wakeup.rest(GATHER_SECONDS)

    def _next_moment(self) -> float:
        moment = min(self._exchange.next_moment(), clock.now() + 1.0)
        if self._crew.fleet.size or self._crew.is_restarting or self._crew.service.untold or self._is_stopping:
            moment = min(moment, self._check_at)
        return moment

    def _pass_on_reports(self) -> None:
        for report in self._crew.reports:
            failpoint.hit("heard")
            job = report.flight.claimed
            if report.seconds:
                self._exchange.pace.measure(job.task, report.seconds)
            if isinstance(report.outcome, Committed):
                self._exchange.note_committed(report.flight)
                continue
            self._handed_back += self._is_stopping and isinstance(report.outcome, Interrupted)
            self._exchange.settle_flight(report.flight, report.outcome)
        self._crew.reports.clear()
        self._give_back(self._crew.never_started)

    def _give_back(self, flights: list[Flight]) -> None:
        self._handed_back += len(flights) if self._is_stopping else 0
        self._exchange.give_back(flights)
        flights.clear()

    def _is_done(self) -> bool:
        if self._error:
            return True
        is_quiet = self._exchange.is_quiet and not self._crew.fleet.size and not self._crew.service.untold
        if self._kill_at is not None:
            return is_quiet or clock.now() > self._kill_at + EXIT_SECONDS
        if self._plan.max_jobs is not None and self._exchange.claimed_count >= self._plan.max_jobs:
            return is_quiet
        return self._plan.until_idle and self._exchange.is_drained and is_quiet

    def _count_signal(self) -> None:
        self._stop_signals += 1

    def _stop_if_told(self, now: float) -> None:
        if not self._is_stopping:
            return
        if self._kill_at is None:
            self._kill_at = now + self._plan.grace_seconds
            if self._crew.broken:
                logger.error("no runner can be started any more: the code does not import. The worker stops")
            logger.info("worker %s is asked to stop; jobs in hand: %d", self._card.id, self._crew.fleet.size)
            self._say(
                f"Stopping: {counted(self._crew.fleet.size, 'job')} in hand, with up to {self._plan.grace_seconds:g} s "
                "to end; once more leaves now."
            )
            self._exchange.claim_no_more()
            self._crew.ask_back()
        # A claim that was under way when the signal came may still bring jobs; none of them starts.
        self._give_back(self._crew.fleet.waiting)
        if self._stop_signals > 1:
            self._kill_at = min(self._kill_at, now)
        if now >= self._kill_at:
            self._crew.kill_busy("the worker was stopped before the job ended")
