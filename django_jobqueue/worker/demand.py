"""What a worker claims next.

For free slots any job it knows, of short tasks some more, and coroutines by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from uuid import UUID

from django_jobqueue.policy.breaker import Breaker
from django_jobqueue.registry import Registry
from django_jobqueue.store.breakers import LOOK_AT, probes_of
from django_jobqueue.store.claim import Claimed, claim
from django_jobqueue.store.park import bury_parked, park, parked, unpark
from django_jobqueue.store.statement import Statement
from django_jobqueue.worker import clock
from django_jobqueue.worker.calls import Probes, UnknownTasks
from django_jobqueue.worker.fleet import Fleet, Room
from django_jobqueue.worker.pace import Pace
from django_jobqueue.worker.plan import WorkerPlan

SLOW_SECONDS = 0.2
"""A claim in order that takes longer reads past the jobs of others: the next ones go by group."""

SLOW_BESIDE_PAUSES_SECONDS = 0.05
"""The same while something is paused: that it reads past the jobs of that is to be expected, and lasts."""

AGED_PART = 10
"""Of so many places one is for what has waited too long, and at least one of a claim that is its turn."""

ROW_SECONDS = 0.0005
"""So much of a call's time each row that it writes excuses."""

BY_GROUP_SECONDS, MAX_BY_GROUP_SECONDS = 30.0, 900.0
"""So long claims go by group before one is tried in order again, the second time twice as long, and so on."""


class Kind(Enum):
    """What a claim is for."""

    ANY = "any function, for a free slot, or what else has room there"
    SHORT = "short functions, a little ahead"
    COROUTINES = "coroutines"


class Demand:
    """Turns the room in a fleet into claims."""

    def __init__(self, plan: WorkerPlan, registry: Registry, pace: Pace, worker_id: UUID) -> None:
        self._plan, self._pace, self._worker_id = plan, pace, worker_id
        self._serving = plan.serving
        self._functions = registry.functions()
        self._coroutines = frozenset(registry.coroutines())
        self._versions = registry.versions()
        self.looks_at_parked = True
        """Whether the next chores say what waits for a worker that knows it: until it was heard once."""
        self.gives_credits = True
        """Whether claims give back the credits of depth limits: until it was heard that there are none."""
        self.has_aged = False
        """Whether the next claim is to give a part of its places to what has waited longest."""
        self._asked: set[Kind] = set()
        self._found: set[Kind] = set()
        self._went_by_group = False
        self._by_group_until, self._by_group_seconds = 0.0, BY_GROUP_SECONDS

    @property
    def can_serve(self) -> bool:
        """Whether there is any task that this worker would run."""
        return bool(self._functions or (self._coroutines and self._plan.coroutines))

    def chores(self) -> UnknownTasks:
        """Put aside what nobody knows, take back what is known here, and bury what nobody has known for too long."""
        known = [*self._functions, *self._coroutines]
        backend, versions = self._plan.backend, self._versions
        return UnknownTasks(
            park(backend=backend, tasks=known, versions=versions, serving=self._serving),
            unpark(backend=backend, tasks=known, versions=versions),
            bury_parked(
                backend=backend,
                tasks=known,
                versions=versions,
                after_seconds=self._plan.options.unknown_task_seconds,
            ),
            parked(backend=backend, tasks=known, versions=versions) if self.looks_at_parked else None,
        )

    def claims(
        self, fleet: Fleet, limit: int, token: UUID, *, is_poll: bool
    ) -> tuple[list[Statement[list[Claimed]]], int]:
        """Write the claims for what `fleet` has room for, `limit` jobs at most; says how many jobs they ask for.

        A claim that finds nothing has read every ready job. So the ones for coroutines and for more short jobs go with
        a poll, and between polls only while they find something.
        """
        claims: list[Statement[list[Claimed]]] = []
        wanted = 0
        self._asked.clear()
        now = clock.now()
        self._went_by_group = now < self._by_group_until
        suspects = fleet.may_ask_for_suspects(now)
        for kind, names, number in self._wishes(fleet):
            if kind is not Kind.ANY and not is_poll and kind not in self._found:
                continue
            if names and (share := min(number, limit - wanted)) > 0:
                wanted += share
                self._asked.add(kind)
                if kind is Kind.ANY and self.has_aged:
                    self.has_aged = False
                    aged = max(1, share // AGED_PART)
                    claims.append(self._claim(names, aged, token, suspects=suspects, by_group=False, ages=True))
                    share -= aged
                if share:
                    claims.append(self._claim(names, share, token, suspects=suspects, by_group=self._went_by_group))
        return claims, wanted

    def probes(
        self, fleet: Fleet, token: UUID, wanted: Sequence[tuple[Breaker, Sequence[str]]], limit: int
    ) -> list[Probes]:
        """Write the claims for a few jobs of each of these breakers, `limit` at most, where there is room for any.

        They come on top of what the others ask for, which would never leave them room: one that finds no free slot
        has the next one.
        """
        found = []
        room = fleet.room(self._pace.ahead()) if wanted else Room(0, 0, 0, 0)
        for breaker, tasks in wanted:
            functions = [name for name in tasks if name not in self._coroutines and room.functions + room.either]
            coroutines = [name for name in tasks if name in self._coroutines and room.coroutines + room.either]
            if (names := functions + coroutines) and limit > 0:
                claim = self._claim(names, LOOK_AT, token, suspects=False, by_group=True)
                probes = probes_of(claim, breaker, tasks, at_most=min(breaker.probes, limit))
                found.append(Probes(breaker.name, probes))
        return found

    def note(self, claimed: Sequence[Claimed], seconds: float, *, written: int, has_pauses: bool = False) -> None:
        """Note what the last claims found, and how long their call took, which wrote so many rows besides."""
        slow = SLOW_BESIDE_PAUSES_SECONDS if has_pauses else SLOW_SECONDS
        if seconds > slow + ROW_SECONDS * (written + len(claimed)):
            self.note_slow()
        elif not self._went_by_group:
            self._by_group_seconds = BY_GROUP_SECONDS
        found = {
            Kind.COROUTINES if job.task in self._coroutines else Kind.SHORT
            for job in claimed
            if job.task in self._coroutines or self._pace.is_short(job.task)
        }
        # What was not asked for, because there was no room, may still be there.
        self._found = (self._found - self._asked) | found

    def note_slow(self) -> None:
        """Note that the last claims took too long: the next ones go the other way."""
        if self._went_by_group:
            self._by_group_until = 0.0
            return
        self._by_group_until = clock.now() + self._by_group_seconds
        self._by_group_seconds = min(MAX_BY_GROUP_SECONDS, 2 * self._by_group_seconds)

    def _wishes(self, fleet: Fleet) -> list[tuple[Kind, Sequence[str], int]]:
        room = fleet.room(self._pace.ahead())
        if room.functions + room.ahead + room.either < fleet.stream // 4:
            # A stream of short jobs: a claim for the few that have just ended would cost as much as one for hundreds.
            room = Room(0, 0, room.coroutines)
        coroutines = (Kind.COROUTINES, tuple(self._coroutines), room.coroutines)
        short = tuple(name for name in self._functions if self._pace.is_short(name))
        either = (Kind.ANY, (*self._functions, *self._coroutines), room.either)
        if len(short) == len(self._functions):
            return [either, (Kind.ANY, self._functions, room.functions + room.ahead), coroutines]
        return [either, (Kind.ANY, self._functions, room.functions), (Kind.SHORT, short, room.ahead), coroutines]

    def _claim(
        self,
        names: Sequence[str],
        limit: int,
        token: UUID,
        *,
        suspects: bool,
        by_group: bool,
        ages: bool = False,
    ) -> Statement[list[Claimed]]:
        return claim(
            backend=self._plan.backend,
            tasks=names,
            serving=self._serving,
            limit=limit,
            token=token,
            worker_id=self._worker_id,
            lease_seconds=self._plan.options.lease_seconds,
            suspects=suspects,
            by_group=by_group,
            versions=self._versions,
            gives_credits=self.gives_credits,
            aging_seconds=self._plan.options.aging_seconds if ages else None,
        )
