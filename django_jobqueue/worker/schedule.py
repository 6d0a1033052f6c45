"""When the keeper polls, rescues and renews next: moments on its own clock, each with jitter."""

from __future__ import annotations

import random

from django_jobqueue.conf import Options
from django_jobqueue.worker import clock

BURST_SECONDS, BURST_POLL_SECONDS = 0.2, 0.01
"""A NOTIFY is the first of a burst that is not all announced: a woken worker polls this often for this long."""

CHORES_WAIT_SECONDS = 1.25
"""Chores that are due wait so long for a poll to ride with."""

RENEW_REST_SECONDS = 0.25
"""However many people cancel jobs, what is held is not looked through more often than this."""


class Schedule:
    """The moments of the chores. A fresh one has everything due at once."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._burst_until = self._renewed_at = 0.0
        self.poll_at = self.rescue_at = 0.0
        self.renew_at = clock.now() + options.renew_seconds

    @property
    def chores_at(self) -> float:
        """When the chores are done without a poll."""
        return self.rescue_at + CHORES_WAIT_SECONDS

    def wake(self) -> None:
        """Poll now, and often for a little while."""
        now = clock.now()
        self.poll_at = now
        self._burst_until = now + BURST_SECONDS

    def poll_again(self) -> None:
        """Poll at the next turn: there is more than was found, or a poll that was sent came to nothing."""
        self.poll_at = clock.now()

    def expect(self, next_due_seconds: float | None) -> None:
        """Poll when the next job falls due, if that is before the next poll."""
        if next_due_seconds is not None:
            self.poll_at = min(self.poll_at, clock.now() + max(0.0, next_due_seconds) + 0.002)

    def polled(self, now: float) -> None:
        """Note a poll and set the next one."""
        self.poll_at = now + (BURST_POLL_SECONDS if now < self._burst_until else jittered(self._options.poll_seconds))

    def rescued(self, now: float) -> None:
        """Note a look for expired leases and set the next one."""
        # It is due a poll earlier, because it waits for one to ride with.
        seconds = jittered(self._options.rescue_seconds)
        self.rescue_at = now + max(seconds / 2, seconds - self._options.poll_seconds)

    def rescue_again(self) -> None:
        """Do the chores with the next poll: there is more than was found, or the call that had them came to nothing."""
        self.rescue_at = min(self.rescue_at, clock.now())

    def renewed(self, now: float) -> None:
        """Note a renewal and set the next one."""
        self._renewed_at = now
        self.renew_at = now + self._options.renew_seconds

    def renew_now(self) -> None:
        """Renew at the next turn, or after a short rest."""
        self.renew_at = min(self.renew_at, self._renewed_at + RENEW_REST_SECONDS)

    def postpone_rescue(self, seconds: float) -> None:
        """Rescue nothing for a while: after an outage the other workers have not had time to renew either."""
        self.rescue_at = max(self.rescue_at, clock.now() + seconds)


def jittered(seconds: float) -> float:
    """Spread a period over a fifth of itself, so that workers started together do not poll together."""
    return seconds * (0.9 + random.random() / 5)  # noqa: S311 - jitter is no secret
