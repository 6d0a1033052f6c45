"""Which names stand for which tasks in this process.

A job's row holds a name. It is looked up here and nowhere else: what a row says never decides what
is imported. The tasks known are those in the `tasks` module of every installed app, and those
declared anywhere that has been imported.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from sysconfig import get_path
from traceback import extract_tb
from types import MappingProxyType, ModuleType

from django.apps import apps
from django.utils.module_loading import module_has_submodule

from django_jobqueue.any_task import breaker_of, names_of, stored_name, version_of
from django_jobqueue.compat import AnyTask, Task
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.policy.breaker import Breaker
from django_jobqueue.tasks import declared

logger = logging.getLogger(__name__)

MODULE_NAME = "tasks"


@dataclass(frozen=True, slots=True)
class Registry:
    """The known tasks by name.

    A task is there once under its stored name and once under each alias.
    """

    tasks: Mapping[str, AnyTask]

    def get(self, name: str) -> AnyTask | None:
        """Return the task that answers to a stored name or an alias, or None."""
        return self.tasks.get(name)

    def names(self) -> tuple[str, ...]:
        """Return every name known, sorted: what a worker may claim."""
        return tuple(sorted(self.tasks))

    def functions(self) -> tuple[str, ...]:
        """Return the names of tasks that run in a thread, sorted."""
        return tuple(name for name in self.names() if not iscoroutinefunction(self.tasks[name].func))

    def coroutines(self) -> tuple[str, ...]:
        """Return the names of tasks that run in the event loop, sorted."""
        return tuple(name for name in self.names() if iscoroutinefunction(self.tasks[name].func))

    def breakers(self) -> dict[str, Breaker]:
        """Return the circuit breaker of each name whose task has one."""
        return {name: breaker for name, task in self.tasks.items() if (breaker := breaker_of(task)) is not None}

    def versions(self) -> dict[str, int]:
        """Return the newest version known of each name whose task has more than one."""
        return {name: version for name, task in self.tasks.items() if (version := version_of(task)) > 1}


def discover() -> Registry:
    """Import every app's `tasks` module and return the tasks known.

    Raises ImportError, naming the module, where one cannot be imported, and InvalidOptions where
    two tasks claim one name.
    """
    tasks = known_tasks()
    conflicts = duplicates(tasks)
    if conflicts:
        raise InvalidOptions("; ".join(conflicts))
    return Registry(MappingProxyType({name: task for task in tasks for name in names_of(task)}))


def find(name: str) -> AnyTask | None:
    """Return the task that answers to a name, or None.

    Imports the apps' `tasks` modules if the name is not known yet.
    """
    for task in declared().values():
        if name in names_of(task):
            return task
    try:
        return next((task for task in known_tasks() if name in names_of(task)), None)
    except ImportError as error:
        # Someone asks about one job; a module of another app that is broken is not their trouble.
        logger.warning("Cannot look for task %s everywhere: %s", name, error)
        return None


def duplicates(tasks: Iterable[AnyTask]) -> list[str]:
    """Name every stored name or alias that two functions claim, and breakers that differ, and what to do about it."""
    tasks = list(tasks)
    claims: dict[str, set[str]] = {}
    for task in tasks:
        for name in names_of(task):
            claims.setdefault(name, set()).add(task.module_path)
    faults = [
        f"{name!r} names {' and '.join(sorted(paths))}; give each its own task_name and aliases"
        for name, paths in sorted(claims.items())
        if len(paths) > 1
    ]
    return [*faults, *_breakers_that_differ(tasks)]


def _breakers_that_differ(tasks: Iterable[AnyTask]) -> Iterator[str]:
    """Name every breaker that two tasks declare with different rules."""
    declared: dict[str, tuple[Breaker, str]] = {}
    for task in tasks:
        if breaker := breaker_of(task):
            first, path = declared.setdefault(breaker.name, (breaker, task.module_path))
            if first != breaker:
                yield (
                    f"breaker {breaker.name!r} has other rules in {task.module_path} than in {path}; "
                    "declare it once, and import it"
                )


def modules() -> Iterator[ModuleType]:
    """Import and yield the `tasks` module of every installed app that has one.

    Raises ImportError, naming the module.
    """
    for app in apps.get_app_configs():
        if app.module is not None and module_has_submodule(app.module, MODULE_NAME):
            yield _imported(f"{app.name}.{MODULE_NAME}")


def known_tasks() -> list[AnyTask]:
    """Import every app's `tasks` module and return each task once, duplicates of names included.

    Raises ImportError.
    """
    found: dict[tuple[str, str], AnyTask] = {}
    for module in modules():
        for value in list(vars(module).values()):
            if isinstance(value, Task):
                # `urgent = charge.using(priority=50)` is the same task; the declaration stands for
                # both.
                task = declared().get(value.module_path, value)
                found.setdefault((task.module_path, stored_name(task)), task)
    for task in declared().values():
        found.setdefault((task.module_path, stored_name(task)), task)
    return list(found.values())


def _imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except Exception as error:
        words = error.msg if isinstance(error, SyntaxError) else error
        raise ImportError(
            f"task module {name!r} cannot be imported: {type(error).__name__}: {words}{_place(error)}", name=name
        ) from error


def _place(error: Exception) -> str:
    """Say in which line of the project's it was raised: the innermost that is not of a package it has installed."""
    if isinstance(error, SyntaxError):
        # No frame is in a file that could not be read.
        return f" ({error.filename}, line {error.lineno})"
    places = [frame for frame in extract_tb(error.__traceback__) if not _is_installed(frame.filename)]
    return f" ({places[-1].filename}, line {places[-1].lineno})" if places else ""


def _is_installed(filename: str) -> bool:
    return filename.startswith(("<", *_NOT_THE_PROJECT)) or "site-packages" in filename or "dist-packages" in filename


_NOT_THE_PROJECT = (f"{Path(__file__).parent}{os.sep}", f"{get_path('stdlib')}{os.sep}")
