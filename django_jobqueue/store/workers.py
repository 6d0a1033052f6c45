"""Write down that a worker is alive, for the people who look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django_jobqueue.store.statement import Row, Statement


@dataclass(frozen=True, slots=True)
class WorkerCard:
    """What a worker says of itself, once and for all."""

    id: UUID
    backend: str
    hostname: str
    pid: int
    queues: tuple[str, ...]
    tasks: Mapping[str, int]
    processes: int
    threads: int
    coroutines: int


def announce_worker(card: WorkerCard, *, running: int, stale_refused: int, stopped: bool = False) -> Statement[None]:
    """Write the worker's row, or move its last_seen_at."""
    params = {
        "id": str(card.id),
        "backend": card.backend,
        "hostname": card.hostname[:255],
        "pid": card.pid,
        "queues": json.dumps(card.queues),
        "tasks": json.dumps(dict(card.tasks)),
        "processes": card.processes,
        "threads": card.threads,
        "coroutines": card.coroutines,
        "running": running,
        "stale_refused": stale_refused,
        "stopped": stopped,
    }
    return Statement("announce_worker", params, _read)


def _read(rows: list[Row]) -> None:
    return None
