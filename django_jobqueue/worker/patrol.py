"""The round that is made of the runners: which must be killed, and which must give back what waits in it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.fleet import Fleet
from django_jobqueue.worker.nursery import Nursery
from django_jobqueue.worker.recycling import Recycling
from django_jobqueue.worker.service import SERVICE, Service

logger = logging.getLogger("django_jobqueue.worker")


class Patrol:
    """Looks after runners that are alive. `watch` has one heard that was spoken to."""

    def __init__(
        self,
        fleet: Fleet,
        service: Service,
        recycling: Recycling,
        nursery: Nursery,
        watch: Callable[[Runner], None],
    ) -> None:
        self._fleet, self._service = fleet, service
        self._recycling, self._nursery, self._watch = recycling, nursery, watch

    def go_round(self, now: float, lease_margin: float) -> None:
        """Kill runners whose job is past its time limit or its lease, or that have done enough and are empty."""
        looks = self._recycling.is_due_to_look(now)
        for runner in self._fleet.runners.values():
            if runner.phase is Phase.DYING:
                continue
            if runner.phase is Phase.STARTING and runner.pid is not None:
                self._nursery.note_slow(now, runner.pid, runner.started_at)
            if runner.number == SERVICE and self._service.hangs(now):
                runner.kill("a receiver did not return")
                continue
            if overdue := runner.overdue(now, lease_margin):
                runner.kill("a job had to be stopped", overdue)
                continue
            if hung := runner.hung(now):
                logger.warning(
                    "runner %s (pid %s) is hung: a job that it has a slot for does not begin; it is killed with job %s",
                    runner.number,
                    runner.pid,
                    ", ".join(str(runner.flights[ticket].claimed.id) for ticket in hung),
                )
                runner.kill("it was hung", hung)
                continue
            runner.worn_out = runner.worn_out or self._recycling.verdict(runner, look_at_memory=looks)
            if runner.worn_out and not runner.flights and not (runner.number == SERVICE and self._service.is_busy):
                logger.debug("runner %s is replaced: %s", runner.number, runner.worn_out)
                runner.kill(runner.worn_out)
                continue
            self._let_go(runner, now, lease_margin)

    def _let_go(self, runner: Runner, now: float, lease_margin: float) -> None:
        """Take back what waits in a runner and should not: its lease is lost, or a long job is before it."""
        if runner.is_asked_back:
            return
        waiting = [flight for flight in runner.flights.values() if not flight.has_begun]
        if not waiting:
            return
        if (
            runner.worn_out
            or runner.holds_up(now)
            or any(flight.lease_until - lease_margin <= now for flight in waiting)
        ):
            runner.is_asked_back = True
            runner.say("give_back")
            self._watch(runner)
