"""The errors of the job queue, and the three that a task raises to steer itself.

    JobQueueError
    ├── InvalidOptions        OPTIONS or a task's options are wrong; says which and what to type
    ├── InvalidPayload        arguments or a result that JSON or PostgreSQL cannot hold
    ├── UnsupportedDatabase   the queue's database is not PostgreSQL
    ├── MissingTables         migrate has not been run there
    ├── MissingGrant          its role may not take ids from the sequence of the jobs
    ├── QueueFull             the depth limit of a queue, a task or a key leaves no room; has `.retry_after`
    ├── UniqueKeyContended    the holders of a unique key come and go too fast to be caught
    ├── Refused               an operation that the state of a job does not allow; has `.code`
    ├── KeyReused             a key of `once` stands for another call, or for other arguments
    ├── SecretUnavailable     a Secret of a job cannot be looked up where the job runs
    ├── NotInAJob             what only makes sense inside a job was called outside of any
    ├── LeaseLost             another worker has the job by now; what an atomic task wrote is rolled back
    ├── WorkerLost            why a lost attempt has no other error
    └── JobCancelled          why a cancelled job has no result

    TaskSignal                raised inside a task
    ├── Retry                 failed, charged: try again after so many seconds
    ├── Snooze                not a failure, not charged: come back in so many seconds
    │   └── AlreadyBeingDone  another attempt is about to do what `once.external` was asked for
    └── Reject                failed: to the dead letters now

An expected race is an answer, not an exception: `settle` names the jobs that it changed, and leaves out the one whose
lease was taken.
"""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured


class JobQueueError(Exception):
    """Whatever this app raises."""


class InvalidOptions(JobQueueError, ImproperlyConfigured):
    """An option is unknown, of the wrong type, or contradicts another."""


class InvalidPayload(JobQueueError, TypeError, ValueError):
    """A value cannot be stored as JSON. `path` says where, as in `kwargs['lines'][2].price`.

    It is a TypeError because Django's own backends raise one for such arguments, and a ValueError because json does.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


class UnsupportedDatabase(JobQueueError, ImproperlyConfigured):
    """The database of the queue cannot run it."""


class MissingTables(JobQueueError, ImproperlyConfigured):
    """The queue's tables are not in its database: `migrate` has not been run."""

    def __init__(self, database: str) -> None:
        super().__init__(
            f"the tables of the job queue are missing, or older than this release, in DATABASES[{database!r}]; "
            f"run manage.py migrate --database {database}"
        )


class MissingGrant(JobQueueError, ImproperlyConfigured):
    """The role of the queue's database may not take ids ahead of the INSERT, as a transaction on another one needs."""

    def __init__(self, database: str, sequence: str) -> None:
        super().__init__(
            f"a job that waits for a commit on another database takes its id at once, and the role of "
            f"DATABASES[{database!r}] may not: an INSERT alone needs no grant for it. "
            f"GRANT USAGE ON SEQUENCE {sequence} to that role"
        )


class UniqueKeyContended(JobQueueError):
    """A unique key was neither free nor held, several times in a row: its holders end as fast as they come.

    Nothing was written for it. Enqueue again.
    """

    def __init__(self, task: str, key: str | None) -> None:
        super().__init__(f"the unique key {key!r} of {task} changes hands too fast; enqueue again")


class QueueFull(JobQueueError):
    """There is no room for the job: its queue, its task or its key is at the limit of its depth. Nothing was written.

    `kind` is "queue", "task" or "key", `target` the name of it. `retry_after` is in how many seconds there may be room,
    by what was claimed in the last minute: from 1 to 3600. `max_age_seconds` is given where the oldest due job has
    waited for longer than that. The caller's transaction can go on.
    """

    def __init__(
        self, kind: str, target: str, *, max_depth: int, retry_after: float, max_age_seconds: float | None = None
    ) -> None:
        why = f"max_depth is {max_depth}"
        if max_age_seconds is not None:
            why = f"its oldest job has waited for more than max_age_seconds, {max_age_seconds:g}"
        super().__init__(f"the {kind} {target} is full: {why}; try again in {retry_after:.0f} s")
        self.kind, self.target = kind, target
        self.max_depth, self.retry_after, self.max_age_seconds = max_depth, retry_after, max_age_seconds

    def __reduce__(self) -> tuple[Any, ...]:
        """Cross to another process whole."""
        return _queue_full, (self.kind, self.target, self.max_depth, self.retry_after, self.max_age_seconds)


def _queue_full(kind: str, target: str, max_depth: int, retry_after: float, max_age_seconds: float | None) -> QueueFull:
    return QueueFull(kind, target, max_depth=max_depth, retry_after=retry_after, max_age_seconds=max_age_seconds)


class Refused(JobQueueError):
    """An operation does not fit the state it met; nothing was changed. `code` is stable, the text is for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class JobCancelled(JobQueueError):
    """The job was cancelled before it succeeded.

    A task that sees `context.cancelled` raises it to stop. Raised by a task that nobody wanted to stop, it is an
    ordinary failure.
    """


class KeyReused(JobQueueError):
    """The key names something else that was done, or is being done: another function, or other arguments."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {key!r} stands for another call, or for other arguments; make the key name both")
        self.key = key


class SecretUnavailable(JobQueueError):
    """What a Secret of a job stands for cannot be had where the job runs; names the reference. The task was not called.

    The attempt has failed, and is tried again as the job's attempts allow, whatever `retry_on` says.
    """


class NotInAJob(JobQueueError):
    """Only a job can do this: there is no lease here."""


class LeaseLost(JobQueueError):
    """The lease of an attempt was lost before its transaction could be committed."""


class WorkerLost(JobQueueError):
    """The process of an attempt died, or its worker did; only the attempt's record names it, nothing raises it."""


class TaskSignal(Exception):
    """Base of what a task raises to decide its own fate."""


class Retry(TaskSignal):
    """Fail this attempt and try again after `after` seconds, or after the task's back-off if None.

    The attempt is charged: a task that always raises Retry ends as a dead letter after max_attempts. Its message is
    what lists show: `reason` is part of it, and so is the exception that it is raised from.
    """

    def __init__(self, after: float | None = None, *, reason: str = "") -> None:
        if after is not None:
            after = _seconds("Retry(after=…)", after)
        super().__init__(_with_reason("retry" if after is None else f"retry after {after:g} s", reason))
        self.after, self.reason = after, reason


class Snooze(TaskSignal):
    """Come back in `seconds`. Not a failure and not charged, but bounded by OPTIONS max_snoozes.

    With a `reason`, or raised from an exception, the attempt says why.
    """

    def __init__(self, seconds: float, *, reason: str = "") -> None:
        self.seconds, self.reason = _seconds("Snooze(seconds)", seconds), reason
        super().__init__(_with_reason(f"snooze for {self.seconds:g} s", reason))


class AlreadyBeingDone(Snooze):
    """Another attempt that lives is doing it under the same key: the job comes back in five seconds, uncharged."""

    def __init__(self, key: str) -> None:
        super().__init__(5, reason=f"another attempt is at {key!r}")
        self.key = key


class Reject(TaskSignal):
    """Send the job to the dead letters now, whatever is left of its attempts."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or "rejected")
        self.reason = reason


def _with_reason(words: str, reason: str) -> str:
    return f"{words}: {reason}" if reason else words


def _seconds(what: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"{what} takes seconds, zero or more; got {value!r}")
    return float(value)
