"""Limits and order, read off the jobs: who has a slot, for whom there is room, and what is before the next of a line.

There is no memory in it: what is taken is what is READY or RUNNING, as in the decision that a slot is a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from tests.model.state import JobState

Limits = Mapping[tuple[str, str], int]
"""What people have set, by kind and target."""

Scope = tuple[str, str, str | None]
"""What a limit is of: its kind, the backend, and the key, task or queue."""

Line = tuple[str, str | None]
"""Those who go one after the other: a backend and an order key."""


def limits_of(job: JobState, limits: Limits) -> Iterator[tuple[Scope, int]]:
    """Name what a job is under, and how many may run at once of each: what a person has set, or its own number."""
    under = [
        ("key", job.gates.concurrency_key, job.gates.key_limit),
        ("task", job.task, job.gates.task_limit),
        ("queue", job.queue, job.gates.queue_limit),
    ]
    for kind, target, declared in under:
        if target is not None and declared is not None:
            yield (kind, job.backend, target), limits.get((kind, target), declared)


def slots(jobs: Collection[JobState], limits: Limits) -> dict[Scope, list[tuple[JobState, int]]]:
    """List who has a slot, by what it is of, each with the number that holds for it."""
    taken = defaultdict(list)
    for job in jobs:
        if job.status in ("READY", "RUNNING"):
            for scope, at_once in limits_of(job, limits):
                taken[scope].append((job, at_once))
    return dict(taken)


def has_room(jobs: Collection[JobState], job: JobState, limits: Limits) -> bool:
    """Say whether each limit of a job has a slot left for it."""
    taken = slots(jobs, limits)
    return all(len(taken.get(scope, ())) < at_once for scope, at_once in limits_of(job, limits))


def before(jobs: Collection[JobState], line: Line) -> list[JobState]:
    """List what holds up the next of a line: who has its turn and is not over, and who died, and blocks until then."""
    return [
        job
        for job in jobs
        if (job.backend, job.gates.order_key) == line
        if job.status in ("READY", "RUNNING")
        or (job.status == "WAITING" and job.waiting_for != "order")
        or (job.status == "FAILED" and job.gates.order_blocks and job.letter == "OPEN")
    ]
