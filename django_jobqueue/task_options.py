"""The rules for what a task may be and say: each fault with the value found and what to type."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from django_jobqueue.compat import InvalidTask
from django_jobqueue.conf import MAX_ATTEMPTS, unknown_option
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.payload.keys import KEYS, KeyMaker, names_in
from django_jobqueue.payload.signature import signature_of
from django_jobqueue.payload.versions import Step
from django_jobqueue.policy import rate
from django_jobqueue.policy.backoff import Backoff, constant, exponential, linear
from django_jobqueue.policy.breaker import Breaker
from django_jobqueue.queue_policy import MAX_AT_ONCE

MAX_NAME_LENGTH = 255
"""The width of the column that holds a stored name."""

MAX_VERSION = 32_767

KNOWN = (
    "priority",
    "queue_name",
    "backend",
    "takes_context",
    "task_name",
    "aliases",
    "max_attempts",
    "backoff",
    "retry_on",
    "never_retry",
    "timeout",
    "atomic",
    "version",
    "upgrade",
    "unique_key",
    "unique_until",
    "concurrency_key",
    "concurrency_limit",
    "rate_limit",
    "max_depth",
    "order_key",
    "after_death",
    "breaker",
    "owner",
    "runbook",
    "sensitive",
)
"""What the decorator takes: Django's four, then ours."""


_NAME = re.compile(r"\w[\w.:/-]*")


USING = ("backend", "priority", "queue_name", "run_after", "unique_key")
"""What `using()` takes: Django's four, then ours."""

_ELSEWHERE = {
    "time_limit": "timeout",
    "soft_time_limit": "timeout",
    "bind": "takes_context",
    "max_retries": "max_attempts",
    "autoretry_for": "retry_on",
}
"""What other queues call it, where the nearest name would not be found by its letters."""


def unknown(name: str) -> str:
    """Say that the decorator does not take this option, and what it takes."""
    if name == "run_after":
        return "run_after is for one job, not for a task; use .using(run_after=…).enqueue(…)"
    if name in _ELSEWHERE:
        return f"unknown option {name!r}; did you mean {_ELSEWHERE[name]!r}?"
    return unknown_option(name, list(KNOWN))


def not_for_using(name: str) -> str:
    """Say that `using()` does not take this, and what does."""
    if name in KNOWN:
        return f"{name} belongs to @task; using() takes {', '.join(USING)}"
    return unknown_option(name, list(USING))


def path_of(function: Any) -> str:
    """Name what was decorated: by its path, if it has one."""
    try:
        return f"{function.__module__}.{function.__qualname__}"
    except AttributeError:
        return repr(function)


def require_stable(function: Any, task_name: str | None = None) -> None:
    """Raise InvalidTask unless a worker, in another process, can find `function` by its name."""
    problem = _instability(function) or _unstorable_path(function, task_name)
    if problem:
        raise InvalidTask(f"{function!r} cannot be a task: {problem}")


def normalized(task: Any) -> dict[str, Any]:
    """Return the options of a Task as they are kept.

    Raises InvalidOptions, which names every fault of the task.
    """
    values: dict[str, Any] = {}
    faults = []
    for option, rule in _RULES.items():
        try:
            values[option] = rule(getattr(task, option))
        except ValueError as error:
            faults.append(f"{option} {error}; got {getattr(task, option)!r}")
    if not faults:
        both = [cls.__name__ for cls in values["never_retry"] if cls in (values["retry_on"] or ())]
        faults = [f"{name} is in retry_on and in never_retry; keep one" for name in both]
        if values["atomic"] and iscoroutinefunction(task.func):
            faults.append("atomic is for functions: Django has no transactions in coroutines; leave it out")
        earlier = set(range(1, values["version"]))
        if missing := sorted(earlier - set(values["upgrade"])):
            faults.append(f"upgrade has nothing for version {', '.join(map(str, missing))}; jobs of it would not fit")
        if strange := sorted(set(values["upgrade"]) - earlier):
            faults.append(f"upgrade names version {', '.join(map(str, strange))}; version is {values['version']}")
        faults += _strangers_in_keys(task, values)
        if values["after_death"] == "block" and values["order_key"] is None:
            faults.append('after_death="block" is about the successors of a job; it has none without order_key')
    if faults:
        raise InvalidOptions(f"task {task.module_path}: {'; '.join(faults)}")
    return values


def _strangers_in_keys(task: Any, values: Mapping[str, Any]) -> list[str]:
    takes = signature_of(task.func, takes_context=task.takes_context, follow_wrapped=True)
    known = takes.keywords.union(takes.positional)
    return [
        f"{option} names {{{name}}}, which {takes.name}() does not take"
        for option in KEYS
        if isinstance(values[option], str)
        for name in sorted(names_in(values[option]) - known)
    ]


def _instability(function: Any) -> str:
    if not inspect.isfunction(function):
        return "it is not a plain function; write `def name(…): …` at the top of a module, and decorate that"
    if function.__name__ == "<lambda>":
        return "a lambda has no name; write `def name(…): …` at the top of a module"
    if "<locals>" in function.__qualname__:
        return (
            "it is defined inside another function, where a worker cannot find it; "
            "move it to the top of a module "
            "(a decorator of your own needs functools.wraps)"
        )
    if "." in function.__qualname__:
        return "it is a method; move it to the top of a module, and pass it what it needs as arguments"
    if function.__module__ == "__main__":
        return "it belongs to the script that runs, which is another one in a worker; move it to a module of an app"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "it has a `yield`: to call it makes a generator, and runs none of it; loop in it, and return a value"
    return ""


def _unstorable_path(function: Any, task_name: str | None) -> str:
    path = path_of(function)
    if task_name is None and len(path) > MAX_NAME_LENGTH:
        return f"its path has {len(path)} characters, more than {MAX_NAME_LENGTH}; give it a task_name"
    return ""


def _task_name(value: Any) -> str | None:
    return None if value is None else _name(value)


def _aliases(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, tuple | list):
        raise ValueError('is a tuple of names, as in ("old.path.charge",)')
    return tuple(_name(name) for name in value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value) or len(value) > MAX_NAME_LENGTH:
        raise ValueError(
            f"takes up to {MAX_NAME_LENGTH} letters, digits and the signs _ . : / -, as in 'billing.charge'"
        )
    return value


def _max_attempts(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_ATTEMPTS:
        raise ValueError(f"is a whole number from 1 to {MAX_ATTEMPTS}")
    return value


def _backoff(value: Any) -> Backoff | Callable[..., Any] | None:
    if value is None or isinstance(value, Backoff):
        return value
    if not callable(value) or inspect.isclass(value):
        raise ValueError("is a policy of django_jobqueue.backoff, as in exponential(base_seconds=2), or a function")
    if call := _policy_call(value):
        raise ValueError(f"is {value.__name__}, which makes a policy: call it, as in {call}")
    if iscoroutinefunction(value):
        raise ValueError("is asked between attempts and cannot be awaited; use a plain function")
    if not _takes_two(value):
        raise ValueError("is called with two arguments, as backoff(exception, task_result); make it take both")
    return value  # type: ignore[no-any-return]


def _policy_call(function: Any) -> str:
    # Compared, not looked up: what is given need not have a hash.
    makers = {"constant(10)": constant, "linear(step_seconds=30)": linear, "exponential(base_seconds=2)": exponential}
    return next((call for call, maker in makers.items() if function is maker), "")


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # of a function in C nobody knows
        return True
    return True


def _exceptions(value: Any) -> tuple[type[BaseException], ...]:
    classes = tuple(value) if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        raise ValueError("takes exception classes, as in (ConnectionError, TimeoutError)")
    return classes


def _retry_on(value: Any) -> tuple[type[BaseException], ...] | None:
    return None if value is None else _exceptions(value)


def _timeout(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError("is a number of seconds above zero, as in timeout=30")
    return value


def _atomic(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is True or False")
    return value


def _version(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_VERSION:
        raise ValueError(f"is a whole number from 1 to {MAX_VERSION}")
    return value


def _upgrade(value: Any) -> Mapping[int, Step]:
    if not isinstance(value, Mapping) or not all(_is_step(*item) for item in value.items()):
        raise ValueError("is a dict of earlier versions and functions, as in {1: function_of_args_and_kwargs}")
    return dict(value)


def _is_step(version: Any, step: Any) -> bool:
    return type(version) is int and callable(step) and not inspect.isclass(step) and not iscoroutinefunction(step)


def _key(value: Any) -> KeyMaker | None:
    if value is None or (callable(value) and not inspect.isclass(value) and not iscoroutinefunction(value)):
        return value
    if not isinstance(value, str) or not value:
        raise ValueError('is a template, as in "invoice:{invoice_id}", or a function of the arguments')
    names_in(value)
    return value


def _unique_until(value: Any) -> str:
    if value not in ("finished", "started"):
        raise ValueError('is "finished" or "started"')
    return str(value)


def _at_once(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_AT_ONCE):
        raise ValueError(f"is a whole number from 1 to {MAX_AT_ONCE}")
    return value


def _rate(value: Any) -> str | None:
    return None if value is None else str(rate.parse(value))


def _after_death(value: Any) -> str:
    if value not in ("pass", "block"):
        raise ValueError('is "pass" or "block"')
    return str(value)


def _breaker(value: Any) -> Breaker | None:
    if value is not None and not isinstance(value, Breaker):
        raise ValueError('is a Breaker, as in Breaker("stripe", trips_on=(ConnectionError,))')
    return value


def _owner(value: Any) -> str:
    return _words(value, MAX_NAME_LENGTH)


def _runbook(value: Any) -> str:
    return _words(value, 2000)


def _sensitive(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        # A tuple of one without its comma: each letter would be a name.
        raise ValueError(f"is a tuple of names, as in ({value!r},)")
    if not isinstance(value, tuple | list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValueError('is a tuple of names of arguments and keys, as in ("iban", "date_of_birth")')
    return tuple(value)


def _words(value: Any, length: int) -> str:
    if not isinstance(value, str) or len(value) > length or "\0" in value:
        raise ValueError(f"is a text of at most {length} characters")
    return value


_RULES: dict[str, Callable[[Any], Any]] = {
    "task_name": _task_name,
    "aliases": _aliases,
    "max_attempts": _max_attempts,
    "backoff": _backoff,
    "retry_on": _retry_on,
    "never_retry": _exceptions,
    "timeout": _timeout,
    "atomic": _atomic,
    "version": _version,
    "upgrade": _upgrade,
    "unique_key": _key,
    "unique_until": _unique_until,
    "concurrency_key": _key,
    "concurrency_limit": _at_once,
    "rate_limit": _rate,
    "max_depth": _at_once,
    "order_key": _key,
    "after_death": _after_death,
    "breaker": _breaker,
    "owner": _owner,
    "runbook": _runbook,
    "sensitive": _sensitive,
}
