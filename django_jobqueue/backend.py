"""The door for Django: a backend of Django Tasks that puts jobs into PostgreSQL.

    TASKS = {
        "default": {
            "BACKEND": "django_jobqueue.backend.JobQueueBackend",
            "QUEUES": [],  # any name
            "OPTIONS": {},  # see conf.py
        },
    }

A job is one INSERT in the caller's transaction, or follows its commit where that is on another database (`producer`).
Whatever can be wrong with it is found before that, so that a refusal leaves no row.

Django builds one backend a thread, while the modules of tasks are being imported: building one is
cheap, imports no model and raises nothing. Faults in OPTIONS are told by the system checks, by
`enqueue` and by `runworker`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.apps import apps
from django.db import connections

from django_jobqueue import guard, results, task_options
from django_jobqueue.any_task import (
    blocks_after_death,
    concurrency_limit_of,
    is_limited_as_a_whole,
    is_unique_until_started,
    keys_of,
    max_attempts_of,
    max_depth_of,
    rate_key_of,
    require_fit,
    stored_name,
    version_of,
)
from django_jobqueue.compat import (
    PACKAGE,
    AnyTask,
    BaseTaskBackend,
    InvalidTask,
    TaskResultDoesNotExist,
)
from django_jobqueue.conf import Options
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload, UnsupportedDatabase
from django_jobqueue.payload import storable_json
from django_jobqueue.payload.secret_reference import may_hold, revived
from django_jobqueue.payload.shape import require_shape
from django_jobqueue.payload.typed import forms_of
from django_jobqueue.queue_policy import MAX_AT_ONCE
from django_jobqueue.tasks import Task

if TYPE_CHECKING:
    from django_jobqueue.producer import Call, Producer
    from django_jobqueue.store.depth import Bound
    from django_jobqueue.store.enqueue import Gates

MAX_QUEUE_NAME_LENGTH = 128
MAX_ALIAS_LENGTH = 64
"""The widths of the columns that hold them."""

_MAX_ID = 2**63 - 1


class JobQueueBackend(BaseTaskBackend):
    """Puts jobs into PostgreSQL, in the caller's transaction."""

    task_class = Task
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        super().__init__(alias, dict(params))
        self.has_own_queues = "QUEUES" in params
        self.raw_options = params.get("OPTIONS", {})
        # Django keeps the mapping here; the property below says what it means.
        del self.options

    @cached_property
    def options(self) -> Options:  # type: ignore[override]
        """OPTIONS of this alias. Raises InvalidOptions."""
        try:
            return Options.from_mapping(self.raw_options)
        except InvalidOptions as error:
            raise InvalidOptions(f"TASKS[{self.alias!r}]['OPTIONS']: {error}") from None

    @property
    def database(self) -> str:
        """The alias in DATABASES of this queue's tables. Raises InvalidOptions."""
        return self.options.database

    def validate_task(self, task: AnyTask) -> None:
        """Raise InvalidTask unless this backend can run the task as it is."""
        if isinstance(task, results.UnknownTask):
            raise InvalidTask(f"no task is named {stored_name(task)!r} in this process; there is nothing to run")
        task_options.require_stable(task.func, getattr(task, "task_name", None))
        if task.run_after is not None and not isinstance(task.run_after, datetime):
            raise InvalidTask(
                f"run_after is a datetime, as in timezone.now() + timedelta(minutes=5); got {task.run_after!r}"
            )
        _in_utc(task.run_after)
        if (
            isinstance(task.priority, bool)
            or not isinstance(task.priority, int | float)
            or not math.isfinite(task.priority)
        ):
            raise InvalidTask(f"priority is a whole number; got {task.priority!r}")
        _require_queue_name(task.queue_name)
        if self.queues and task.queue_name not in self.queues:
            raise InvalidTask(self._other_queue(task.queue_name))
        super().validate_task(task)

    def enqueue(  # type: ignore[override]
        self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> results.TaskResult:
        """Insert one job. The transaction of the caller decides whether it comes to be.

        Where that is on OPTIONS `transaction_database`, and the queue elsewhere, the INSERT follows the commit, which
        raises what becomes of it.

        Raises InvalidTask, InvalidPayload, InvalidOptions, UnsupportedDatabase, MissingTables, MissingGrant or
        QueueFull; then nothing is written.
        """
        self.validate_task(task)
        call = self._call(task, args, kwargs)
        self.require_postgresql()
        return self._producer.ask([call])[0]

    def enqueue_many(
        self, calls: Iterable[tuple[AnyTask, Sequence[Any], Mapping[str, Any]]]
    ) -> list[results.TaskResult]:
        """Insert a job for each `(task, args, kwargs)`, all of them or none, in order.

        Raises as `enqueue` does, saying which call it is about, before anything is written.
        """
        checked = []
        for index, call in enumerate(calls):
            match call:
                case (task, args, kwargs):
                    require_shape(args, kwargs, path=f"jobs[{index}].")
                case _:
                    raise InvalidPayload(f"jobs[{index}]", "is no (task, args, kwargs)")
            try:
                self.validate_task(task)
            except InvalidTask as error:
                raise InvalidTask(f"jobs[{index}]: {error}") from error
            checked.append(self._call(task, args, kwargs, path=f"jobs[{index}]."))
        self.require_postgresql()
        return self._producer.ask(checked)

    async def aenqueue_many(
        self, calls: Iterable[tuple[AnyTask, Sequence[Any], Mapping[str, Any]]]
    ) -> list[results.TaskResult]:
        """See enqueue_many()."""
        return await sync_to_async(self.enqueue_many, thread_sensitive=True)(calls)

    def get_result(self, result_id: str) -> results.TaskResult:
        """Read a job of this backend, with its attempts.

        Raises TaskResultDoesNotExist if there is none, or if it belongs to another backend.
        """
        number = _job_id(result_id)
        self.require_postgresql()
        found = self._producer.read([number])
        if number not in found:
            raise TaskResultDoesNotExist(self._words_for_none(number))
        return found[number]

    @cached_property
    def _producer(self) -> Producer:
        # Not at the top: it knows the models.
        from django_jobqueue.producer import Producer

        return Producer(type(self), self.alias, self.options)

    def _words_for_none(self, number: int) -> str:
        if not self._producer.is_awaited(number):
            return str(number)
        return (
            f"job {number} is inserted when the transaction on {self.options.transaction_database!r} is committed; "
            "ask for it after that"
        )

    def _call(self, task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = "") -> Call:
        self._require_app()
        from django_jobqueue.producer import Call
        from django_jobqueue.store.enqueue import NewJob

        options = self.options
        require_fit(task, args, kwargs, path=path)
        forms = forms_of(task.func, takes_context=task.takes_context)
        stored_args, stored_kwargs = storable_json.arguments(
            *forms.write(args, kwargs, path=path),
            max_bytes=options.max_payload_bytes,
            schemes=options.schemes,
            path=path,
        )
        plain_args, plain_kwargs = storable_json.loads(stored_args), storable_json.loads(stored_kwargs)
        guard.watch(task, plain_args, plain_kwargs, policy=options.secrets, path=path)
        arriving = plain_args, plain_kwargs
        if may_hold(stored_args, stored_kwargs):
            arriving = revived(*arriving, path=path)
        # Read back before anything is written: a type of the project's may not understand its own words.
        arriving = forms.read(*arriving, path=path)
        forms.require_same((args, kwargs), arriving, path=path)
        keys = keys_of(task, *arriving, path=path)
        guard.require_nothing_spilled({"args": plain_args, "kwargs": plain_kwargs, **keys}, path=path)
        job = NewJob(
            task=stored_name(task),
            version=version_of(task),
            args=stored_args,
            kwargs=stored_kwargs,
            backend=self.alias,
            queue_name=task.queue_name,
            priority=int(task.priority),
            run_after=_in_utc(task.run_after),
            max_attempts=max_attempts_of(task, options),
            unique_key=keys.get("unique_key"),
            unique_until_started=is_unique_until_started(task),
            gates=self._gates(task, keys),
            bounds=self._bounds(task, keys),
        )
        return Call(task, job, *arriving)

    def _gates(self, task: AnyTask, keys: Mapping[str, str | None]) -> Gates:
        from django_jobqueue.store.enqueue import OPEN, Gates

        policy = self.options.queue(task.queue_name)
        at_once, queue_limit = concurrency_limit_of(task), policy.max_running
        order_key, concurrency_key = keys.get("order_key"), keys.get("concurrency_key")
        share_weight, rate_key = policy.weight_of(concurrency_key), rate_key_of(task, concurrency_key, policy)
        if (at_once, queue_limit, order_key, concurrency_key, share_weight, rate_key) == (None,) * 6:
            return OPEN
        return Gates(
            concurrency_key=concurrency_key,
            key_limit=None if concurrency_key is None else at_once,
            # A function that makes no key of a call takes it out of the limit of its key.
            task_limit=at_once if is_limited_as_a_whole(task) else None,
            queue_limit=queue_limit,
            order_key=order_key,
            order_blocks=order_key is not None and blocks_after_death(task),
            share_weight=share_weight,
            rate_key=rate_key,
        )

    def _bounds(self, task: AnyTask, keys: Mapping[str, str | None]) -> tuple[Bound, ...]:
        from django_jobqueue.store.depth import Bound

        policy, of_task = self.options.queue(task.queue_name), max_depth_of(task)
        bounds = []
        if policy.max_depth is not None or policy.max_age_seconds is not None:
            # An age alone is kept like a depth that nothing reaches.
            of_queue = policy.max_depth or MAX_AT_ONCE
            bounds.append(Bound("queue", self.alias, task.queue_name, of_queue, policy.max_age_seconds))
        if of_task is not None and is_limited_as_a_whole(task):
            bounds.append(Bound("task", self.alias, stored_name(task), of_task))
        elif of_task is not None and (key := keys.get("concurrency_key")) is not None:
            bounds.append(Bound("key", self.alias, key, of_task))
        return tuple(bounds)

    def require_postgresql(self) -> None:
        """Raise InvalidOptions or UnsupportedDatabase unless the queue's tables can be used here."""
        self._require_app()
        for option in ("database", "transaction_database"):
            if (name := getattr(self.options, option)) not in connections:
                raise InvalidOptions(
                    f"TASKS[{self.alias!r}]['OPTIONS'][{option!r}] is {name!r}, which is not in DATABASES; "
                    f"use one of {', '.join(sorted(connections))}"
                )
        connection = connections[self.database]
        if connection.vendor != "postgresql":
            raise UnsupportedDatabase(
                f"the job queue needs PostgreSQL, and DATABASES[{self.database!r}] is {connection.display_name}; "
                f"{postgresql_remedy(self.alias, self.database)}"
            )

    def _other_queue(self, queue_name: str) -> str:
        where = f"TASKS[{self.alias!r}]"
        if self.has_own_queues:
            return f"queue_name {queue_name!r} is not in {where}['QUEUES']; add it there, or allow any name with []"
        return f"queue_name is {queue_name!r}, and Django allows 'default' only; add \"QUEUES\": [] to {where}"

    def _require_app(self) -> None:
        # Without the app its models cannot even be imported, and the error says nothing of the cause.
        if not apps.is_installed("django_jobqueue"):
            raise InvalidOptions(f"TASKS[{self.alias!r}] uses the job queue; add 'django_jobqueue' to INSTALLED_APPS")


def postgresql_remedy(alias: str, database: str) -> str:
    """Say what to do where the database of a queue is another one than PostgreSQL."""
    return (
        f"make DATABASES[{database!r}] PostgreSQL, or name a second, PostgreSQL one in "
        f"TASKS[{alias!r}]['OPTIONS']['database'] (jobs are then inserted after the commit of your data); "
        f"where there is none, as in tests, set TASKS[{alias!r}]['BACKEND'] to "
        f"'{PACKAGE}.backends.immediate.ImmediateBackend', or to DummyBackend beside it (both take plain JSON only)"
    )


# A day from the ends of the calendar: in every zone it is a date that can be shown.
_FIRST, _LAST = (
    datetime.min.replace(tzinfo=UTC) + timedelta(days=1),
    datetime.max.replace(tzinfo=UTC) - timedelta(days=1),
)


def _in_utc(moment: datetime | None) -> datetime | None:
    """Write an aware moment in UTC: PostgreSQL reads offsets of less than 16 hours only. Raises InvalidTask."""
    if moment is None:
        return None
    try:
        if moment.utcoffset() is not None:
            moment = moment.astimezone(UTC)
    except OverflowError:
        pass
    else:
        if _FIRST <= moment.replace(tzinfo=UTC) <= _LAST:
            return moment
    raise InvalidTask(f"run_after is outside of the years 1 to 9999, or less than a day from their ends; got {moment}")


def _require_queue_name(queue_name: Any) -> None:
    if not isinstance(queue_name, str) or not queue_name or len(queue_name) > MAX_QUEUE_NAME_LENGTH:
        raise InvalidTask(f"queue_name is a text of 1 to {MAX_QUEUE_NAME_LENGTH} characters; got {queue_name!r:.200}")
    if not _PRINTABLE.fullmatch(queue_name):
        raise InvalidTask(f"queue_name has characters that cannot be printed: {queue_name!r}")
    if "*" in queue_name:
        raise InvalidTask(f"queue_name has no asterisk: to a worker it means a prefix; got {queue_name!r}")


_PRINTABLE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]+")


def _job_id(result_id: Any) -> int:
    """Read an id as `TaskResult.id` has it; any other text is no id of ours."""
    text = str(result_id)
    if text.isascii() and text.isdigit() and text[0] != "0" and len(text) <= 19 and int(text) <= _MAX_ID:
        return int(text)
    raise TaskResultDoesNotExist(result_id)
