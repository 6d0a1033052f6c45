"""When a worker looks at jobs under a rate.

To look costs a probe for each queue, task and key that has such jobs. So it is done when there may be a token, and with
a poll now and then: somebody may have enqueued the first job of a bucket that is full.
"""

from __future__ import annotations

from django_jobqueue.store.rates import Rates
from django_jobqueue.worker import clock

REST = 10
"""Between two looks that found nothing lies so many times what one took, if no token comes before."""

SWEEP_SECONDS = 60.0
"""How often buckets that have long been full are thrown away."""

SHUT_OUT_SECONDS = 0.02
"""So soon a worker looks again that was not let, because another one was at it."""


class RateWatch:
    """Knows whether jobs under a rate are ready, and when there may be a token for one."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self.has_rated = False
        """Whether there were any when this worker last asked."""
        self._due_at = self._rested_at = 0.0
        self._swept_at = -SWEEP_SECONDS

    def look(self, now: float, *, is_poll: bool) -> Rates | None:
        """Say by which rates to claim, if now is the time to."""
        is_time = now >= self._due_at or (is_poll and now >= self._rested_at)
        return self._rates if self.has_rated and is_time else None

    def wants_sweep(self, now: float) -> bool:
        """Say whether buckets are to be swept with this look."""
        if now < self._swept_at + SWEEP_SECONDS:
            return False
        self._swept_at = now
        return True

    def note(self, *, has_rated: bool) -> bool:
        """Note whether there are any; says whether that is news, so that they should be looked at soon."""
        is_news = has_rated and not self.has_rated
        self.has_rated = has_rated
        if is_news:
            self._due_at = 0.0
        return is_news

    def looked(self, next_seconds: float | None, seconds: float, *, is_ours: bool) -> float | None:
        """Note a look that took so long, with all that was in its call; says in how many seconds to look again."""
        now = clock.now()
        if not is_ours:
            self._due_at = now + SHUT_OUT_SECONDS
            return SHUT_OUT_SECONDS
        self._rested_at = now + REST * seconds
        if next_seconds is None:
            self._due_at = self._rested_at
            return None
        # What wakes a worker for a token leaves it time for others.
        wait = max(next_seconds, seconds) if next_seconds else 0.0
        self._due_at = now + wait
        return wait
