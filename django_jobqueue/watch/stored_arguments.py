"""Whether what is stored now fits the code that is here: asked before a deploy takes over.

Live jobs and open dead letters are read, each once, in one snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from django_jobqueue import secret_sources
from django_jobqueue.any_task import require_arguments, version_of
from django_jobqueue.compat import AnyTask
from django_jobqueue.database import queue_options
from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.models import DeadLetter, Job
from django_jobqueue.policy.lifecycle import LIVE, Status
from django_jobqueue.registry import Registry
from django_jobqueue.shown import text, veil_of
from django_jobqueue.store.transaction import snapshot

CHUNK = 500
"""Rows that are in memory at a time."""

MAX_PROBLEMS = 10
"""Distinct problems that are told of each task and version."""

MAX_EXAMPLES = 3
"""Jobs that are named of each problem."""

_COLUMNS = ("id", "task", "version", "args", "kwargs", "backend")


@dataclass(slots=True)
class Problem:
    """What keeps jobs from being run by the code that is here: how many have it, and the ids of the first."""

    problem: str
    jobs: int = 0
    examples: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Fit:
    """How the stored arguments of one task and version fit: so many jobs, so many that do not, and why."""

    task: str
    version: int
    jobs: int = 0
    unfit: int = 0
    problems: list[Problem] = field(default_factory=list)
    """The first MAX_PROBLEMS that are distinct."""
    other_problems: int = 0
    """Jobs that have others."""

    def note(self, problem: str, job_id: int) -> None:
        """Count a job that does not fit."""
        self.unfit += 1
        known = next((each for each in self.problems if each.problem == problem), None)
        if known is None:
            if len(self.problems) >= MAX_PROBLEMS:
                self.other_problems += 1
                return
            known = Problem(problem)
            self.problems.append(known)
        known.jobs += 1
        if len(known.examples) < MAX_EXAMPLES:
            known.examples.append(job_id)


def stored_arguments(using: str, registry: Registry) -> list[Fit]:
    """Try the arguments of every live job and open dead letter on the code here, without calling a task.

    Upgrades are called, and what reads types of the project's. Secrets are looked for in the settings and the
    environment; no source of the project's is asked. Holds as many rows as CHUNK.
    """
    found: dict[tuple[str, int], Fit] = {}
    # Of one moment: a job that goes from one state to the next while others are read would be left out. And a named
    # cursor lives as long as a transaction, behind a pooler too.
    with snapshot(using):
        for job_id, name, version, args, kwargs, backend in _rows(using):
            fit = found.setdefault((name, version), Fit(name, version))
            fit.jobs += 1
            if problem := _problem(registry.get(name), args, kwargs, version, backend):
                fit.note(problem, job_id)
    return [found[key] for key in sorted(found)]


_STATES: list[dict[str, Any]] = [
    *({"status": status} for status in sorted(LIVE - {Status.READY})),
    {"status": Status.READY, "rate_key__isnull": True},
    {"status": Status.READY, "rate_key__isnull": False},
]


def _rows(using: str) -> Iterator[tuple[int, str, int, Any, Any, str]]:
    # State by state: each has an index of its own, and finished jobs are in none.
    sources: list[QuerySet[Any, Any]] = [
        Job.objects.using(using).filter(**state).values_list(*_COLUMNS) for state in _STATES
    ]
    letters = DeadLetter.objects.using(using).filter(status=DeadLetter.Status.OPEN)
    sources.append(letters.values_list(*[f"job__{name}" for name in _COLUMNS]))
    for source in sources:
        yield from source.iterator(chunk_size=CHUNK)


def _problem(task: AnyTask | None, args: Any, kwargs: Any, version: int, backend: str) -> str:
    if task is None:
        return "no task has this name"
    if version > version_of(task):
        return f"the code here knows version {version_of(task)} at most"
    try:
        references = require_arguments(task, args, kwargs, version=version)
    except InvalidPayload as error:
        return text(str(error), veil_of(task).secrets_in(args, kwargs))
    sources = (queue_options(backend).secret_sources if references else None) or {}
    return next(filter(None, (secret_sources.problem(each, sources) for each in sorted(references, key=str))), "")
