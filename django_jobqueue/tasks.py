"""The `@task` decorator, and what a task may say about its own failure.

    from django_jobqueue import task

    @task(queue_name="billing", max_attempts=5, timeout=30, never_retry=(CardDeclined,))
    def charge(invoice_id: int) -> str: ...

`Task` is Django's with more fields, so a project may switch to Django's Immediate or Dummy backend,
which ignore them. Our backend also takes Django's plain `Task`: `any_task` answers for both.

A new option is a field of `Task` with its docstring, a parameter of `task`, and a rule in
`task_options.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.payload.keys import KeyMaker
from django_jobqueue.payload.versions import Step
from django_jobqueue.policy import backoff as backoffs
from django_jobqueue.policy.breaker import Breaker

if TYPE_CHECKING:
    from typing import Self

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

    concurrency_key: KeyMaker | None = None
    """A template or function, as unique_key: jobs of one key, of whatever task, share a limit."""

    concurrency_limit: int | None = None
    """Jobs of one concurrency_key that run at once, in all workers together; without one, of this task."""

    rate_limit: str | None = None
    """Jobs of one concurrency_key that start in a time, in all workers together; without one, of this task: "100/m"."""

    max_depth: int | None = None
    """Due jobs of one concurrency_key that have not started, above which an enqueue raises QueueFull; without a key, of
    this task. None is no limit."""

    order_key: KeyMaker | None = None
    """A template or function, as unique_key: jobs of one key run one after the other, in the order of their ids."""

    after_death: str = "pass"
    """What a dead letter does to the next jobs of its order_key: it lets them "pass", or "block"s them until closed."""

    breaker: Breaker | None = None
    """The circuit breaker of what it depends on: while that is down its jobs wait, and no attempt is spent."""

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
    concurrency_key: KeyMaker | None = ...,
    concurrency_limit: int | None = ...,
    rate_limit: str | None = ...,
    max_depth: int | None = ...,
    order_key: KeyMaker | None = ...,
    after_death: str = ...,
    breaker: Breaker | None = ...,
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


def _record(task: Task) -> None:
    known = _declared.get(task.module_path)
    # `using()` makes variants of one function: the declaration stays, until its module is loaded
    # anew.
    if known is None or known.func is not task.func:
        _declared[task.module_path] = task
