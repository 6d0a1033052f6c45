"""What a test asks for, where a mistake would make it pass: no task, a queue that nobody has, an answer of no use."""

from __future__ import annotations

import types
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from numbers import Number
from typing import Any

from django_jobqueue.compat import Task
from django_jobqueue.payload.misfit import a, shown

SHOWN = 10


def require_task(asker: str, task: object) -> None:
    """Raise TypeError for what is no task: its function has no name under which jobs are stored."""
    if isinstance(task, Task):
        return
    if isinstance(task, types.FunctionType):
        got = f"the function {task.__module__}.{task.__qualname__}"
    else:
        got = f"the text {shown(task)}" if isinstance(task, str) else shown(task)
    raise TypeError(f"{asker}() takes a task; got {got}: pass the task itself, what @task has made of the function")


def require_queues(asked: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError for a name, or a prefix with its asterisk, that means none of the queues that are known."""
    for name in asked:
        if any(queue.startswith(name[:-1]) if name.endswith("*") else queue == name for queue in known):
            continue
        near = get_close_matches(name.removesuffix("*"), known, n=1)
        some = ", ".join(map(repr, sorted(known)[:SHOWN])) or "none"
        hint = f"did you mean {near[0]!r}?" if near else f"there are {some}"
        raise ValueError(f"no task or job has the queue {name!r}; {hint}")


def arranged(value: Any) -> dict[str, Any]:
    """Read what the drill's `arrange` has returned. Raises TypeError for what is no dict of keyword arguments."""
    if not isinstance(value, Mapping):
        raise TypeError(f"arrange() returns the task's keyword arguments as a dict; got {_kind(value)}")
    return dict(value)


def counted(value: Any) -> dict[str, int]:
    """Read what the drill's `effects` has returned. Raises TypeError for what is no dict of counts."""
    if not isinstance(value, Mapping):
        raise TypeError(f"effects() returns counts by name as a dict; got {_kind(value)}")
    for name, count in value.items():
        if not isinstance(count, Number):
            raise TypeError(f"effects() returns counts by name as a dict; it has {name!r} as {_kind(count)}")
    return dict(value)


def _kind(value: object) -> str:
    return "None" if value is None else a(type(value).__name__)
