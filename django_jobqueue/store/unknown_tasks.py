"""Name tasks that are due and that nobody here knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django_jobqueue.store.claim import ALL_ONE, Serving, known_versions
from django_jobqueue.store.statement import Row, Statement, text_array


def unknown_tasks(
    *,
    backend: str,
    tasks: Sequence[str],
    versions: Mapping[str, int] = ALL_ONE,
    serving: Serving,
    older_than_seconds: float = 5.0,
    limit: int = 200,
) -> Statement[frozenset[str]]:
    """Look among the first `limit` ready jobs for tasks that are not among `tasks`, due for longer than that.

    A task of which only older versions are known is named with the version that is missing, as in `shop.charge v3`.
    Jobs of queues that are not served are somebody else's to know.
    """
    params = {
        "backend": backend,
        "tasks": text_array(tasks),
        "versions": known_versions(tasks, versions),
        "served": text_array(serving.served) if serving.served else None,
        "excluded": text_array(serving.excluded) if serving.excluded else None,
        "older_than_seconds": older_than_seconds,
        "limit": limit,
    }
    return Statement("unknown_tasks", params, _read)


def _read(rows: list[Row]) -> frozenset[str]:
    return frozenset(row[0] for row in rows)
