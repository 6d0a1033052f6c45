"""The drill: one job delivered twice in every way that a killed process can bring about, and what it did each time.

A process can be killed before or after each COMMIT of a task, and after its end, before anybody knows of it. In each
case the job is run again. What then has happened more often than after a single run has doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connections
from django.db.models import QuerySet

from django_jobqueue.compat import AnyTask
from django_jobqueue.database import queue_database, queue_options
from django_jobqueue.models import Job
from django_jobqueue.policy.lifecycle import TERMINAL
from django_jobqueue.policy.outcomes import Committed, Failure, Lost, Outcome
from django_jobqueue.testing.asked import arranged, counted, require_task
from django_jobqueue.testing.commit_points import Moment
from django_jobqueue.testing.fork import in_a_fork
from django_jobqueue.testing.hands import Hands
from django_jobqueue.testing.waits import words_for_delay
from django_jobqueue.worker.flight import Flight

Effects = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One way to deliver a job twice, and what it came to."""

    how: str
    status: str
    effects: dict[str, int]


@dataclass(slots=True)
class Drill:
    """What came of every delivery. `once` are the effects of a single run."""

    once: dict[str, int]
    deliveries: list[Delivery] = field(default_factory=list)

    @property
    def doubled(self) -> dict[str, list[str]]:
        """The effects that have happened too often, and in which deliveries."""
        return self._different(lambda count, expected: count > expected)

    @property
    def missing(self) -> dict[str, list[str]]:
        """The effects that have happened too seldom."""
        return self._different(lambda count, expected: count < expected)

    @property
    def failed(self) -> list[str]:
        """The deliveries after which the job had not succeeded."""
        return [delivery.how for delivery in self.deliveries if delivery.status != Job.Status.SUCCESSFUL]

    @property
    def is_safe(self) -> bool:
        """Whether a second delivery makes no difference."""
        return not (self.doubled or self.missing or self.failed)

    def _different(self, differs: Callable[[int, int], bool]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for delivery in self.deliveries:
            for name in {*self.once, *delivery.effects}:
                if differs(delivery.effects.get(name, 0), self.once.get(name, 0)):
                    found.setdefault(name, []).append(delivery.how)
        return found

    def __str__(self) -> str:
        lines = [f"once: {self.once}"]
        lines += [f"{delivery.how}: {delivery.status}, {delivery.effects}" for delivery in self.deliveries]
        lines += [f"DOUBLED {name}: {', '.join(how)}" for name, how in sorted(self.doubled.items())]
        lines += [f"MISSING {name}: {', '.join(how)}" for name, how in sorted(self.missing.items())]
        lines += [f"NOT SUCCESSFUL: {how}" for how in self.failed]
        return "\n".join(lines)


def deliver_twice(
    task: AnyTask,
    arrange: Callable[[], Mapping[str, Any]],
    effects: Callable[..., Effects],
    *,
    allow_none: bool = False,
) -> Drill:
    """Run a task twice in every way, and report which of its effects have doubled.

    `arrange()` makes what the task needs and returns its keyword arguments, new ones each time; `effects(**kwargs)`
    counts what has happened for them, by name. Each run is a forked process that is really killed, so count what
    outlives it: rows, files, what a server has received; not calls of a mock.

    Needs committed data: a TransactionTestCase, or `django_db(transaction=True)`. Raises AssertionError if a single
    run does not succeed, or has no effect that is counted: then nothing could double. `allow_none` is for a task that
    really does nothing.
    """
    require_task("deliver_twice", task)
    databases = {queue_database(task.backend), queue_options(task.backend).transaction_database}
    if any(connections[alias].in_atomic_block for alias in databases):
        raise RuntimeError(
            "deliver_twice() commits: use TransactionTestCase, or pytest.mark.django_db(transaction=True)"
        )
    for alias in connections:
        if connections[alias].settings_dict.get("OPTIONS", {}).get("pool"):
            raise RuntimeError(
                f'deliver_twice() forks, and a pool cannot be shared: leave "pool" out of DATABASES[{alias!r}] in tests'
            )
    first = _Job(task, arrange)
    commits = first.run()
    if first.status != Job.Status.SUCCESSFUL:
        raise AssertionError(f"a single run does not succeed, but is {first.status}: {first.words}")
    drill = Drill(once=counted(effects(**first.kwargs)))
    if not any(drill.once.values()) and not allow_none:
        raise AssertionError(
            f"effects() counted nothing after a run that succeeded ({drill.once}); the task runs in another process: "
            "count rows, files, or what a server received, not mail.outbox or a mock; allow_none=True is for a task "
            "that really does nothing"
        )
    moments: list[Moment | None] = [(number, when) for number in range(1, commits + 1) for when in ("before", "after")]
    for moment in [*moments, None]:
        job = _Job(task, arrange)
        job.run_unheard(moment)
        job.run()
        how = f"killed {moment[1]} commit {moment[0]}" if moment else "run to its end, unheard"
        drill.deliveries.append(Delivery(how, job.status, counted(effects(**job.kwargs))))
    return drill


class _Job:
    """One job of the task, in a queue of its own, to be run more than once."""

    def __init__(self, task: AnyTask, arrange: Callable[[], Mapping[str, Any]]) -> None:
        self.kwargs = arranged(arrange())
        self._hands = Hands(task.backend)
        self._id = int(task.enqueue(**self.kwargs).id)
        self._hands.serve(f"drill {self._id}")
        self._row().update(queue_name=f"drill {self._id}")
        self.words = ""

    @property
    def status(self) -> str:
        """The status of its row."""
        return self._row().values_list("status", flat=True).get()

    def run_unheard(self, moment: Moment | None) -> None:
        """Run it in a process that is killed at a moment, or at its end: nobody hears what came of it."""
        flight = self._take()
        in_a_fork(lambda: self._hands.run(flight), moment)
        self._settle(flight, Lost(Failure("", "the drill killed its process")))

    def run(self) -> int:
        """Run it until it is over, as a worker would; answer with the commits of the first run."""
        commits: list[int] = []
        while self.status not in TERMINAL:
            flight = self._take()
            end = in_a_fork(lambda flight=flight: self._hands.run(flight), None)  # type: ignore[misc]
            commits.append(end.commits)
            self._settle(flight, end.outcome or Lost(Failure("", "its process has died"), crashed=True))
        return commits[0] if commits else 0

    def _row(self) -> QuerySet[Job]:
        return Job.objects.using(self._hands.using).filter(pk=self._id)

    def _take(self) -> Flight:
        flight = self._hands.take(None)  # it waits for no back-off
        if flight is None:
            delay = words_for_delay(self._row().get())
            question = "" if delay else ": does a worker run beside?"
            raise AssertionError(f"job {self._id} is {self.status}{delay}, and cannot be claimed{question}")
        return flight

    def _settle(self, flight: Flight, outcome: Outcome | Committed) -> None:
        self.words = self._hands.settle(flight, outcome).message
