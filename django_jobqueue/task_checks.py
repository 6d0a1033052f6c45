"""What of a task is allowed, and still not what its author means: warnings of `check`, under stable ids.

    W008  a task with atomic=True, where queue and rows are on two databases
    W009  a name in `sensitive` that is no argument, and nearly one

They are raised by `checks.check_tasks`, whose other messages are errors.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name for it

from django_jobqueue.any_task import is_atomic, sensitive_of
from django_jobqueue.compat import AnyTask
from django_jobqueue.payload.secret_names import Names
from django_jobqueue.payload.signature import signature_of

SHOWN = 5
NEAR = 0.8
"""How alike a name and an argument are, of 1, before one is taken for a typo of the other."""


def check_atomic(tasks: Sequence[AnyTask], databases: Mapping[str, tuple[str, str]]) -> Iterator[CheckMessage]:
    """Warn of atomic tasks whose rows are elsewhere; databases are those of queue and rows, by alias of TASKS."""
    for alias, (database, of_rows) in databases.items():
        atomic = sorted(task.module_path for task in tasks if task.backend == alias and is_atomic(task))
        if not atomic or database == of_rows:
            continue
        more = f" and {len(atomic) - SHOWN} more" if len(atomic) > SHOWN else ""
        yield Warning(
            f"TASKS[{alias!r}] has its queue on {database!r} and the project's rows on {of_rows!r}: atomic=True of "
            f"{', '.join(atomic[:SHOWN])}{more} covers what is written to {database!r}, and no row on {of_rows!r}.",
            hint="Make such a task safe to run twice by a unique constraint on its rows, and leave atomic=True out; or "
            'silence this where it writes to the queue\'s database alone. See "A queue on another database" in '
            "docs/guides/write-tasks.md.",
            id="django_jobqueue.W008",
        )


def check_sensitive(tasks: Sequence[AnyTask]) -> Iterator[CheckMessage]:
    """Warn of names that hide nothing, and are nearly those of arguments or of fields that hints name."""
    for task in sorted(tasks, key=lambda task: task.module_path):
        declared = sensitive_of(task)
        known = _names(task) if declared else []
        for name in declared:
            near = get_close_matches(name, known, n=1, cutoff=NEAR)
            if near and name not in Names(known):
                yield Warning(
                    f"Task {task.module_path} has {name!r} in sensitive, and takes nothing of that name; did you mean "
                    f"{near[0]!r}?",
                    hint="Its value is shown where the job is shown. Silence this where the name is that of a key.",
                    id="django_jobqueue.W009",
                )


def _names(task: AnyTask) -> list[str]:
    takes = signature_of(task.func, takes_context=task.takes_context, follow_wrapped=True)
    names = dict.fromkeys([*takes.positional, *sorted(takes.keywords)])
    left: list[Any] = list(_hints(task.func).values())
    seen: list[Any] = []
    while left:
        hint = left.pop()
        left.extend(typing.get_args(hint))
        if isinstance(hint, type) and hint not in seen:
            seen.append(hint)
            fields = _fields(hint)
            names.update(dict.fromkeys(fields))
            left.extend(fields.values())
    return list(names)


def _fields(cls: Any) -> dict[str, Any]:
    """Name the fields of a class that is stored as an object, each with its hint."""
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls)]
    elif hasattr(cls, "model_fields") or hasattr(cls, "__struct_fields__"):
        names = [*getattr(cls, "model_fields", getattr(cls, "__struct_fields__", ()))]
    elif typing.is_typeddict(cls):
        names = [*cls.__annotations__]
    else:
        return {}
    hints = _hints(cls)
    return {name: hints.get(name) for name in names}


def _hints(of: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(of)
    except Exception:  # names that only a type checker knows
        return {}
