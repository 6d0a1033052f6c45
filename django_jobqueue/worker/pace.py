"""How long tasks take, so that short ones may be claimed a little ahead.

A job of microseconds costs more to fetch than to run. For tasks that have shown to be short, a runner may hold up
to 50 ms of work; any other job is claimed when a slot can start it. A task nobody has seen yet counts as long, and so
does one with a circuit breaker: what a slot holds ahead is burnt when the dependency goes down.
"""

from __future__ import annotations

from collections.abc import Collection

SHORT_SECONDS = 0.010
"""A task is short when its runs take less than this on average."""

AHEAD_SECONDS = 0.050
"""How much work of short tasks a slot may hold."""

MAX_AHEAD = 500
"""How many jobs of short tasks a slot may hold, however short they are."""

_WEIGHT = 0.2


class Pace:
    """A moving average of each task's run time."""

    def __init__(self, never_ahead: Collection[str] = ()) -> None:
        self._seconds: dict[str, float] = {}
        self._never_ahead = never_ahead

    def measure(self, task: str, seconds: float) -> None:
        """Learn from one run. A long run counts at once, a short one bit by bit."""
        if task in self._never_ahead:
            return
        known = self._seconds.get(task)
        if known is None or seconds >= SHORT_SECONDS > known:
            self._seconds[task] = seconds
        else:
            self._seconds[task] = known + _WEIGHT * (seconds - known)

    def is_short(self, task: str) -> bool:
        """Whether runs of `task` take less than SHORT_SECONDS."""
        return self._seconds.get(task, SHORT_SECONDS) < SHORT_SECONDS

    def ahead(self) -> int:
        """Say how many jobs of short tasks a slot may hold: AHEAD_SECONDS of the slowest of them."""
        short = [seconds for seconds in self._seconds.values() if seconds < SHORT_SECONDS]
        if not short:
            return 0
        return max(1, min(MAX_AHEAD, int(AHEAD_SECONDS / max(*short, AHEAD_SECONDS / MAX_AHEAD))))
