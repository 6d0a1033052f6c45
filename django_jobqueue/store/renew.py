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

    `lost` holds the leases that have become another's, `busy` those whose job somebody had locked. Of the renewed ones
    a person wants the jobs of those in `unwanted` cancelled, and of those in `forced` whatever it takes.
    """

    renewed: frozenset[Lease]
    lost: frozenset[Lease]
    busy: frozenset[Lease]
    unwanted: frozenset[Lease] = frozenset()
    forced: frozenset[Lease] = frozenset()


def renew(leases: Sequence[Lease], *, lease_seconds: float) -> Statement[Renewal]:
    """Move the end of each lease to `lease_seconds` from now."""
    params = {
        "ids": array([str(lease.job_id) for lease in leases]),
        "tokens": array([str(lease.token) for lease in leases]),
        "lease_seconds": lease_seconds,
    }
    return Statement("renew", params, _read)


def _read(rows: list[Row]) -> Renewal:
    found: dict[str, set[Lease]] = {name: set() for name in Renewal._fields}
    for job_id, token, answer in rows:
        found[answer].add(Lease(job_id, token))
    found["unwanted"] |= found["forced"]
    found["renewed"] |= found["unwanted"]
    return Renewal(**{name: frozenset(leases) for name, leases in found.items()})
