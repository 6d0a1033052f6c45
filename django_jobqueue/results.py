"""Jobs and their attempts, as the TaskResult that Django's interface answers with.

    WAITING, READY → READY        SUCCESSFUL → SUCCESSFUL
    RUNNING        → RUNNING      FAILED     → FAILED
                                  CANCELLED  → FAILED, with a TaskError of JobCancelled

`worker_ids` has one entry for each attempt, the one that runs included, so Django's `attempts`
counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.timezone import get_default_timezone, make_naive

from django_jobqueue.any_task import arguments_for
from django_jobqueue.compat import (
    AnyTask,
    AnyTaskContext,
    AnyTaskResult,
    TaskError,
    TaskResultStatus,
)
from django_jobqueue.exceptions import InvalidPayload, JobCancelled, JobQueueError
from django_jobqueue.payload.storable_text import class_path
from django_jobqueue.policy.lifecycle import Status
from django_jobqueue.policy.outcomes import OutcomeName
from django_jobqueue.tasks import Task

if TYPE_CHECKING:
    from django_jobqueue.models import Attempt, Job

_STATUSES = {
    Status.WAITING: TaskResultStatus.READY,
    Status.READY: TaskResultStatus.READY,
    Status.RUNNING: TaskResultStatus.RUNNING,
    Status.SUCCESSFUL: TaskResultStatus.SUCCESSFUL,
    Status.FAILED: TaskResultStatus.FAILED,
    Status.CANCELLED: TaskResultStatus.FAILED,
}

_FAILURES = frozenset({OutcomeName.FAILED, OutcomeName.TIMED_OUT, OutcomeName.LOST})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult(AnyTaskResult):  # type: ignore[misc]  # frozen, but not in the stubs
    """Django's TaskResult, and whether this call made the job."""

    created: bool = True
    """False when `enqueue` answered with a live job that was there already.

    Of a job that is inserted at the commit of another database it is what could be seen at the call, and right after
    that commit.
    """

    def __post_init__(self) -> None:
        # Django makes args and kwargs fit for JSON here. Ours were read from JSON.
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext(AnyTaskContext):  # type: ignore[misc]  # as above
    """What a task with `takes_context=True` gets: Django's context, and the job's identity."""

    edit_count: int = 0
    """How often the job was replayed with edited arguments."""

    is_unwanted: Callable[[], bool] = field(default=lambda: False, repr=False, compare=False)
    """Whether a person wants the job cancelled; `cancelled` asks it."""

    @property
    def job_id(self) -> int:
        """The primary key of the job."""
        return int(self.task_result.id)

    @property
    def cancelled(self) -> bool:
        """Whether a person has asked for this job to be cancelled: ask now and then, and raise JobCancelled to stop.

        To return instead is to succeed.
        """
        return self.is_unwanted()

    @property
    def idempotency_key(self) -> str:
        """A key that is the same for every attempt of this job, for systems that refuse to do a thing twice.

        It is the job's id, through retries and plain replays. After the nth replay with edited arguments it is
        `id:n`: what is asked for then is another thing, and the answer to the first is no answer to it.
        """
        return f"{self.task_result.id}:{self.edit_count}" if self.edit_count else str(self.task_result.id)


@dataclass(frozen=True, kw_only=True)
class UnknownTask(Task):
    """Stands in a TaskResult for a task that this process does not know, as when it was removed."""

    def __post_init__(self) -> None:
        # Nothing to validate: it describes what was, and cannot be enqueued.
        pass

    @property
    def module_path(self) -> str:
        """The stored name; there is no module to point to."""
        return self.task_name or ""


def from_job(job: Job, attempts: Iterable[Attempt], task: AnyTask | None, *, created: bool = True) -> TaskResult:
    """Build the TaskResult of a job.

    `attempts` are its closed ones by number; task is None if nobody knows it.
    """
    attempts = list(attempts)
    closed = {attempt.number for attempt in attempts}
    worker_ids = [_worker_id(attempt.worker_id) for attempt in attempts]
    # Between the reading of the job and of its attempts, the open one may have been closed.
    if job.status == Status.RUNNING and job.attempt_count not in closed:
        worker_ids.append(_worker_id(job.worker_id))
    errors = [_error(attempt) for attempt in attempts if attempt.outcome in _FAILURES]
    if job.status == Status.CANCELLED:
        errors.append(_named(JobCancelled, f"job {job.pk} was cancelled"))
    waits_for_time = job.attempt_count == 0 and job.run_after > job.enqueued_at
    args, kwargs = _arguments(job, task)
    result = TaskResult(
        task=variant(
            task or unknown_task(job.task, job.backend),
            backend=job.backend,
            queue_name=job.queue_name,
            priority=job.priority,
            run_after=job.run_after if waits_for_time else None,
        ),
        id=str(job.pk),
        status=_STATUSES[Status(job.status)],
        enqueued_at=job.enqueued_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        last_attempted_at=job.last_attempted_at,
        args=args,
        kwargs=kwargs,
        backend=job.backend,
        errors=errors,
        worker_ids=worker_ids,
        created=created,
    )
    object.__setattr__(result, "_return_value", job.result)
    return result


def _arguments(job: Job, task: AnyTask | None) -> tuple[Any, Any]:
    """Return a job's arguments as its task would get them; as they are stored, where that cannot be."""
    if task is None or not isinstance(job.args, list) or not isinstance(job.kwargs, dict):
        return job.args, job.kwargs
    try:
        return arguments_for(task, job.args, job.kwargs, version=job.version)
    except (InvalidPayload, TypeError):
        return job.args, job.kwargs


def for_attempt(
    *,
    id: str,  # noqa: A002 - the field of TaskResult
    task: AnyTask,
    backend: str,
    args: list[Any],
    kwargs: dict[str, Any],
    attempt_number: int,
    worker_id: str,
    earlier_worker_ids: Sequence[str] = (),
    enqueued_at: datetime | str | None = None,
    started_at: datetime | str | None = None,
    last_attempted_at: datetime | str | None = None,
) -> TaskResult:
    """Build the RUNNING TaskResult of an attempt, for its context and for `task_started`.

    args and kwargs are as read from JSON, and are not copied. Moments may be PostgreSQL's text.
    `attempts` counts attempt_number even where earlier_worker_ids is shorter than the attempts
    before this one.
    """
    missing = attempt_number - 1 - len(earlier_worker_ids)
    return TaskResult(
        task=task,
        id=id,
        status=TaskResultStatus.RUNNING,
        enqueued_at=_moment(enqueued_at),
        started_at=_moment(started_at),
        finished_at=None,
        last_attempted_at=_moment(last_attempted_at),
        args=args,
        kwargs=kwargs,
        backend=backend,
        errors=[],
        worker_ids=[*[""] * missing, *earlier_worker_ids, worker_id],
    )


def enqueued(
    *,
    id: str,  # noqa: A002 - the field of TaskResult
    task: AnyTask,
    backend: str,
    args: list[Any],
    kwargs: dict[str, Any],
    enqueued_at: datetime | None,
) -> TaskResult:
    """Build the READY TaskResult of a job that was just inserted, or will be: then it has no `enqueued_at`."""
    return TaskResult(
        task=task,
        id=id,
        status=TaskResultStatus.READY,
        enqueued_at=enqueued_at,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=args,
        kwargs=kwargs,
        backend=backend,
        errors=[],
        worker_ids=[],
    )


def unknown_task(name: str, backend: str) -> UnknownTask:
    """Return the placeholder of a task that nobody knows. To call it raises LookupError."""
    return UnknownTask(
        func=_missing(name),
        task_name=name,
        backend=backend,
        priority=0,
        queue_name="default",
        run_after=None,
        takes_context=False,
    )


def variant(task: AnyTask, **changes: Any) -> AnyTask:
    """Return a copy of a task with other values, as `using` does, without validating it."""
    copy = object.__new__(type(task))
    for option in fields(task):
        object.__setattr__(copy, option.name, changes.get(option.name, getattr(task, option.name)))
    return copy


def _missing(name: str) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        raise LookupError(f"no task is named {name!r} in this process; it was removed, or its module is not imported")

    missing.__module__, _, missing.__qualname__ = name.rpartition(".")
    missing.__name__ = missing.__qualname__
    return missing


def _worker_id(worker_id: Any) -> str:
    return "" if worker_id is None else str(worker_id)


def _error(attempt: Attempt) -> TaskError:
    text = attempt.traceback or attempt.message or f"attempt {attempt.number}: {attempt.outcome}"
    if "." in attempt.exception_class:
        return TaskError(exception_class_path=attempt.exception_class, traceback=text)
    # A worker that died, or was killed at a time limit, raised nothing.
    return _named(JobQueueError, text)


def _named(cls: type[Exception], text: str) -> TaskError:
    return TaskError(exception_class_path=class_path(cls), traceback=text)


def _moment(value: datetime | str | None) -> datetime | None:
    if not isinstance(value, str):
        return value
    moment = datetime.fromisoformat(value)
    return moment if settings.USE_TZ else make_naive(moment, get_default_timezone())
