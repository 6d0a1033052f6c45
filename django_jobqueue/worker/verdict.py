"""What an exception of a task means: the policy of its declaration, asked where the exception still is one.

Everything here may be the project's code: the exception, its class, a rule, a back-off. None of it gets past.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import replace
from traceback import walk_tb

from django_jobqueue import any_task, results, tasks
from django_jobqueue.compat import AnyTask
from django_jobqueue.exceptions import (
    InvalidPayload,
    JobCancelled,
    Reject,
    Retry,
    SecretUnavailable,
    Snooze,
    TaskSignal,
)
from django_jobqueue.payload.signature import signature_of
from django_jobqueue.payload.storable_text import MAX_MESSAGE_CHARS, Cover, describe, earlier, storable
from django_jobqueue.policy.backoff import Backoff
from django_jobqueue.policy.fingerprint import origin
from django_jobqueue.policy.outcomes import NO_FAILURE, Cancelled, Failed, Failure, Outcome, Snoozed, Verdict
from django_jobqueue.worker.discretion import Stored, cover_any, cover_for

logger = logging.getLogger("django_jobqueue.worker")


def outcome_of(
    error: BaseException, order: Stored, task: AnyTask, result: results.TaskResult, is_unwanted: Callable[[], bool]
) -> Outcome:
    """Turn what a task raised into an outcome."""
    cover = cover_for(order, task)
    try:
        if issubclass(type(error), JobCancelled | asyncio.CancelledError) and is_unwanted():
            return Cancelled(describe(error, cover=cover))
        outcome = _judged(error, task, result, cover)
        # Arguments that do not fit, and a secret that is not there, stop a task before its code: nobody was asked.
        if isinstance(outcome, Failed) and (
            outcome.verdict is Verdict.INVALID_PAYLOAD or issubclass(type(error), SecretUnavailable)
        ):
            return outcome
        trips = _trips(error, task)
        return outcome if trips is None else replace(outcome, trips=trips)
    except BaseException as flaw:
        # An exception is the task's code too: it may lie about its class, or be a Snooze without seconds.
        log_error(
            f"what {task.module_path} raised cannot be judged, and counts as an ordinary failure: it", flaw, cover
        )
        return Failed(describe(error, cover=cover))


def _judged(error: BaseException, task: AnyTask, result: results.TaskResult, cover: Cover) -> Failed | Snoozed:
    match error:
        case Snooze():
            return Snoozed(Snooze(error.seconds).seconds, _why_snoozed(error, cover))
        case Retry():
            return Failed(_with_cause(error, cover), after_seconds=Retry(error.after).after)
        case Reject():
            failure = _with_cause(error, cover)
            # Its reason is the message, in the task's own words.
            return Failed(replace(failure, message=describe(error, cover=cover).message), Verdict.REJECTED)
        case SecretUnavailable():
            # Nothing of the task has run: its rules for what it raises say nothing of this.
            return Failed(describe(error, cover=cover), after_seconds=_asked_backoff(error, task, result, cover))
        case TypeError() if refusal := _refusal(error, task, result):
            message = f"{task.module_path} does not take the stored arguments: {refusal}"
            return Failed(Failure("builtins.TypeError", storable(cover(message), 4000)), Verdict.INVALID_PAYLOAD)
        case _ if not any_task.may_retry(task, error):
            return Failed(describe(error, cover=cover), Verdict.NOT_RETRYABLE)
        case _:
            return Failed(describe(error, cover=cover), after_seconds=_asked_backoff(error, task, result, cover))


def _trips(error: BaseException, task: AnyTask) -> bool | None:
    """Say whether the task's breaker counts what it raised: the exception, or what it has answered with a signal."""
    breaker = any_task.breaker_of(task)
    if breaker is None:
        return None
    # Not isinstance: an exception may lie about its class, or fail to name it.
    cause = earlier(error) if issubclass(type(error), TaskSignal) else None
    return any(issubclass(type(each), breaker.trips_on) for each in (error, cause) if each is not None)


def _why_snoozed(error: Snooze, cover: Cover) -> Failure:
    if earlier(error) is not None:
        return _with_cause(error, cover)
    # Where it was raised is no help, and a task may snooze a thousand times.
    return replace(describe(error, cover=cover), traceback="") if getattr(error, "reason", "") else NO_FAILURE


def _with_cause(error: TaskSignal, cover: Cover) -> Failure:
    """Describe what a task raised to steer itself, and what had led to it: by itself it does not say why."""
    failure = describe(error, cover=cover)
    cause = earlier(error)
    if cause is None:
        return failure
    told = describe(cause, cover=cover)
    name = told.exception_class.rpartition(".")[2]
    why = f"{name}: {told.message}" if told.message else name
    message = storable(f"{failure.message} ({why})", MAX_MESSAGE_CHARS)
    return replace(failure, message=message, cause=origin(told))


def _refusal(error: TypeError, task: AnyTask, result: results.TaskResult) -> InvalidPayload | None:
    """Say why the task cannot be called with what is stored; None where it was called, and failed by itself."""
    own_code = getattr(inspect.unwrap(task.func), "__code__", None)
    if any(frame.f_code is own_code for frame, _ in walk_tb(error.__traceback__)):
        return None
    try:
        for follow in (False, True):  # a decorator may pass on whatever it gets
            takes = signature_of(task.func, takes_context=task.takes_context, follow_wrapped=follow)
            takes.require_fit(result.args, result.kwargs)
    except InvalidPayload as refusal:
        return refusal
    return _refused_by_python(error, task)


def _refused_by_python(error: TypeError, task: AnyTask) -> InvalidPayload | None:
    """Say that the call that one of the task's decorators makes does not fit: Python's words name parameters alone."""
    layers = [task.func]
    while inner := getattr(layers[-1], "__wrapped__", None):
        layers.append(inner)
    raised_in = [frame.f_code for frame, _ in walk_tb(error.__traceback__)][-1:]
    is_of_a_decorator = any(getattr(layer, "__code__", None) in raised_in for layer in layers[:-1])
    words = str(error) if type(error) is TypeError else ""
    if is_of_a_decorator and any(words.startswith(f"{layer.__qualname__}() ") for layer in layers[1:]):
        return InvalidPayload("args and kwargs", f"are passed on by a decorator, and {words}")
    return None


def _asked_backoff(error: BaseException, task: AnyTask, result: results.TaskResult, cover: Cover) -> float | None:
    ask = task.backoff if isinstance(task, tasks.Task) else None
    if ask is None or isinstance(ask, Backoff):
        return None
    try:
        seconds = ask(error, result)
        return None if seconds is None else max(0.0, float(seconds))
    except BaseException as flaw:
        log_error(f"the default back-off is used: the back-off of {task.module_path}", flaw, cover)
        return None


def log_error(what: str, error: BaseException, cover: Cover = cover_any) -> None:
    """Log what somebody's code raised, in words that begin with whose it was."""
    # As text: logging's own rendering asks the exception for its class, and an exception may raise even then.
    failure = describe(error, cover=cover)
    logger.error("%s raised %s: %s\n%s", what, failure.exception_class, failure.message, failure.traceback)
