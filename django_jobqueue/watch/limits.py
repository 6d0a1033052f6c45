"""The limits that hold now: what the rows of live jobs say, what a person has set, and how many slots are taken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from django.db import OperationalError, connections

from django_jobqueue import registry
from django_jobqueue.any_task import concurrency_limit_of, is_limited_as_a_whole, names_of, sensitive_of
from django_jobqueue.compat import task_backends
from django_jobqueue.database import queue_options
from django_jobqueue.models import Limit
from django_jobqueue.payload.keys import names_in
from django_jobqueue.payload.masking import MASK
from django_jobqueue.payload.secret_names import Names
from django_jobqueue.shown import text
from django_jobqueue.store.session import PLAN_GUARD
from django_jobqueue.store.statement import Row, Statement, run_on
from django_jobqueue.watch.glance import glance
from django_jobqueue.watch.names import hint, queue_names, task_names

COUNT_CAP = 5_000
"""Jobs that have a slot which are looked at, and jobs that wait for one. Beyond it a count is a lower bound."""

LANE_CAP = 100
"""Combinations of backend, queue, task and key with jobs waiting that are looked at."""

MOST_BY_HAND = 500
"""Limits that people have set which are looked at."""


@dataclass(slots=True)
class Standing:
    """A limit as it stands: of a queue, a task or a concurrency key, in one task backend."""

    kind: str
    target: str
    backend: str = "default"
    set_by_hand: Limit | None = None
    declared: list[int] = field(default_factory=list)
    """The smallest and the largest number that the rows of its live jobs say; empty where it has none."""
    taken: int = 0
    """READY and RUNNING jobs under it."""
    waiting: int = 0
    """Jobs under it that are WAITING for `limit`, for a slot of this limit or of another one."""
    lower_bounds: set[str] = field(default_factory=set)
    """Names of the counts that met their cap: there are at least so many."""
    is_secret: bool = False
    """Whether the key may have been made of an argument that its task hides."""

    @property
    def at_once(self) -> list[int]:
        """What holds: the number that was set, or the smallest and the largest of the rows'."""
        by_hand = self.set_by_hand.at_once if self.set_by_hand is not None else None
        return self.declared if by_hand is None else [by_hand] * 2

    @property
    def shown_target(self) -> str:
        """The name or the key without what is secret in it."""
        return MASK if self.is_secret else text(self.target)


@dataclass(frozen=True, slots=True)
class Standings:
    """Limits that have live jobs under them or were set by hand, by kind and target; unless `is_all` there are more."""

    rows: list[Standing]
    is_all: bool

    def find(self, kind: str, target: str) -> list[Standing]:
        """Return how a limit stands, in each backend that has jobs under it."""
        return [row for row in self.rows if (row.kind, row.target) == (kind, target)]


def limits_now(using: str) -> Standings:
    """Read every limit that has live jobs under it, or that a person has set. Two queries, whatever is in the queue.

    Raises OperationalError where even that takes longer than `glance` allows.
    """
    params = {"cap": COUNT_CAP, "lane_cap": LANE_CAP}
    with glance(using, settings=PLAN_GUARD):
        lanes = run_on(connections[using], Statement("limit_stats", params, list))
        by_hand = list(
            Limit.objects.using(using).filter(at_once__isnull=False).order_by("kind", "target")[:MOST_BY_HAND]
        )
    standings: dict[tuple[str, str, str], Standing] = {}
    hides = cache(_hides_keys)
    for lane in lanes:
        for found in _limits_of(lane, hides=hides(lane[3])):
            _add(standings.setdefault((found.kind, found.target, found.backend), found), found)
    for limit in by_hand:
        known = [standing for standing in standings.values() if (standing.kind, standing.target) == _name(limit)]
        for standing in known or [standings.setdefault((*_name(limit), ""), Standing(*_name(limit)))]:
            standing.set_by_hand = limit
            # Somebody has typed it: it is in the audit trail anyway.
            standing.is_secret = False
    saw_all_lanes = sum(lane[0] == "waiting" for lane in lanes) < LANE_CAP
    saw_all_slots = not any(lane[0] == "taken" and lane[5] for lane in lanes)
    return Standings([standings[key] for key in sorted(standings)], is_all=saw_all_lanes and saw_all_slots)


def hints_for(limit: Limit, using: str) -> list[str]:
    """Say what whoever has just set a limit should know: that no job is under it, or that nothing has its name.

    A limit that is set stands for one that was declared; a job that is under none stays so.
    """
    try:
        tasks, standings = registry.known_tasks(), limits_now(using)
    except (ImportError, OperationalError):
        return []
    if not standings.is_all or any(standing.declared for standing in standings.find(limit.kind, limit.target)):
        return []
    hints, at_once = [], max(1, limit.at_once or 0)
    match limit.kind:
        case Limit.Kind.QUEUE:
            policies = [queue_options(alias).queue(limit.target) for alias in task_backends.settings]
            if any(policy.max_running is not None for policy in policies):
                return []
            hints = [hint("task has the queue", limit.target, queue_names(tasks))]
            remedy = f'declare one: OPTIONS queues={{"{limit.target}": {{"max_running": {at_once}}}}}'
        case Limit.Kind.TASK:
            named = [task for task in tasks if limit.target in names_of(task)]
            if any(concurrency_limit_of(task) is not None and is_limited_as_a_whole(task) for task in named):
                return []
            hints = [hint("task is named", limit.target, task_names(tasks))]
            remedy = f"declare one: @task(concurrency_limit={at_once})"
        case _:
            remedy = "it holds for those that come with it"
    none = f"no live job is under a limit of {limit.kind} {limit.target}, so this holds up none; {remedy}"
    return [*filter(None, hints), none]


def _limits_of(lane: Row, *, hides: bool) -> Iterable[Standing]:
    state, backend, queue_name, task, key, met_its_cap, *counts = lane
    targets = {"key": key, "task": task, "queue": queue_name}
    for place, (kind, target) in enumerate(targets.items()):
        number, least, most = counts[3 * place : 3 * place + 3]
        if number:
            bounds = {state} if met_its_cap else set()
            found = Standing(kind, target, backend, None, [least, most], 0, 0, bounds, hides and kind == "key")
            setattr(found, state, number)
            yield found


def _add(standing: Standing, more: Standing) -> None:
    if standing is more:
        return
    standing.taken += more.taken
    standing.waiting += more.waiting
    standing.declared = [min(standing.declared[0], more.declared[0]), max(standing.declared[1], more.declared[1])]
    standing.lower_bounds |= more.lower_bounds
    standing.is_secret |= more.is_secret


def _name(limit: Limit) -> tuple[str, str]:
    return limit.kind, limit.target


def _hides_keys(task_name: str) -> bool:
    """Say whether keys of this task's jobs may have in them what it hides: unless they are of its other arguments."""
    task = registry.find(task_name)
    if task is None:
        return True
    sensitive = sensitive_of(task)
    template = getattr(task, "concurrency_key", None)
    if not sensitive or template is None:
        return False
    hidden = Names(sensitive)
    return not isinstance(template, str) or any(name in hidden for name in names_in(template))
