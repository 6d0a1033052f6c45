"""What a worker is told once, when it starts."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from uuid import uuid4

from django_jobqueue.conf import Options
from django_jobqueue.registry import Registry
from django_jobqueue.store.claim import Serving, queue_pattern
from django_jobqueue.store.workers import WorkerCard
from django_jobqueue.worker.executor import Bounds
from django_jobqueue.worker.runner import RunnerPlan


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """Which jobs a worker takes, with how many hands, and how it ends. All times are in Options, in seconds."""

    backend: str
    options: Options
    queues: tuple[str, ...] = ()
    excluded_queues: tuple[str, ...] = ()
    processes: int = 1
    threads: int = 1
    coroutines: int = 10
    grace_seconds: float = 25.0
    until_idle: bool = False
    max_jobs: int | None = None

    @property
    def serving(self) -> Serving:
        """The queues, as patterns for a claim."""
        return Serving(
            tuple(queue_pattern(text) for text in self.queues),
            tuple(queue_pattern(text) for text in self.excluded_queues),
        )

    @property
    def runner(self) -> RunnerPlan:
        """What each runner is told."""
        options = self.options
        sources = dict(options.secret_sources or {})
        return RunnerPlan(
            self.threads, Bounds(options.max_result_bytes, self.backend, options.database, secret_sources=sources)
        )

    @property
    def summary(self) -> str:
        """The plan in a line, for a person."""
        queues = ", ".join(self.queues) or "all queues"
        without = f" but {', '.join(self.excluded_queues)}" if self.excluded_queues else ""
        each = f"{counted(self.threads, 'function')} and {counted(self.coroutines, 'coroutine')}"
        hands = f"{counted(self.processes, 'process', 'processes')} of {each}"
        return f"{queues}{without}, backend {self.backend!r}, {hands}"

    def card(self, registry: Registry) -> WorkerCard:
        """What the worker says of itself, and of the tasks that it knows."""
        return WorkerCard(
            id=uuid4(),
            backend=self.backend,
            hostname=socket.gethostname(),
            pid=os.getpid(),
            queues=self.queues,
            tasks=dict.fromkeys(registry.names(), 1) | registry.versions(),
            processes=self.processes,
            threads=self.threads,
            coroutines=self.coroutines,
        )


def counted(number: int, one: str, more: str = "") -> str:
    """Write a number with its noun: `1 job`, `2 jobs`."""
    return f"{number} {one if number == 1 else more or one + 's'}"
