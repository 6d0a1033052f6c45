"""Whether the database can be reached, and when to try again.

Back-off with jitter, one line in the log for each change.
"""

from __future__ import annotations

import logging
import random
import re

from django_jobqueue.worker import clock

logger = logging.getLogger("django_jobqueue.worker")

FIRST_SECONDS, MAX_SECONDS = 0.1, 1.0

_FOR_A_PERSON = re.compile(
    r"FATAL: .*(database .* does not exist|no such database|role .* (does not exist|is not permitted to log in)"
    r"|authentication failed|no pg_hba\.conf entry|no such user)"
)
"""What no waiting cures, in the words of PostgreSQL and PgBouncer: libpq tells no SQLSTATE of a refused connection."""


def apart_seconds(longest_try_seconds: float) -> float:
    """Say how long after a try that fails the next one begins at the latest, counted from the beginning of each."""
    return max(MAX_SECONDS, longest_try_seconds + FIRST_SECONDS)


class Outage:
    """The state of the line to the database."""

    def __init__(self) -> None:
        self._tries = 0
        self._began_at = 0.0
        self._was_reached = False
        self.retry_at = 0.0

    @property
    def is_on(self) -> bool:
        """Whether the last call failed to reach the database."""
        return self._tries > 0

    def may_try(self, now: float) -> bool:
        """Whether a call may be made now."""
        return now >= self.retry_at

    def failed(self, error: Exception, seconds: float = 0.0) -> None:
        """Note a call that failed after so many seconds, and wait a little longer each time.

        Where nobody answers the try itself has taken the time that is to pass between two.
        """
        now = clock.now()
        if not self._tries:
            self._began_at = now
            logger.warning("the database cannot be used: %s; %s", in_a_line(error), self._what_now(error))
        wait = max(FIRST_SECONDS, min(MAX_SECONDS, FIRST_SECONDS * 2 ** min(self._tries, 10)) - seconds)
        self._tries += 1
        self.retry_at = now + wait * (0.5 + random.random() / 2)  # noqa: S311 - jitter is no secret

    def ended(self) -> None:
        """Note a call that succeeded."""
        if self._tries:
            logger.warning("the database is back after %.1f s", clock.now() - self._began_at)
        self._tries = 0
        self._was_reached = True
        self.retry_at = 0.0

    def _what_now(self, error: Exception) -> str:
        # Later it may be a server that is being moved, and is itself again in a moment.
        if not self._was_reached and _FOR_A_PERSON.search(in_a_line(error)):
            return "no waiting cures that: mend DATABASES, or make what it names; until then it is tried again"
        return "it is tried again, about once a second"


def in_a_line(error: Exception) -> str:
    """Put an error into one line: libpq's have several."""
    return " ".join(str(error).split()) or type(error).__name__
