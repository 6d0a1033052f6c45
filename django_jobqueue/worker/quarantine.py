"""Whether a worker asks for suspects, and for how long it keeps a runner free for one.

A suspect, which may have taken a process down, runs alone in an empty runner. Where none is empty one takes nothing
more until it is, or a stream of jobs would keep a suspect away for ever. But it may stay as busy as it is for hours,
while another worker is idle. So that is tried for a second, then the suspect goes back for others to take, and no
other is asked for during some time; then it is tried for twice as long.
"""

from __future__ import annotations

from django_jobqueue.worker.child import PATIENCE_SECONDS

MAX_SECONDS = 600.0
"""The longest time that a runner is kept free."""

REST = 4.0
"""After a runner was kept free in vain, no suspect is asked for during so many times as long."""


class Quarantine:
    """What a worker has learned of its chances to place a suspect. Moments are the caller's clock."""

    def __init__(self) -> None:
        self.patience = PATIENCE_SECONDS
        self._closed_until = 0.0

    def is_open(self, now: float) -> bool:
        """Whether to ask for suspects though no runner is empty."""
        return now >= self._closed_until

    def placed(self) -> None:
        """Note that a suspect has found an empty runner."""
        self.patience, self._closed_until = PATIENCE_SECONDS, 0.0

    def failed(self, now: float) -> None:
        """Note that none has become empty in time."""
        self._closed_until = now + REST * self.patience
        self.patience = min(MAX_SECONDS, 2 * self.patience)
