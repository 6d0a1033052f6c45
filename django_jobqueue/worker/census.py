"""When what lies under depth limits is counted, and how much of it at a time."""

from __future__ import annotations

from django_jobqueue.store.depth import RECOUNT_SCOPES
from django_jobqueue.worker.calls import Count

COUNT_SECONDS, MAX_COUNT_SECONDS = 2.0, 120.0
"""Time between two counts."""

COUNT_SHARE = 0.02
"""The part of a worker's time with the database that counts may take."""


class Census:
    """The counts of a worker: none as long as there is no depth limit."""

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self._from: dict[str, str] = {}
        self._scopes = RECOUNT_SCOPES
        self._seconds = COUNT_SECONDS
        self._count_at = 0.0

    @property
    def moment(self) -> float | None:
        """When the next count is due, if one is."""
        return self._count_at if self._from else None

    def call(self, now: float) -> Count | None:
        """Make the call that is due, if one is."""
        if not self._from or now < self._count_at:
            return None
        self._count_at = now + self._seconds
        return Count(self._backend, dict(self._from), self._scopes)

    def heard(self, kinds: tuple[str, ...]) -> None:
        """Note which kinds of limits there are."""
        self._from = {kind: self._from.get(kind, "") for kind in kinds}

    def counted(self, from_targets: dict[str, str], seconds: float) -> None:
        """Note a count that took so long, and where the next one begins."""
        self._from |= {kind: target for kind, target in from_targets.items() if kind in self._from}
        self._scopes = min(RECOUNT_SCOPES, 2 * self._scopes)
        self._seconds = min(MAX_COUNT_SECONDS, max(COUNT_SECONDS, seconds / COUNT_SHARE))

    def failed(self) -> None:
        """Note a count that was not done in time: the next one is of less, and later."""
        self._scopes = max(1, self._scopes // 2)
        self._seconds = min(MAX_COUNT_SECONDS, 2 * self._seconds)
