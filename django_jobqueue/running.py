"""Which attempt the code that runs belongs to: set by a runner around a task, and read by what the task calls.

It follows the task into coroutines and into `sync_to_async`, and not into threads that the task starts by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class RunningAttempt:
    """An attempt, the token of its lease, and the alias in TASKS that it belongs to."""

    job_id: int
    token: UUID
    backend: str
    is_atomic: bool = False
    """Whether it runs in one transaction with the record of its success."""
    has_committed: bool = False
    """Whether that transaction is committed, and its callbacks run: the job is finished, and has no lease."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    """What its references to secrets stand for, with the reference of each: none of it may be stored."""


attempt: ContextVar[RunningAttempt | None] = ContextVar("django_jobqueue_attempt", default=None)
"""The attempt that runs here; None outside of jobs."""
