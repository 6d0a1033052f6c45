"""Put aside what no worker knows, take it back when one does, and bury what nobody has known for too long.

A job is known by its task and version. Attempts are not touched: nobody has run it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django_jobqueue.store.claim import ALL_ONE, Serving, known_tasks, served_queues
from django_jobqueue.store.statement import Row, Statement

LIMIT = 1000
"""Jobs that one statement takes back at most."""

ALIVE_SECONDS = 60.0
"""A worker that was heard of so long ago counts as living: rather a job stays READY than that it goes to and fro."""


class Parked(NamedTuple):
    """So many jobs of a task, in a version, wait for a worker."""

    task: str
    version: int
    jobs: int


class BuriedUnknown(NamedTuple):
    """A job that nobody has known for too long."""

    id: int
    task: str
    reason: str


def park(
    *,
    backend: str,
    tasks: Sequence[str],
    versions: Mapping[str, int] = ALL_ONE,
    serving: Serving,
    older_than_seconds: float = 5.0,
    limit: int = 200,
) -> Statement[frozenset[str]]:
    """Look among the first `limit` ready jobs for those that are not known here and due for longer than that.

    What no living worker knows is parked. Answers with the names of all that is not known here; a task of which only
    older versions are known is named with the version that is missing, as in `shop.charge v3`. Jobs of queues that
    are not served are somebody else's to know.
    """
    params = {
        "backend": backend,
        **known_tasks(tasks, versions),
        **served_queues(serving),
        "older_than_seconds": older_than_seconds,
        "alive_seconds": ALIVE_SECONDS,
        "limit": limit,
    }
    return Statement("park", params, _names, "known_elsewhere")


def unpark(
    *, backend: str, tasks: Sequence[str], versions: Mapping[str, int] = ALL_ONE, limit: int = LIMIT
) -> Statement[list[str]]:
    """Take back what is known here, at most `limit` jobs; answers with the queue of each."""
    params = {
        "backend": backend,
        **known_tasks(tasks, versions),
        "limit": limit,
    }
    return Statement("unpark", params, _queues)


def parked(
    *, backend: str, tasks: Sequence[str], versions: Mapping[str, int] = ALL_ONE, limit: int = 10_000
) -> Statement[list[Parked]]:
    """Count what waits for a worker, and neither this one knows nor another that lives; the most of a kind first.

    Looks at `limit` jobs at most.
    """
    params = {
        "backend": backend,
        **known_tasks(tasks, versions),
        "alive_seconds": ALIVE_SECONDS,
        "limit": limit,
    }
    return Statement("parked", params, _parked, "known_elsewhere")


def bury_parked(
    *,
    backend: str,
    tasks: Sequence[str],
    versions: Mapping[str, int] = ALL_ONE,
    after_seconds: float,
    limit: int = 100,
) -> Statement[list[BuriedUnknown]]:
    """Bury what has been parked for longer than that: `unknown_version` where the task is known here.

    What this worker knows, or another one that lives, waits only to be taken back.
    """
    params = {
        "backend": backend,
        **known_tasks(tasks, versions),
        "after_seconds": after_seconds,
        "alive_seconds": ALIVE_SECONDS,
        "limit": limit,
    }
    return Statement("bury_parked", params, _buried, "known_elsewhere")


def _names(rows: list[Row]) -> frozenset[str]:
    return frozenset(row[0] for row in rows)


def _queues(rows: list[Row]) -> list[str]:
    return [row[0] for row in rows]


def _parked(rows: list[Row]) -> list[Parked]:
    return sorted((Parked(*row) for row in rows), key=lambda each: (-each.jobs, each))


def _buried(rows: list[Row]) -> list[BuriedUnknown]:
    return [BuriedUnknown(*row) for row in rows]
