"""Which queues and tasks there are by name, so that a name that is none is answered with the one that was meant."""

from __future__ import annotations

from collections.abc import Iterable, Set
from difflib import get_close_matches

from django.db import OperationalError

from django_jobqueue import registry
from django_jobqueue.any_task import names_of
from django_jobqueue.compat import AnyTask, task_backends
from django_jobqueue.models import Pause
from django_jobqueue.watch.stats import task_stats


def queue_names(tasks: Iterable[AnyTask], more: Iterable[str] = ()) -> set[str]:
    """Collect the queues that tasks are declared for, those of QUEUES, and more that the caller knows."""
    listed = (params.get("QUEUES") or [] for params in task_backends.settings.values())
    return {*more, *(task.queue_name for task in tasks)}.union(*listed)


def task_names(tasks: Iterable[AnyTask], more: Iterable[str] = ()) -> set[str]:
    """Collect the names that tasks answer to, and more that the caller knows."""
    return {*more, *(name for task in tasks for name in names_of(task))}


def hint(what: str, name: str | None, known: Set[str]) -> str:
    """Say that `name`, or names with a beginning `name*`, are not known, and which may be meant; nothing if they are.

    The answer quotes names as they are, which may be anybody's.
    """
    if name is None or name in known:
        return ""
    if name.endswith("*") and any(one.startswith(name[:-1]) for one in known):
        return ""
    near = sorted(one for one in known if one.endswith(f".{name}")) or get_close_matches(name, sorted(known), n=1)
    return f"no {what} {name}" + (f"; did you mean {' or '.join(near)}?" if near else "")


def hints_for(pause: Pause, using: str) -> list[str]:
    """Say what whoever has just paused something should know of its name: that it is none, or not the only one."""
    try:
        tasks, rows = registry.known_tasks(), task_stats(using)
    except (ImportError, OperationalError):
        return []
    if pause.kind == Pause.Kind.QUEUE:
        hints = [hint("task has the queue", pause.target, queue_names(tasks, [row.queue_name for row in rows]))]
    else:
        hints = [hint("task is named", pause.target, task_names(tasks, [row.task for row in rows]))]
        hints += [_other_names(pause, names_of(task)) for task in tasks]
    return [one for one in hints if one]


def _other_names(pause: Pause, names: Iterable[str]) -> str:
    paused = [name for name in names if pause.covers(task=name)]
    others = [name for name in names if not pause.covers(task=name)]
    if not paused or not others:
        return ""
    return f"{paused[0]} is also named {' and '.join(others)}: jobs that are stored so are not paused"
