"""When a runner that ended is started again.

One death is an accident: its slot is replaced at once. A runner that dies again and again without ending a single
attempt between is not started in a tight loop: the wait doubles with each death. It stays short, because the jobs that
wait are not the ones to blame; one that does not even get ready is waited for longer.
"""

from __future__ import annotations

FIRST_SECONDS = 0.1

MAX_DEATH_SECONDS = 1.0
"""The longest wait after deaths in a row."""

MAX_START_SECONDS = 10.0
"""The longest wait after starts in a row that failed."""


class Restarts:
    """The runners that wait to be started again, by their numbers. Moments are the caller's clock."""

    def __init__(self) -> None:
        self._at: dict[int, float] = {}
        self._deaths: dict[int, int] = {}
        self._failed_starts = 0

    @property
    def are_pending(self) -> bool:
        """Whether a runner waits."""
        return bool(self._at)

    def are_due(self, now: float) -> bool:
        """Whether the wait of one is over."""
        return any(at <= now for at in self._at.values())

    def start_failed(self) -> float:
        """Note a process that ended before it was ready, and say how long to wait."""
        self._failed_starts += 1
        return _doubled(self._failed_starts, MAX_START_SECONDS)

    def started(self) -> None:
        """Note a runner that is ready."""
        self._failed_starts = 0

    def worked(self, number: int) -> None:
        """Note that an attempt came to an orderly end in a runner."""
        self._deaths.pop(number, None)

    def died(self, number: int) -> float:
        """Note the death of a runner that was ready, and say how long to wait."""
        deaths = self._deaths[number] = self._deaths.get(number, 0) + 1
        return _doubled(deaths - 1, MAX_DEATH_SECONDS) if deaths > 1 else 0.0

    def set(self, number: int, at: float) -> None:
        """Have a runner started at a moment."""
        self._at[number] = at

    def take_due(self, now: float) -> list[int]:
        """Take the runners whose moment has come."""
        due = [number for number, at in self._at.items() if at <= now]
        for number in due:
            del self._at[number]
        return due


def _doubled(times: int, cap_seconds: float) -> float:
    return min(cap_seconds, FIRST_SECONDS * 2.0 ** min(times - 1, 10))
