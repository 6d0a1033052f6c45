"""From a claimed row to a flight: the attempt gets a ticket, and what the keeper must know of its task."""

from __future__ import annotations

from itertools import count
from uuid import UUID

from django_jobqueue import any_task
from django_jobqueue.registry import Registry
from django_jobqueue.store.claim import Claimed
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.pace import Pace


class Intake:
    """Makes the flights of one worker. No two have the same ticket."""

    def __init__(self, registry: Registry, pace: Pace, worker_id: UUID) -> None:
        self._registry, self._pace = registry, pace
        self._worker_id = str(worker_id)
        self._coroutines = frozenset(registry.coroutines())
        self._tickets = count(1)

    def flight(self, job: Claimed, token: UUID, lease_until: float) -> Flight:
        """Make a flight of a job that was claimed under `token`; the lease ends at `lease_until` of this clock."""
        task = self._registry.get(job.task)
        return Flight(
            ticket=next(self._tickets),
            claimed=job,
            token=token,
            worker_ids=_with(job.earlier_worker_ids, self._worker_id),
            lease_until=lease_until,
            is_coroutine=job.task in self._coroutines,
            is_short=self._pace.is_short(job.task),
            timeout=any_task.timeout_of(task) if task is not None else None,
            is_atomic=task is not None and any_task.is_atomic(task),
        )


def _with(worker_ids: str, worker_id: str) -> str:
    """Append a worker to a JSON list, as text."""
    return f'["{worker_id}"]' if worker_ids == "[]" else f'{worker_ids[:-1]},"{worker_id}"]'
