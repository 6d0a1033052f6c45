"""What an exception of a task means: the policy of its declaration, asked where the exception still is one.

Everything here may be the project's code: the exception, its class, a rule, a back-off. None of it gets past.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from traceback import walk_tb

from django_jobqueue import any_task, results, tasks
from django_jobqueue.compat import AnyTask
from django_jobqueue.exceptions import InvalidPayload, JobCancelled, Reject, Retry, SecretUnavailable, Snooze
from django_jobqueue.payload.signature import signature_of
from django_jobqueue.payload.storable_text import Cover, describe, storable
from django_jobqueue.policy.backoff import Backoff
from django_jobqueue.policy.outcomes import Cancelled, Failed, Failure, Outcome, Snoozed, Verdict
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
        return _judged(error, task, result, cover)
    except BaseException as flaw:
        # An exception is the task's code too: it may lie about its class, or be a Snooze without seconds.
        log_error(
            f"what {task.module_path} raised cannot be judged, and counts as an ordinary failure: it", flaw, cover
        )
        return Failed(describe(error, cover=cover))


def _judged(error: BaseException, task: AnyTask, result: results.TaskResult, cover: Cover) -> Outcome:
    match error:
        case Snooze():
            return Snoozed(Snooze(error.seconds).seconds)
        case Retry():
            return Failed(describe(error, cover=cover), after_seconds=Retry(error.after).after)
        case Reject():
            return Failed(describe(error, cover=cover), Verdict.REJECTED)
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
