"""What becomes of a job that was put aside because no living worker knows its task."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models.functions import Now

from django_jobqueue.database import queue_options
from django_jobqueue.models import Worker
from django_jobqueue.policy.lifecycle import Reason
from django_jobqueue.store.park import ALIVE_SECONDS


@dataclass(frozen=True, slots=True)
class Prospect:
    """Whether a living worker knows it by now; else what it dies of, and how long after it was put aside."""

    is_known: bool
    reason: Reason
    after_seconds: float


def prospect_of(task: str, version: int, *, backend: str, using: str) -> Prospect:
    """Ask the workers that live. Their rows are few."""
    alive = Worker.objects.using(using).filter(
        backend=backend, stopped_at=None, last_seen_at__gt=Now() - timedelta(seconds=ALIVE_SECONDS)
    )
    known = [
        tasks[task] for tasks in alive.values_list("tasks", flat=True) if isinstance(tasks, dict) and task in tasks
    ]
    return Prospect(
        any(isinstance(each, int) and each >= version for each in known),
        Reason.UNKNOWN_VERSION if known else Reason.UNKNOWN_TASK,
        queue_options(backend).unknown_task_seconds,
    )
