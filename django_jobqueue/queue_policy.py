"""What OPTIONS `queues` says of a queue: `{"mail": {"max_running": 4}}`.

A new rule is a field here with its docstring, its unit and its bounds; errors and documentation read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from django_jobqueue.policy import rate

MAX_AT_ONCE = 1_000_000
"""The most that a limit may say."""


MAX_WEIGHT = 1000
"""The most that a weight may say."""


def _problem_of_switch(given: Any) -> str:
    return "" if isinstance(given, bool) else "is True or False"


def _problem_of_weights(given: Any) -> str:
    are_weights = isinstance(given, Mapping) and all(
        isinstance(key, str) and type(weight) is int and 1 <= weight <= MAX_WEIGHT for key, weight in given.items()
    )
    return "" if are_weights else f'is a dict of keys and whole numbers from 1 to {MAX_WEIGHT}, as in {{"tenant:7": 3}}'


def _problem_of_rate(value: Any) -> str:
    if value is not None:
        try:
            rate.parse(value)
        except ValueError as error:
            return str(error)
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePolicy:
    """The rules of one queue."""

    max_running: int | None = field(default=None, metadata={"minimum": 1, "maximum": MAX_AT_ONCE})
    """Jobs of this queue that run at once, in all workers together. None is no limit; default None."""
    fair_share: bool = field(default=False, metadata={"problem": _problem_of_switch})
    """Whether tenants, told apart by concurrency key, share this queue, however many jobs each has; default False."""
    weights: Mapping[str, int] = field(default_factory=dict, metadata={"problem": _problem_of_weights})
    """Parts of the tenants that have another than 1, by key: 1 to 1000; "" is for jobs without a key. Default none."""

    def weight_of(self, key: str | None) -> int | None:
        """Return the part of a tenant in this queue; None where tenants do not share it."""
        return self.weights.get(key or "", 1) if self.fair_share else None

    rate_limit: str | None = field(default=None, metadata={"problem": _problem_of_rate})
    """Jobs of this queue that start in a time, in all workers together: "100/m", or with a burst, "100/m burst 20".

    Starts in a second, minute (m), hour or day. None is no limit; default None.
    """

    @property
    def rate(self) -> rate.Rate | None:
        """The rate as numbers."""
        return None if self.rate_limit is None else rate.parse(self.rate_limit)

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
        if (problem_of := known[rule].get("problem")) is not None:
            faults += [f"queues[{name!r}][{rule!r}] {problem}; got {given!r}"] if (problem := problem_of(given)) else []
            continue
        minimum, maximum = known[rule]["minimum"], known[rule]["maximum"]
        is_number = isinstance(given, int) and not isinstance(given, bool)
        if given is not None and not (is_number and minimum <= given <= maximum):
            faults.append(f"queues[{name!r}][{rule!r}] is a whole number from {minimum} to {maximum}; got {given!r}")
    if "weights" in rules and not rules.get("fair_share"):
        faults.append(f'queues[{name!r}] has weights, which are for tenants that share it; say "fair_share": True')
    return faults
