"""What OPTIONS `queues` says of a queue: `{"mail": {"max_running": 4}}`.

A new rule is a field here with its docstring, its unit and its bounds; errors and documentation read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from django_jobqueue.policy import rate

MAX_AT_ONCE = 1_000_000
"""The most that a limit may say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePolicy:
    """The rules of one queue."""

    max_running: int | None = field(default=None, metadata={"minimum": 1, "maximum": MAX_AT_ONCE})
    """Jobs of this queue that run at once, in all workers together. None is no limit; default None."""

    rate_limit: str | None = field(default=None, metadata={"parse": rate.parse})
    """Jobs of this queue that start in a time, in all workers together: "100/m", or with a burst, "100/m burst 20".

    Starts in a second, minute (m), hour or day. None is no limit; default None.
    """

    @property
    def rate(self) -> rate.Rate | None:
        """The rate as numbers."""
        return None if self.rate_limit is None else rate.parse(self.rate_limit)


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
        if parse := known[rule].get("parse"):
            faults += _misread(f"queues[{name!r}][{rule!r}]", parse, given)
            continue
        minimum, maximum = known[rule]["minimum"], known[rule]["maximum"]
        is_number = isinstance(given, int) and not isinstance(given, bool)
        if given is not None and not (is_number and minimum <= given <= maximum):
            faults.append(f"queues[{name!r}][{rule!r}] is a whole number from {minimum} to {maximum}; got {given!r}")
    return faults


def _misread(what: str, parse: Callable[[Any], object], given: Any) -> list[str]:
    if given is not None:
        try:
            parse(given)
        except ValueError as error:
            return [f"{what} {error}; got {given!r}"]
    return []
