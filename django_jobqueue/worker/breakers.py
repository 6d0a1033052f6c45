"""What a worker knows of its circuit breakers: it counts how attempts end, and claims what they let it.

Counts are written with the cycle that settles the attempts, those of successes once in a while; and what follows from
them, once somebody's answer says how a breaker stands, with the next one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django_jobqueue.policy.breaker import Breaker, Change, Standing, State, judge, trips
from django_jobqueue.policy.outcomes import NO_FAILURE, Committed, Outcome
from django_jobqueue.registry import Registry
from django_jobqueue.store.breakers import Count, Probed, declare, standings
from django_jobqueue.store.statement import Statement
from django_jobqueue.worker import clock

logger = logging.getLogger("django_jobqueue.worker")

WRITE_SECONDS = 1.0
"""So often successes are counted while a breaker is closed; each failure is at once."""

AGAIN_SECONDS = 0.02
"""So soon a worker tries again whose turn it was not, because another one had the row."""


class Due(NamedTuple):
    """A change that follows from a standing."""

    name: str
    generation: int
    change: Change


@dataclass(frozen=True, slots=True)
class Notes:
    """What a cycle writes of breakers."""

    counts: Sequence[Count] = ()
    changes: Sequence[Due] = ()


NO_NOTES = Notes()


class Breakers:
    """The breakers of the tasks that a worker knows. One that knows none does nothing."""

    def __init__(self, registry: Registry) -> None:
        self._of = registry.breakers()
        self._rules = {breaker.name: breaker for breaker in self._of.values()}
        self._counts: dict[str, Count] = {}
        self._changes: dict[str, Due] = {}
        self._standings: dict[str, Standing] = {}
        self._generations: dict[str, int] = {}
        self._probe_at: dict[str, float] = {}
        self._has_found: set[str] = set()
        self._write_at = self._again_at = 0.0

    # --- What is written

    def note(self, task: str, outcome: Outcome | Committed, generation: int) -> None:
        """Count how an attempt ended, for the generation that it began in."""
        if (breaker := self._of.get(task)) is None or (tripped := trips(breaker, outcome)) is None:
            return
        # Another one may start in its place.
        self._has_found.add(breaker.name)
        failure = getattr(outcome, "failure", NO_FAILURE).exception_class if tripped else ""
        self._add(Count(breaker, generation, 1, int(tripped), failure))

    @property
    def writes_at(self) -> float | None:
        """When there is something to write that does not wait for a cycle; None is never."""
        return self._again_at if self._changes or any(map(self._is_urgent, self._counts.values())) else None

    def take(self, now: float) -> Notes:
        """Take what a cycle is to write; comes back by `put_back` if it was not."""
        if not (self._counts or self._changes) or now < self._again_at:
            return NO_NOTES
        is_time = now >= self._write_at
        counts = [count for count in self._counts.values() if is_time or self._is_urgent(count)]
        for count in counts:
            del self._counts[count.breaker.name]
        if is_time:
            self._write_at = now + WRITE_SECONDS
        notes = Notes(counts, tuple(self._changes.values()))
        self._changes.clear()
        return notes

    def put_back(self, notes: Notes) -> None:
        """Return what was not written. A change is decided anew, by whoever sees the counts."""
        for count in notes.counts:
            self._add(count)
        self._again_at = clock.now() + AGAIN_SECONDS

    # --- What is asked

    def declare(self) -> Statement[None] | None:
        """Make their rows."""
        return declare([*self._rules]) if self._rules else None

    def standings(self) -> Statement[list[Standing]] | None:
        """Ask how they stand, before claims."""
        return standings({task: breaker.name for task, breaker in self._of.items()}) if self._of else None

    def to_probe(self, now: float, *, is_poll: bool) -> list[tuple[Breaker, list[str]]]:
        """Name the breakers that may let a few jobs run, and the tasks of each.

        A claim for those goes with a poll, and between polls only while it finds something.
        """
        return [
            (self._rules[name], [task for task, breaker in self._of.items() if breaker.name == name])
            for name, standing in self._standings.items()
            if standing.is_limited and now >= self._probe_at[name] and (is_poll or name in self._has_found)
        ]

    # --- What is heard

    def heard(self, notes: Notes, counted: Sequence[Standing], changed: Sequence[bool]) -> bool:
        """Take in what was written; says whether there may be jobs to claim that could not be claimed before."""
        names = {standing.name for standing in counted}
        if missed := [count for count in notes.counts if count.breaker.name not in names]:
            self.put_back(Notes(missed))
        done = [due for due, is_ours in zip(notes.changes, changed, strict=True) if is_ours]
        for due in done:
            _tell(due)
        self._see(counted)
        has_closed = any(due.change.state is State.CLOSED for due in done)
        return has_closed or any(standing.state != State.CLOSED for standing in counted)

    def stand(self, found: Sequence[Standing]) -> float | None:
        """Take in how they stand; answers with the seconds until the first may be probed, 0.0 where one is news."""
        is_news = any(standing.is_limited and not self._knows(standing) for standing in found)
        self._see(found)
        if is_news:
            return 0.0
        # One whose time has come is asked for with the next poll: it may be that there is no room for its jobs.
        waits = [standing.probe_in_seconds or 0.0 for standing in found]
        return min((seconds for seconds in waits if seconds > 0.0), default=None)

    def probed(self, answers: Iterable[Probed | None], asked: Sequence[str], claimed: Iterable[str]) -> bool:
        """Take in which breakers were ours to probe, and the tasks of what was claimed; says whether all were."""
        are_all_ours = True
        for name, answer in zip(asked, answers, strict=True):
            if answer is None:
                are_all_ours = False
                continue
            self._generations[name] = answer.generation
            if answer.is_news:
                logger.info("circuit breaker %s is half-open: a few jobs of it are tried", name)
        found = {self._of[task].name for task in claimed if task in self._of}
        self._has_found = (self._has_found - {*asked}) | (found & {*asked})
        return are_all_ours

    @property
    def any_is_limited(self) -> bool:
        """Whether jobs may lie about that nobody takes."""
        return any(standing.is_limited for standing in self._standings.values())

    def generation_of(self, task: str) -> int:
        """Return the generation of the breaker of a job that was just claimed."""
        breaker = self._of.get(task)
        return self._generations.get(breaker.name, 0) if breaker is not None else 0

    def _knows(self, standing: Standing) -> bool:
        known = self._standings.get(standing.name)
        return known is not None and known.generation == standing.generation

    def _see(self, found: Sequence[Standing]) -> None:
        now = clock.now()
        for standing in found:
            self._standings[standing.name] = standing
            self._generations[standing.name] = standing.generation
            self._probe_at[standing.name] = _probe_at(standing, now)
            self._changes.pop(standing.name, None)
            if (change := judge(self._rules[standing.name], standing)) is not None:
                self._changes[standing.name] = Due(standing.name, standing.generation, change)

    def _add(self, count: Count) -> None:
        name = count.breaker.name
        before = self._counts.get(name)
        if before is None or before.generation < count.generation:
            self._counts[name] = count
        elif before.generation == count.generation:
            self._counts[name] = Count(
                count.breaker,
                count.generation,
                before.ended + count.ended,
                before.tripped + count.tripped,
                count.last_failure or before.last_failure,
            )

    def _is_urgent(self, count: Count) -> bool:
        standing = self._standings.get(count.breaker.name)
        return count.tripped > 0 or (standing is not None and standing.state != State.CLOSED)


def _probe_at(standing: Standing, now: float) -> float:
    if standing.state != State.OPEN:
        # Any moment: a turn's may be from before this was heard.
        return 0.0
    return float("inf") if standing.probe_in_seconds is None else now + standing.probe_in_seconds


def _tell(due: Due) -> None:
    if due.change.state is State.CLOSED:
        logger.info("circuit breaker %s is closed: %s", due.name, due.change.reason)
    else:
        logger.warning(
            "circuit breaker %s is open: %s; its jobs wait, the first are tried in %.0f s",
            due.name,
            due.change.reason,
            due.change.pause_seconds,
        )
