"""The service runner: a runner without slots, in which receivers of `task_finished` are told what has ended.

It is started when there is something to tell.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

from django_jobqueue.worker import clock
from django_jobqueue.worker.child import Phase, Runner
from django_jobqueue.worker.fleet import Fleet

logger = logging.getLogger("django_jobqueue.worker")

SERVICE = -1
"""The number of the service runner."""

RECEIVER_SECONDS = 30.0
"""Receivers of `task_finished` get this long for a job; then their process is killed."""

AT_ONCE = 100
"""So many ends its runner has in hand. They are lost with it: receivers are told at most once."""

MAX_LINE = 100_000
"""So many ends wait at most, where jobs end faster than receivers return; beyond that the oldest are let go."""


class Service:
    """What receivers are still to be told of. `start` starts their runner, if it can, and `watch` has it heard."""

    def __init__(self, fleet: Fleet, start: Callable[[], None], watch: Callable[[Runner], None]) -> None:
        self._fleet, self._start, self._watch = fleet, start, watch
        self._line: deque[int] = deque()
        self._is_behind = False
        self._start_at = 0.0
        self._told_at = 0.0
        self._in_hand = 0

    @property
    def untold(self) -> int:
        """How many ends the receivers were not told of yet."""
        return len(self._line) + self._in_hand

    @property
    def is_busy(self) -> bool:
        """Whether its runner has some in hand."""
        return self._in_hand > 0

    def tell(self, job_ids: Sequence[int]) -> None:
        """Have the receivers told that these jobs have ended."""
        self._line += job_ids
        if len(self._line) > MAX_LINE:
            self._let_go()
        self.turn()

    def turn(self) -> None:
        """Hand over what waits, some of it at a time; starts the runner if need be."""
        if not self._line or self._in_hand > AT_ONCE // 2:
            return
        if SERVICE not in self._fleet.runners and clock.now() >= self._start_at:
            self._start()
        runner = self._fleet.runners.get(SERVICE)
        if runner is None or runner.phase is not Phase.READY or runner.worn_out:
            return
        if not self._in_hand:
            self._told_at = clock.now()
        portion = [self._line.popleft() for _ in range(min(len(self._line), AT_ONCE - self._in_hand))]
        self._in_hand += len(portion)
        self._is_behind = self._is_behind and bool(self._line)
        runner.say("finished", portion)
        self._watch(runner)

    def wait(self, until: float) -> None:
        """Start no runner before a moment: the last one could not be started, or died."""
        self._start_at = until

    def give_up(self) -> None:
        """Let go of all that waits: its runner cannot be started any more."""
        if self._line:
            logger.warning("receivers of task_finished are not told of %d ends of jobs", len(self._line))
            self._line.clear()

    def note_told(self, count: int) -> None:
        """Take in that so many were told."""
        self._in_hand -= count
        self._told_at = clock.now()
        self.turn()

    def note_death(self) -> None:
        """Take in that its process is gone, and with it what it had in hand."""
        self._in_hand = 0

    def hangs(self, now: float) -> bool:
        """Whether a receiver has not returned for so long that its process must be killed; says so in the log."""
        if not self._in_hand or now <= self._told_at + RECEIVER_SECONDS:
            return False
        logger.error("a receiver of task_finished did not return: %d ends of jobs are not told", self._in_hand)
        return True

    def _let_go(self) -> None:
        while len(self._line) > MAX_LINE:
            self._line.popleft()
        if not self._is_behind:
            self._is_behind = True
            logger.warning(
                "receivers of task_finished are slower than jobs end: more than %d ends wait, the oldest are not told",
                MAX_LINE,
            )
