"""The service runner: a runner without slots, in which receivers of `task_finished` are told what has ended.

It is started when there is something to tell.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from django_jobqueue.worker import clock
from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.fleet import Fleet

logger = logging.getLogger("django_jobqueue.worker")

SERVICE = -1
"""The number of the service runner."""

RECEIVER_SECONDS = 30.0
"""Receivers of `task_finished` get this long for what they were told; then their process is killed."""


class Service:
    """What receivers are still to be told of. `start` starts their runner, if it can, and `watch` has it heard."""

    def __init__(self, fleet: Fleet, start: Callable[[], None], watch: Callable[[Runner], None]) -> None:
        self._fleet, self._start, self._watch = fleet, start, watch
        self._line: list[int] = []
        self._start_at = 0.0
        self._told_at = 0.0
        self._in_hand = 0

    @property
    def untold(self) -> int:
        """How many ends the receivers were not told of yet."""
        return len(self._line) + self._in_hand

    def tell(self, job_ids: Sequence[int]) -> None:
        """Have the receivers told that these jobs have ended."""
        self._line += job_ids
        self.turn()

    def turn(self) -> None:
        """Hand over what waits; starts the runner if need be."""
        if not self._line:
            return
        if SERVICE not in self._fleet.runners and clock.now() >= self._start_at:
            self._start()
        runner = self._fleet.runners.get(SERVICE)
        if runner is None or runner.phase is Phase.DYING:
            return
        if not self._in_hand:
            self._told_at = clock.now()
        self._in_hand += len(self._line)
        runner.say("finished", self._line)
        self._line = []
        self._watch(runner)

    def wait(self, until: float) -> None:
        """Start no runner before a moment: the last one could not be started."""
        self._start_at = until
        self._in_hand = 0

    def note_told(self, count: int) -> None:
        """Take in that so many were told."""
        self._in_hand -= count
        self._told_at = clock.now()

    def note_death(self) -> None:
        """Take in that its process is gone, and with it what it had in hand: receivers are told at most once."""
        self._in_hand = 0

    def hangs(self, now: float) -> bool:
        """Whether a receiver has not returned for so long that its process must be killed; says so in the log."""
        if not self._in_hand or now <= self._told_at + RECEIVER_SECONDS:
            return False
        logger.error("a receiver of task_finished did not return: %d ends of jobs are not told", self._in_hand)
        return True
