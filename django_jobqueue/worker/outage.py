"""Whether the database can be reached, and when to try again.

Back-off with jitter, one line in the log for each change.
"""

from __future__ import annotations

import logging
import random

from django_jobqueue.worker import clock

logger = logging.getLogger("django_jobqueue.worker")

FIRST_SECONDS, MAX_SECONDS = 0.1, 1.0


class Outage:
    """The state of the line to the database."""

    def __init__(self) -> None:
        self._tries = 0
        self._began_at = 0.0
        self.retry_at = 0.0

    @property
    def is_on(self) -> bool:
        """Whether the last call failed to reach the database."""
        return self._tries > 0

    def may_try(self, now: float) -> bool:
        """Whether a call may be made now."""
        return now >= self.retry_at

    def failed(self, error: Exception) -> None:
        """Note a call that failed, and wait a little longer each time."""
        now = clock.now()
        if not self._tries:
            self._began_at = now
            logger.warning("the database cannot be used: %s", in_a_line(error))
        wait = min(MAX_SECONDS, FIRST_SECONDS * 2 ** min(self._tries, 10))
        self._tries += 1
        self.retry_at = now + wait * (0.5 + random.random() / 2)  # noqa: S311 - jitter is no secret

    def ended(self) -> None:
        """Note a call that succeeded."""
        if self._tries:
            logger.warning("the database is back after %.1f s", clock.now() - self._began_at)
        self._tries = 0
        self.retry_at = 0.0


def in_a_line(error: Exception) -> str:
    """Put an error into one line: libpq's have several."""
    return " ".join(str(error).split()) or type(error).__name__
