"""What OPTIONS `queues` says of a queue: `{"mail": {"max_running": 4}}`.

A new rule is a field here with its docstring, its unit and its bounds; errors and documentation read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

MAX_AT_ONCE = 1_000_000
"""The most that a limit may say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePolicy:
    """The rules of one queue."""

    max_running: int | None = field(default=None, metadata={"minimum": 1, "maximum": MAX_AT_ONCE})
    """Jobs of this queue that run at once, in all workers together. None is no limit; default None."""

    max_depth: int | None = field(default=None, metadata={"minimum": 1, "maximum": MAX_AT_ONCE})
    """Due jobs of this queue that have not started: with as many, an enqueue raises QueueFull.

    None is no limit; default None.
    """

    max_age_seconds: int | None = field(default=None, metadata={"minimum": 1, "maximum": 30 * 24 * 3600})
    """So long the oldest due job of this queue may have waited; while one has for longer, an enqueue raises QueueFull.

    Seconds; None is no limit; default None.
    """


NO_POLICY = QueuePolicy()


def problems(value: Any) -> list[str]:
    """Name every fault in OPTIONS `queues`, each with what to type instead."""
    if not isinstance(value, Mapping):
        return [
            f'queues is a dict of queue names and their rules, as in {{"mail": {{"max_running": 4}}}}; got {value!r}'
        ]
    faults = []
    for name, rules in value.items():
        if not isinstance(name, str) or not name or "*" in name:
            faults.append(f"queues has the name {name!r}; write the whole name of a queue")
        elif not isinstance(rules, Mapping):
            faults.append(f'queues[{name!r}] is a dict of rules, as in {{"max_running": 4}}; got {rules!r}')
        else:
            faults += _problems_of(name, rules)
    return faults


def _problems_of(name: str, rules: Mapping[str, Any]) -> list[str]:
    known = {rule.name: rule.metadata for rule in fields(QueuePolicy)}
    faults = []
    for rule, given in rules.items():
        if rule not in known:
            faults.append(f"queues[{name!r}] has the rule {rule!r}; known are {', '.join(sorted(known))}")
            continue
        minimum, maximum = known[rule]["minimum"], known[rule]["maximum"]
        is_number = isinstance(given, int) and not isinstance(given, bool)
        if given is not None and not (is_number and minimum <= given <= maximum):
            faults.append(f"queues[{name!r}][{rule!r}] is a whole number from {minimum} to {maximum}; got {given!r}")
    return faults
