"""The four figures of a queue, and the counts around them.

- depth: the jobs that could start now
- oldest_ready_seconds: how long the oldest of them has been due
- failure_rate: the share of failed attempts among those that ended in the last hour
- dead: the dead letters that wait for a person

Beside them stands `unknown`: what no living worker can start, which is in none of the four until it dies of that.

Depth and age are about what is due by PostgreSQL's clock. A job for tomorrow is neither deep nor old; one that was due
a moment ago and has not been promoted yet is both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db import connections

from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.statement import Row, Statement, run_on
from django_jobqueue.watch.glance import glance

COUNT_CAP = 100_000
"""Jobs of a kind (ready, waiting, unknown, running) that are looked at. Beyond it a count is a lower bound, and says
so."""

LETTER_CAP = 10_000
"""The same for dead letters: each costs a look at its job, to learn the queue."""

NEWEST_ATTEMPTS = 10_000
"""Attempts, newest first, that the failure rate is taken from, if they ended within WINDOW_SECONDS: no index knows when
they ended.
"""

WINDOW_SECONDS = 3600

# What the guard leaves are walks along the indexes, each ended by its LIMIT, and a probe of a primary key for each
# letter and attempt.
_SETTINGS = PLAN_GUARD


@dataclass(frozen=True, slots=True)
class QueueStats:
    """One queue, or one task in a queue, or the sum of several (then `queue_name` is empty), at one moment.

    Jobs that wait for anything but a moment or a worker are not counted: no index holds them.
    """

    queue_name: str
    task: str = ""
    depth: int = 0
    """READY, or WAITING for a moment that has come."""
    oldest_ready_seconds: float = 0.0
    """How long the oldest job of `depth` has been due; 0 when there is none."""
    scheduled: int = 0
    """WAITING for a moment to come that the producer named."""
    retrying: int = 0
    """WAITING for the next attempt after a failure."""
    snoozed: int = 0
    """WAITING because the task asked for it."""
    unknown: int = 0
    """WAITING for a worker: no living one knows the task, or its version."""
    oldest_unknown_seconds: float = 0.0
    """How long ago the first of `unknown` was put aside; 0 when there is none."""
    running: int = 0
    dead: int = 0
    """OPEN dead letters."""
    attempts_ended: int = 0
    attempts_failed: int = 0
    """Those that were charged: failed, timed out, lost."""
    lower_bounds: frozenset[str] = frozenset()
    """Names of the counts that met their cap: there are at least so many."""

    @property
    def failure_rate(self) -> float | None:
        """Failed attempts among the ended ones, 0 to 1; None when none has ended.

        Of the newest 10,000 attempts of all queues, those that ended within the last hour. Snoozed, interrupted and
        cancelled ones have ended too, and not failed.
        """
        return self.attempts_failed / self.attempts_ended if self.attempts_ended else None


def queue_stats(using: str) -> list[QueueStats]:
    """Describe every queue that has a live job, an open letter, or an attempt in the last hour; by name."""
    by_queue: dict[str, list[QueueStats]] = {}
    for row in task_stats(using):
        by_queue.setdefault(row.queue_name, []).append(row)
    return [replace(total(rows), queue_name=name) for name, rows in sorted(by_queue.items())]


def task_stats(using: str) -> list[QueueStats]:
    """Describe every task in every queue, as `queue_stats` does; by queue, then task. One query.

    Raises OperationalError where even that takes longer than `glance` allows.
    """
    params = {
        "cap": COUNT_CAP,
        "letter_cap": LETTER_CAP,
        "newest_attempts": NEWEST_ATTEMPTS,
        "window_seconds": float(WINDOW_SECONDS),
    }
    with glance(using, settings=_SETTINGS):
        return run_on(connections[using], Statement("queue_stats", params, _read))


def total(stats: Iterable[QueueStats]) -> QueueStats:
    """Add up: counts are summed, the oldest is the oldest of all."""
    stats = list(stats)
    return QueueStats(
        queue_name="",
        oldest_ready_seconds=max((s.oldest_ready_seconds for s in stats), default=0.0),
        oldest_unknown_seconds=max((s.oldest_unknown_seconds for s in stats), default=0.0),
        lower_bounds=frozenset().union(*(s.lower_bounds for s in stats)),
        **{name: sum(getattr(s, name) for s in stats) for name in _COUNTS},
    )


_COUNTS = (
    "depth",
    "scheduled",
    "retrying",
    "snoozed",
    "unknown",
    "running",
    "dead",
    "attempts_ended",
    "attempts_failed",
)

_COUNTED_AS = {
    "ready": ("depth",),
    "due": ("depth",),
    "oldest": (),
    "time": ("scheduled",),
    "retry": ("retrying",),
    "snooze": ("snoozed",),
    "unknown": ("unknown",),
    "running": ("running",),
    "dead": ("dead",),
    "failed": ("attempts_ended", "attempts_failed"),
    "not_failed": ("attempts_ended",),
}


def _read(rows: list[Row]) -> list[QueueStats]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    ages: dict[tuple[str, str], float] = {}
    unknown_ages: dict[tuple[str, str], float] = {}
    seen: Counter[str] = Counter()
    for kind, queue_name, task, number, due_for_seconds in rows:
        seen[kind] += number
        place = counts.setdefault((queue_name, task), Counter())
        for name in _COUNTED_AS[kind]:
            place[name] += number
        of_kind = unknown_ages if kind == "unknown" else ages
        of_kind[queue_name, task] = max(of_kind.get((queue_name, task), 0.0), due_for_seconds or 0.0)
    bounds = _lower_bounds(seen)
    return [
        QueueStats(
            queue_name=key[0],
            task=key[1],
            oldest_ready_seconds=ages.get(key, 0.0),
            oldest_unknown_seconds=unknown_ages.get(key, 0.0),
            lower_bounds=bounds,
            **place,
        )
        for key, place in sorted(counts.items())
    ]


def _lower_bounds(seen: Counter[str]) -> frozenset[str]:
    bounds: set[str] = set()
    # The waiting are looked at by run_after: while one in the future was seen, all that are due were.
    if seen["ready"] >= COUNT_CAP or seen["due"] >= COUNT_CAP:
        bounds |= {"depth"}
    if seen["due"] + seen["time"] + seen["retry"] + seen["snooze"] >= COUNT_CAP:
        bounds |= {"scheduled", "retrying", "snoozed"}
    if seen["unknown"] >= COUNT_CAP:
        bounds |= {"unknown"}
    if seen["running"] >= COUNT_CAP:
        bounds |= {"running"}
    if seen["dead"] >= LETTER_CAP:
        bounds |= {"dead"}
    return frozenset(bounds)
