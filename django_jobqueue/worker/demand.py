"""What a worker claims next.

For free slots any job it knows, of short tasks some more, and coroutines by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from uuid import UUID

from django_jobqueue.registry import Registry
from django_jobqueue.store.claim import Claimed, claim
from django_jobqueue.store.statement import Statement
from django_jobqueue.store.unknown_tasks import unknown_tasks
from django_jobqueue.worker import clock
from django_jobqueue.worker.fleet import Fleet, Room
from django_jobqueue.worker.pace import Pace
from django_jobqueue.worker.plan import WorkerPlan

SLOW_SECONDS = 0.2
"""A claim in order that takes longer reads past the jobs of others: the next ones go by group."""

BY_GROUP_SECONDS, MAX_BY_GROUP_SECONDS = 30.0, 900.0
"""So long claims go by group before one is tried in order again, the second time twice as long, and so on."""


class Kind(Enum):
    """What a claim is for."""

    ANY = "any function, for a free slot"
    SHORT = "short functions, a little ahead"
    COROUTINES = "coroutines"


class Demand:
    """Turns the room in a fleet into claims."""

    def __init__(self, plan: WorkerPlan, registry: Registry, pace: Pace, worker_id: UUID) -> None:
        self._plan, self._pace, self._worker_id = plan, pace, worker_id
        self._serving = plan.serving
        self._functions = registry.functions()
        self._coroutines = frozenset(registry.coroutines())
        self._found: set[Kind] = set()
        self._by_group_until, self._by_group_seconds = 0.0, BY_GROUP_SECONDS

    def unknown_tasks(self) -> Statement[frozenset[str]]:
        """Ask which tasks are due that this worker does not know."""
        known = [*self._functions, *self._coroutines]
        return unknown_tasks(backend=self._plan.backend, tasks=known, serving=self._serving)

    def claims(
        self, fleet: Fleet, limit: int, token: UUID, *, is_poll: bool
    ) -> tuple[list[Statement[list[Claimed]]], int]:
        """Write the claims for what `fleet` has room for, `limit` jobs at most; says how many jobs they ask for.

        A claim that finds nothing has read every ready job. So the ones for coroutines and for more short jobs go with
        a poll, and between polls only while they find something.
        """
        claims: list[Statement[list[Claimed]]] = []
        wanted = 0
        for kind, names, number in self._wishes(fleet):
            if kind is not Kind.ANY and not is_poll and kind not in self._found:
                continue
            if names and (share := min(number, limit - wanted)) > 0:
                wanted += share
                claims.append(self._claim(names, share, token))
        return claims, wanted

    def note(self, claimed: Sequence[Claimed], seconds: float) -> None:
        """Note which kinds of job were found, and how long it took."""
        if seconds > SLOW_SECONDS:
            self.note_slow()
        elif not self._goes_by_group:
            self._by_group_seconds = BY_GROUP_SECONDS
        self._found = {
            Kind.COROUTINES if job.task in self._coroutines else Kind.SHORT
            for job in claimed
            if job.task in self._coroutines or self._pace.is_short(job.task)
        }

    def note_slow(self) -> None:
        """Note that a claim took too long."""
        if self._goes_by_group:
            return
        self._by_group_until = clock.now() + self._by_group_seconds
        self._by_group_seconds = min(MAX_BY_GROUP_SECONDS, 2 * self._by_group_seconds)

    @property
    def _goes_by_group(self) -> bool:
        return clock.now() < self._by_group_until

    def _wishes(self, fleet: Fleet) -> list[tuple[Kind, Sequence[str], int]]:
        room = fleet.room(self._pace.ahead())
        if room.functions + room.ahead < fleet.size // 4:
            # A stream of short jobs: a claim for the few that have just ended would cost as much as one for hundreds.
            room = Room(0, 0, room.coroutines)
        coroutines = (Kind.COROUTINES, tuple(self._coroutines), room.coroutines)
        short = tuple(name for name in self._functions if self._pace.is_short(name))
        if len(short) == len(self._functions):
            return [(Kind.ANY, self._functions, room.functions + room.ahead), coroutines]
        return [(Kind.ANY, self._functions, room.functions), (Kind.SHORT, short, room.ahead), coroutines]

    def _claim(self, names: Sequence[str], limit: int, token: UUID) -> Statement[list[Claimed]]:
        return claim(
            backend=self._plan.backend,
            tasks=names,
            serving=self._serving,
            limit=limit,
            token=token,
            worker_id=self._worker_id,
            lease_seconds=self._plan.options.lease_seconds,
            by_group=self._goes_by_group,
        )
