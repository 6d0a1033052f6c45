"""Run one attempt: the only place in the app that calls a task.

A straight pipe: check the order, tell `task_started`, call, turn whatever happened into an Outcome. Nothing that a
task raises gets past it, SystemExit and KeyboardInterrupt included: a job cannot end its runner by raising.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from django_jobqueue import any_task, results, running
from django_jobqueue.compat import AnyTask, task_backends, task_started
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.secret_reference import Secret
from django_jobqueue.payload.spilled import Spill
from django_jobqueue.payload.storable_json import dumps
from django_jobqueue.payload.storable_text import Cover
from django_jobqueue.policy.outcomes import (
    Cancelled,
    Committed,
    Failed,
    Failure,
    Outcome,
    Succeeded,
    TimedOut,
    Verdict,
)
from django_jobqueue.worker import slate
from django_jobqueue.worker.arguments import Ready, read
from django_jobqueue.worker.discretion import cover_for, failure_of, remember
from django_jobqueue.worker.verdict import log_error, outcome_of

RECEIVER_SECONDS = 10.0
"""A coroutine begins after so long, whether receivers of `task_started` that are coroutines have returned or not."""

NEVER_BEGUN = Cancelled(Failure("", "cancelled before it began"))


class Order(NamedTuple):
    """What a runner is told of an attempt. args and kwargs are JSON text, whatever the row held.

    Filled by position from what `Flight.order` writes: another field has a place there, and in the list in `frames`.
    """

    ticket: int
    job_id: int
    attempt_number: int
    task: str
    version: int
    edit_count: int
    enqueued_at: str
    started_at: str
    last_attempted_at: str
    worker_ids: list[str]
    token: str
    is_limited: bool
    args: str
    kwargs: str

    @classmethod
    def read(cls, head: bytes, args: bytes, kwargs: bytes) -> Order:
        """Read the lines of an order."""
        return cls._make([*json.loads(head), args.decode(), kwargs.decode()])


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the runner must keep to: how large a result may be, whose jobs these are, and who is asked for secrets."""

    max_result_bytes: int
    backend: str
    database: str = "default"
    secret_sources: Mapping[str, str] = field(default_factory=dict)


def _never() -> bool:
    """Say that nobody wants the job cancelled."""
    return False


def _nobody(_word: str) -> None:
    """Tell nobody."""


def run(
    order: Order,
    task: AnyTask | None,
    bounds: Bounds,
    *,
    is_unwanted: Callable[[], bool] = _never,
    tell: Callable[[str], None] = _nobody,
    rested: bool = True,
) -> Outcome | Committed:
    """Run an attempt of a function in this thread.

    `is_unwanted` says whether a person wants the job cancelled, whenever it is asked. `tell` is called, for a task that
    has a time limit, with "taken" before all else and with "begun" right before its code; and with "committed" when an
    atomic task has committed, before its callbacks are called. `rested` is False when the thread comes straight from
    another attempt, which has left its connections checked.
    """
    context = Context()
    try:
        if order.is_limited:
            tell("taken")
        if rested:
            slate.before()
        return context.run(_run, order, task, bounds, is_unwanted, tell)
    except BaseException as error:  # a damaged row, a connection that cannot be had: the slot outlives that too
        # In its context: there it is known what the attempt was given.
        return Failed(context.run(failure_of, error, order, task))
    finally:
        slate.after(order.task)


def run_here(order: Order, task: AnyTask | None, bounds: Bounds) -> Outcome | Committed:
    """Run an attempt of a function with the connections as they are; the caller gives it a context of its own."""
    return _run(order, task, bounds, _never, _nobody)


async def run_async(
    order: Order,
    task: AnyTask,
    bounds: Bounds,
    *,
    is_unwanted: Callable[[], bool] = _never,
    tell: Callable[[str], None] = _nobody,
) -> Outcome:
    """Run an attempt of a coroutine in this event loop; cancels it at its time limit.

    The caller gives it a context of its own, and cancels it when it is unwanted. `tell` is as for `run`.
    """
    if order.is_limited:
        tell("taken")
    if is_unwanted():
        return NEVER_BEGUN
    ready = read(order, task, bounds)
    if isinstance(ready, Failed):
        return ready
    _begin(order, task, bounds)
    result = ready.result
    if await _tell_async(result, bounds.backend, cover_for(order, task)) and is_unwanted():
        # The cancel was delivered to a receiver, and no second one follows.
        return NEVER_BEGUN
    limit = any_task.timeout_of(task)
    timer = asyncio.timeout(limit)
    if order.is_limited:
        tell("begun")
    try:
        async with timer:
            values = await ready.look_up_async()
            _keep_secret(values)
            args, kwargs = ready.arguments(values)
            with _LeavingCopies():
                value = await task.func(*_with_context(args, ready, order, is_unwanted), **kwargs)
    except BaseException as error:  # the executor's edge: every end of a task is an outcome
        # Not isinstance: it would ask the exception for its class.
        if timer.expired() and issubclass(type(error), TimeoutError):
            traceback = failure_of(error, order, task).traceback
            return TimedOut(Failure("builtins.TimeoutError", f"cancelled after {limit:g} s", traceback))
        return outcome_of(error, order, task, result, is_unwanted)
    return _succeeded(value, order, task, bounds)


def _run(
    order: Order,
    task: AnyTask | None,
    bounds: Bounds,
    is_unwanted: Callable[[], bool],
    tell: Callable[[str], None],
) -> Outcome | Committed:
    if is_unwanted():
        return NEVER_BEGUN
    if task is None:
        return Failed(Failure("builtins.LookupError", f"no task is named {order.task!r} here"), Verdict.UNKNOWN_TASK)
    ready = read(order, task, bounds)
    if isinstance(ready, Failed):
        return ready
    _begin(order, task, bounds)
    _tell(ready.result, bounds.backend, cover_for(order, task))
    if not any_task.is_atomic(task):
        return _call(order, ready, bounds, is_unwanted, tell)
    # Here, because it needs the models, and a runner's process imports this module before the apps are ready.
    from django_jobqueue.worker.atomic import run_atomic

    try:
        call = partial(_call, order, ready, bounds, is_unwanted, tell)
        note = partial(tell, "committed")
        return run_atomic(
            call,
            note,
            job_id=order.job_id,
            token=UUID(order.token),
            using=bounds.database,
            cover=cover_for(order, task),
        )
    except BaseException as error:  # errors on commit are failures like any other
        return outcome_of(error, order, task, ready.result, is_unwanted)


def _call(
    order: Order,
    ready: Ready,
    bounds: Bounds,
    is_unwanted: Callable[[], bool],
    tell: Callable[[str], None],
) -> Outcome:
    if order.is_limited:
        tell("begun")
    task = ready.task
    try:
        values = ready.look_up()
        _keep_secret(values)
        args, kwargs = ready.arguments(values)
        with _LeavingCopies():
            value = task.func(*_with_context(args, ready, order, is_unwanted), **kwargs)
    except BaseException as error:  # the executor's edge: every end of a task is an outcome
        return outcome_of(error, order, task, ready.result, is_unwanted)
    return _succeeded(value, order, task, bounds)


def _begin(order: Order, task: AnyTask, bounds: Bounds) -> None:
    """Say whose code runs from here on, in the context of this attempt alone."""
    running.attempt.set(
        running.RunningAttempt(order.job_id, UUID(order.token), bounds.backend, any_task.is_atomic(task))
    )


def _keep_secret(values: Mapping[Secret, str]) -> None:
    """Note what references of the attempt stand for, before anybody sees it: to be covered, and stored nowhere."""
    attempt = running.attempt.get()
    if not values or attempt is None:
        return
    remember(values.values())
    # Of two references to one value the first in order stands for both, each time.
    secrets = {values[secret]: secret.reference for secret in sorted(values, key=str, reverse=True)}
    running.attempt.set(replace(attempt, secrets=secrets))


def _tell(result: results.TaskResult, backend: str, cover: Cover) -> None:
    # A receiver is a guest: what it raises changes nothing. send_robust logs errors; SystemExit and its like pass it.
    try:
        task_started.send_robust(sender=_sender(backend), task_result=result)
    except BaseException as error:
        log_error("a receiver of task_started", error, cover)


async def _tell_async(result: results.TaskResult, backend: str, cover: Cover) -> bool:
    """Tell the receivers, and say whether that was a wait, in which the attempt could be cancelled."""
    # From inside the event loop send_robust cannot call a receiver that is a coroutine. asend_robust can, but goes
    # through another thread for the others, and there always is one: Django's own line in the log.
    if not any(is_async for *_, is_async in task_started.receivers):
        _tell(result, backend, cover)
        return False
    try:
        async with asyncio.timeout(RECEIVER_SECONDS):
            await task_started.asend_robust(sender=_sender(backend), task_result=result)
    except BaseException as error:
        log_error("a receiver of task_started", error, cover)
    return True


@cache
def _sender(backend: str) -> type:
    # Django keeps backends in context variables: in the fresh context of a job each would be built anew.
    return type(task_backends[backend])


class _LeavingCopies:
    """End the copies of this process that a task forks, where they come back out of the task.

    The original answers for the attempt, and the socket and the connections are its own.
    """

    __slots__ = ("_original",)

    def __enter__(self) -> None:
        self._original = os.getpid()

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if os.getpid() == self._original:
            return
        code: object = 0
        if error is not None:
            code = error.code or 0 if type(error) is SystemExit else 1
        os._exit(code & 0xFF if isinstance(code, int) else 1)


def _with_context(args: list[Any], ready: Ready, order: Order, is_unwanted: Callable[[], bool]) -> list[Any]:
    if not ready.task.takes_context:
        return args
    context = results.TaskContext(task_result=ready.result, edit_count=order.edit_count, is_unwanted=is_unwanted)
    return [context, *args]


def _succeeded(value: Any, order: Order, task: AnyTask, bounds: Bounds) -> Outcome:
    attempt = running.attempt.get()
    try:
        text = dumps(value, "result", max_bytes=bounds.max_result_bytes)
        if attempt is not None and attempt.secrets:
            Spill(attempt.secrets).require_none(value, "result", "a result is stored, and secrets are not")
        return Succeeded(text)
    except InvalidPayload as error:
        return Failed(failure_of(error, order, task), Verdict.INVALID_RESULT)
