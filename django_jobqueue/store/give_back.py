"""Give back claimed jobs that no runner was handed."""

from __future__ import annotations

from collections.abc import Sequence

from django_jobqueue.store.renew import Lease
from django_jobqueue.store.statement import Row, Statement, array


def give_back(leases: Sequence[Lease]) -> Statement[dict[int, str]]:
    """Make READY again, uncounted, what was claimed and never started, or CANCELLED where a person wants it so.

    Answers with the jobs that it changed, and the status that each has now.
    """
    leases = sorted(leases)
    params = {
        "ids": array([str(lease.job_id) for lease in leases]),
        "tokens": array([str(lease.token) for lease in leases]),
    }
    return Statement("give_back", params, _read)


def _read(rows: list[Row]) -> dict[int, str]:
    return dict(rows)
