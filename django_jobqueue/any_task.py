"""What holds for the jobs of any task: one of ours, or Django's plain `Task`, which says nothing of it.

A new option of `Task` that others ask for has its answer for plain ones here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import unwrap
from typing import TYPE_CHECKING, Any

from django_jobqueue.compat import AnyTask
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.keys import KEYS, make_key
from django_jobqueue.payload.secret_names import Names, kind_of
from django_jobqueue.payload.secret_reference import Secret, references_in, revived
from django_jobqueue.payload.signature import require_names, signature_of
from django_jobqueue.payload.typed import forms_of
from django_jobqueue.payload.versions import upgraded
from django_jobqueue.policy import backoff as backoffs
from django_jobqueue.policy.breaker import Breaker
from django_jobqueue.policy.rate import Rate
from django_jobqueue.policy.rate import parse as parse_rate
from django_jobqueue.policy.retry import RetryPolicy
from django_jobqueue.tasks import Task

if TYPE_CHECKING:
    from django_jobqueue.conf import Options
    from django_jobqueue.queue_policy import QueuePolicy


def stored_name(task: AnyTask) -> str:
    """Return the name that a job of this task carries in its row."""
    return getattr(task, "task_name", None) or task.module_path


def names_of(task: AnyTask) -> tuple[str, ...]:
    """Return every name that this task answers to, the stored one first."""
    aliases = task.aliases if isinstance(task, Task) else ()
    return tuple(dict.fromkeys((stored_name(task), *aliases)))


def max_attempts_of(task: AnyTask, options: Options) -> int:
    """Return the charged attempts that a new job of this task may use."""
    return getattr(task, "max_attempts", None) or options.max_attempts


def timeout_of(task: AnyTask) -> float | None:
    """Return the hard time limit in seconds, or None."""
    return task.timeout if isinstance(task, Task) else None


def is_atomic(task: AnyTask) -> bool:
    """Say whether a job of this task and its finish are one transaction."""
    return isinstance(task, Task) and task.atomic


def version_of(task: AnyTask) -> int:
    """Return the version of arguments that the code of this task takes."""
    return task.version if isinstance(task, Task) else 1


def fresh_arguments(
    task: AnyTask, args: list[Any], kwargs: dict[str, Any], *, version: int
) -> tuple[list[Any], dict[str, Any]]:
    """Bring stored arguments of a version up to that of the task: plain JSON, and each Secret. Raises InvalidPayload.

    It calls the task's upgrades.
    """
    steps = task.upgrade if isinstance(task, Task) else {}
    return revived(*upgraded(args, kwargs, stored=version, version=version_of(task), steps=steps))


def typed_arguments(task: AnyTask, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Turn fresh arguments into what the hints of the task name. Raises InvalidPayload.

    It calls the task's code, where there are types of the project's.
    """
    return forms_of(task.func, takes_context=task.takes_context).read(args, kwargs)


def arguments_for(
    task: AnyTask, args: list[Any], kwargs: dict[str, Any], *, version: int
) -> tuple[list[Any], dict[str, Any]]:
    """Turn stored arguments of a version into those that the task is called with, but for what a Secret stands for.

    Raises InvalidPayload. It calls the task's code, where there are upgrades or types of the project's.
    """
    return typed_arguments(task, *fresh_arguments(task, args, kwargs, version=version))


def require_fit(task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = "") -> None:
    """Raise InvalidPayload unless the task can be called so, and its arguments be told apart where that matters.

    It matters where hints, a template of a key, or names that are hidden speak of them.
    """
    takes = signature_of(task.func, takes_context=task.takes_context)
    takes.require_fit(args, kwargs, path=path)
    if args and hasattr(task.func, "__wrapped__"):
        named = signature_of(task.func, takes_context=task.takes_context, follow_wrapped=True).positional
        # Those of the function too: not all may have a place behind what its decorators name.
        inside = signature_of(unwrap(task.func), takes_context=task.takes_context).positional
        hidden = Names(sensitive_of(task))
        if (
            forms_of(task.func, takes_context=task.takes_context)
            or any(isinstance(getattr(task, option, None), str) for option in KEYS)
            or any(name in hidden or kind_of(name) for name in (*named, *inside))
        ):
            require_names(task.func, args, kwargs, takes_context=task.takes_context, path=path)


def require_arguments(task: AnyTask, args: Any, kwargs: Any, *, version: int) -> frozenset[Secret]:
    """Raise InvalidPayload unless the task can be called with these stored arguments of a version.

    As `arguments_for`, it calls the task's code, but not the task. Returns the references that are in them.
    """
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        kinds = f"{type(args).__name__} and {type(kwargs).__name__}"
        raise InvalidPayload("args and kwargs", f"are of type {kinds}, not list and dict")
    fresh = fresh_arguments(task, args, kwargs, version=version)
    require_fit(task, *typed_arguments(task, *fresh))
    return references_in([*fresh[0], fresh[1]])


def is_unique_until_started(task: AnyTask) -> bool:
    """Say whether a job of this task gives up its unique key when it is first claimed."""
    return isinstance(task, Task) and task.unique_until == "started"


def keys_of(task: AnyTask, args: Sequence[Any], kwargs: Mapping[str, Any], *, path: str = "") -> dict[str, str | None]:
    """Make the keys that a call of the task asks for, by the option that names each. Raises InvalidPayload."""
    makers = {option: maker for option in KEYS if (maker := getattr(task, option, None)) is not None}
    return {
        option: make_key(option, maker, task.func, args, kwargs, takes_context=task.takes_context, path=path)
        for option, maker in makers.items()
    }


def concurrency_limit_of(task: AnyTask) -> int | None:
    """Return how many jobs of this task, or of one concurrency key of it, run at once; None is no limit."""
    return task.concurrency_limit if isinstance(task, Task) else None


def max_depth_of(task: AnyTask) -> int | None:
    """Return how many due jobs of this task, or of one concurrency key of it, may be in line; None is no limit."""
    return task.max_depth if isinstance(task, Task) else None


def is_limited_as_a_whole(task: AnyTask) -> bool:
    """Say whether its limits are for all jobs of the task together, and not for those of each key."""
    return isinstance(task, Task) and task.concurrency_key is None


def rate_of(task: AnyTask) -> Rate | None:
    """Return how many jobs of this task, or of one concurrency key of it, start in a time; None is no limit."""
    return parse_rate(task.rate_limit) if isinstance(task, Task) and task.rate_limit is not None else None


def rate_key_of(task: AnyTask, concurrency_key: str | None, queue: QueuePolicy) -> str | None:
    """Say by which key a job is under a rate; an empty text is by its queue or task alone, None under no rate."""
    has_rate = rate_of(task) is not None
    if has_rate and concurrency_key:
        return concurrency_key
    # A function that makes no key of a call takes it out of the rate of its key, and not out of that of the queue.
    return "" if queue.rate_limit is not None or (has_rate and is_limited_as_a_whole(task)) else None


def blocks_after_death(task: AnyTask) -> bool:
    """Say whether a dead letter of this task holds up the next jobs of its order key."""
    return isinstance(task, Task) and task.after_death == "block"


def owner_of(task: AnyTask) -> str:
    """Return who answers for the dead letters of this task, or an empty text."""
    return task.owner if isinstance(task, Task) else ""


def runbook_of(task: AnyTask | None) -> str:
    """Return where to read what to do about dead letters of this task, or an empty text; None is one nobody knows."""
    return task.runbook if isinstance(task, Task) else ""


def sensitive_of(task: AnyTask) -> tuple[str, ...]:
    """Return the names whose values are shown nowhere."""
    return task.sensitive if isinstance(task, Task) else ()


def declared_backoff_of(task: AnyTask) -> backoffs.Backoff:
    """Return the back-off that is known without calling the task's code, or the default one."""
    policy = task.backoff if isinstance(task, Task) else None
    return policy if isinstance(policy, backoffs.Backoff) else backoffs.DEFAULT


def breaker_of(task: AnyTask) -> Breaker | None:
    """Return the circuit breaker that holds jobs of this task; one without a name has that of the task."""
    breaker = task.breaker if isinstance(task, Task) else None
    return replace(breaker, name=stored_name(task)) if breaker is not None and not breaker.name else breaker


def policy_of(task: AnyTask, options: Options, *, max_attempts: int | None = None) -> RetryPolicy:
    """Return the bounds of a job of this task.

    max_attempts is that of the job's row; None is what a new job would get.
    """
    return RetryPolicy(
        max_attempts=max_attempts or max_attempts_of(task, options),
        backoff=declared_backoff_of(task),
        max_interruptions=options.max_interruptions,
        max_snoozes=options.max_snoozes,
    )


def may_retry(task: AnyTask, exception: BaseException) -> bool:
    """Say whether `retry_on` and `never_retry` allow another attempt after this exception.

    It runs the task's code where one of the classes has a say in issubclass: ask in the runner.
    """
    if not isinstance(task, Task):
        return True
    # Not isinstance: an exception may lie about its class, or fail to name it.
    cls = type(exception)
    return not issubclass(cls, task.never_retry) and (task.retry_on is None or issubclass(cls, task.retry_on))
