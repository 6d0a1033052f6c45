"""Keep the leases of running jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django_jobqueue.store.statement import Row, Statement, array


class Lease(NamedTuple):
    """The right to write one running job."""

    job_id: int
    token: UUID


class Renewal(NamedTuple):
    """What a renewal found.

    `lost` holds the jobs whose token is no longer this one, `busy` those that somebody had locked. Of the renewed ones
    a person wants those in `unwanted` cancelled, and those in `forced` whatever it takes.
    """

    renewed: frozenset[int]
    lost: frozenset[int]
    busy: frozenset[int]
    unwanted: frozenset[int] = frozenset()
    forced: frozenset[int] = frozenset()


def renew(leases: Sequence[Lease], *, lease_seconds: float) -> Statement[Renewal]:
    """Move the end of each lease to `lease_seconds` from now."""
    params = {
        "ids": array([str(lease.job_id) for lease in leases]),
        "tokens": array([str(lease.token) for lease in leases]),
        "lease_seconds": lease_seconds,
    }
    return Statement("renew", params, _read)


def _read(rows: list[Row]) -> Renewal:
    found: dict[str, set[int]] = {name: set() for name in Renewal._fields}
    for job_id, answer in rows:
        found[answer].add(job_id)
    found["unwanted"] |= found["forced"]
    found["renewed"] |= found["unwanted"]
    return Renewal(**{name: frozenset(ids) for name, ids in found.items()})
