"""The `@task` decorator, and what a task may say about its own failure.

    from django_jobqueue import task

    @task(queue_name="billing", max_attempts=5, timeout=30, never_retry=(CardDeclined,))
    def charge(invoice_id: int) -> str: ...

`Task` is Django's with more fields, so a project may switch to Django's Immediate or Dummy backend,
which ignore them. Our backend also takes Django's plain `Task`: the functions at the end of this
module answer for both.

A new option is a field of `Task` with its docstring, a parameter of `task`, and a rule in
`task_options.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from django_jobqueue import task_options
from django_jobqueue.compat import (
    DEFAULT_TASK_BACKEND_ALIAS,
    DEFAULT_TASK_PRIORITY,
    DEFAULT_TASK_QUEUE_NAME,
    AnyTask,
    InvalidTask,
)
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload
from django_jobqueue.payload.secret_names import Names, kind_of
from django_jobqueue.payload.secret_reference import Secret, references_in, revived
from django_jobqueue.payload.signature import require_names, signature_of
from django_jobqueue.payload.typed import forms_of
from django_jobqueue.payload.unique_key import KeyMaker
from django_jobqueue.payload.versions import Step, upgraded
from django_jobqueue.policy import backoff as backoffs
from django_jobqueue.policy.retry import RetryPolicy

if TYPE_CHECKING:
    from typing import Self

    from django_jobqueue.conf import Options

_declared: dict[str, Task] = {}


# Without slots: a dataclass with slots is a second class, in which super() does not work before
# Python 3.14.
@dataclass(frozen=True, kw_only=True)
class Task(AnyTask):
    """A function that can be enqueued, and what happens when it fails."""

    task_name: str | None = None
    """The name under which jobs are stored, so that the function may move.

    None is its dotted path.
    """

    aliases: tuple[str, ...] = ()
    """Names under which older jobs of this task are stored."""

    max_attempts: int | None = None
    """Charged attempts before a job is a dead letter. None is OPTIONS max_attempts."""

    backoff: backoffs.Backoff | backoffs.BackoffCallable | None = None
    """The wait before the next attempt: a policy of `django_jobqueue.backoff`, or a function.

    A function is `(exception, task_result) -> seconds | None`.
    None is the default policy; so is a None that a callable returns, and the wait after an attempt
    that left no exception.
    """

    retry_on: tuple[type[BaseException], ...] | None = None
    """Exceptions after which to try again; others are dead letters at once. None is every one."""

    never_retry: tuple[type[BaseException], ...] = ()
    """Exceptions that go to the dead letters at once. It is stronger than retry_on."""

    timeout: float | None = None
    """Seconds after which an attempt is stopped, whatever it does. None is never."""

    atomic: bool = False
    """Run in one transaction with the record of its success.

    What it writes to the queue's database is committed exactly once, or not at all. For functions only.
    """

    version: int = 1
    """The version of its arguments: one more whenever jobs that are stored would not fit any more."""

    upgrade: Mapping[int, Step] = field(default_factory=dict, hash=False)
    """How older jobs are made to fit: for each earlier version a function `(args, kwargs) -> (args, kwargs)`.

    It gets plain JSON as it is stored, and leads to the next version.
    """

    unique_key: KeyMaker | None = None
    """A template, as in "invoice:{invoice_id}", or a function of the arguments: one live job for each key.

    A call whose key a live job holds answers with that job; `result.created` is False then.
    """

    unique_until: str = "finished"
    """Until when a job holds its key: "finished", retries included, or "started", until it is first claimed."""

    owner: str = ""
    """Who answers for its dead letters: a team, a person, an address."""

    runbook: str = ""
    """Where to read what to do about its dead letters: an address or a few words."""

    sensitive: tuple[str, ...] = ()
    """Names of arguments, and of keys at any depth in them, whose values are shown nowhere."""

    def __post_init__(self) -> None:
        task_options.require_stable(self.func, self.task_name)
        for name, value in task_options.normalized(self).items():
            object.__setattr__(self, name, value)
        try:
            super().__post_init__()
        except InvalidTask as error:
            # What Django says does not always name the task.
            raise InvalidTask(f"task {self.module_path}: {error}") from error
        _record(self)

    def using(self, *, unique_key: KeyMaker | None = None, **changes: Any) -> Self:
        """Make a variant for one call: what Django's `using()` takes, and a unique_key.

        A key that is no template has its braces doubled; a function may return any text. Raises TypeError for what it
        does not take, as Django does.
        """
        if strange := [task_options.not_for_using(name) for name in changes if name not in task_options.USING]:
            raise TypeError(f"task {self.module_path}: {'; '.join(strange)}")
        variant: Any = super().using(**changes)
        return variant if unique_key is None else replace(variant, unique_key=unique_key)  # type: ignore[no-any-return]


@overload
def task(function: Callable[..., Any], /) -> Task: ...


@overload
def task(
    *,
    priority: int = ...,
    queue_name: str = ...,
    backend: str = ...,
    takes_context: bool = ...,
    task_name: str | None = ...,
    aliases: tuple[str, ...] = ...,
    max_attempts: int | None = ...,
    backoff: backoffs.Backoff | backoffs.BackoffCallable | None = ...,
    retry_on: tuple[type[BaseException], ...] | type[BaseException] | None = ...,
    never_retry: tuple[type[BaseException], ...] | type[BaseException] = ...,
    timeout: float | None = ...,
    atomic: bool = ...,
    version: int = ...,
    upgrade: Mapping[int, Step] = ...,
    unique_key: KeyMaker | None = ...,
    unique_until: str = ...,
    owner: str = ...,
    runbook: str = ...,
    sensitive: tuple[str, ...] = ...,
) -> Callable[[Callable[..., Any]], Task]: ...


def task(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a task of a function. Takes the options of Django's decorator and the fields of `Task`.

    Raises InvalidOptions for an unknown or wrong option, and Django's InvalidTask for a function
    that a worker could not find.
    """
    unknown = [task_options.unknown(name) for name in options if name not in task_options.KNOWN]

    # Whatever class the backend of the moment prefers: the options must survive a change of
    # settings.
    def declare(function: Callable[..., Any]) -> Task:
        if unknown:
            raise InvalidOptions(f"task {task_options.path_of(function)}: {'; '.join(unknown)}")
        return Task(**(_DJANGO_DEFAULTS | options | {"func": function, "run_after": None}))

    return declare if function is None else declare(function)


# Django 6.0's Task has no defaults of its own.
_DJANGO_DEFAULTS: dict[str, Any] = {
    "priority": DEFAULT_TASK_PRIORITY,
    "queue_name": DEFAULT_TASK_QUEUE_NAME,
    "backend": DEFAULT_TASK_BACKEND_ALIAS,
    "takes_context": False,
}


def declared() -> Mapping[str, Task]:
    """Return every Task of ours that was declared in this process, by the path of its function."""
    return MappingProxyType(_declared)


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
        hidden = Names(sensitive_of(task))
        if (
            forms_of(task.func, takes_context=task.takes_context)
            or isinstance(getattr(task, "unique_key", None), str)
            or any(name in hidden or kind_of(name) for name in named)
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


def _record(task: Task) -> None:
    known = _declared.get(task.module_path)
    # `using()` makes variants of one function: the declaration stays, until its module is loaded
    # anew.
    if known is None or known.func is not task.func:
        _declared[task.module_path] = task
