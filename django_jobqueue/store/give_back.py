"""Give back claimed jobs that no runner was handed."""

from __future__ import annotations

from collections.abc import Sequence

from django_jobqueue.store.renew import Lease
from django_jobqueue.store.statement import Row, Statement, array


def give_back(leases: Sequence[Lease]) -> Statement[frozenset[int]]:
    """Make READY again, uncounted, what was claimed and never started; answers with the ids that it changed."""
    leases = sorted(leases)
    params = {
        "ids": array([str(lease.job_id) for lease in leases]),
        "tokens": array([str(lease.token) for lease in leases]),
    }
    return Statement("give_back", params, _read)


def _read(rows: list[Row]) -> frozenset[int]:
    return frozenset(row[0] for row in rows)
