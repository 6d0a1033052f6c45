"""What the death of a runner means for the attempts that it had begun."""

from __future__ import annotations

import signal
from typing import NamedTuple

from django_jobqueue.policy.outcomes import Committed, Failure, Interrupted, Lost, Outcome
from django_jobqueue.worker.child import Runner
from django_jobqueue.worker.flight import Flight
from django_jobqueue.worker.oom import OutOfMemory


class Report(NamedTuple):
    """How a flight ended. `seconds` is its run time as the runner measured it, 0 if nobody did."""

    flight: Flight
    outcome: Outcome | Committed
    seconds: float


def tell_apart(runner: Runner) -> tuple[list[Flight], list[Flight]]:
    """Tell what a runner that is dead had begun from what it had not: read-ahead, and orders that never left."""
    unsent = runner.unsent()
    begun: list[Flight] = []
    never_started: list[Flight] = []
    for flight in runner.flights.values():
        (begun if flight.has_begun and flight not in unsent else never_started).append(flight)
    return begun, never_started


def fate(flight: Flight, runner: Runner, begun: list[Flight], how: str) -> Outcome | Committed:
    """Turn the death of a runner that had begun `begun` into the outcome of one of them. `how` is the cause of it."""
    if flight.is_committed:
        return Committed()
    if flight.ticket in runner.ends:
        return runner.ends[flight.ticket]
    if runner.ends:
        return Interrupted(Failure("", "another job in the same process had to be stopped"), counted=False)
    if runner.killed_why:
        return Interrupted(Failure("", runner.killed_why))
    died = Failure("django_jobqueue.exceptions.WorkerLost", f"its process died: {how}")
    if len(begun) == 1:
        return Lost(died, crashed=True)
    return Interrupted(died, counted=False, suspect=True)


def cause(code: int | None, oom: OutOfMemory) -> str:
    """Put an exit code into words; for a SIGKILL, whether the kernel seems to have sent it."""
    words = _in_words(code)
    if code == -signal.SIGKILL and oom.explains_a_death():
        return f"{words}, out of memory (OOM): the kernel killed a process of this worker's memory cgroup"
    return words


def _in_words(code: int | None) -> str:
    if code is None:
        return "nobody saw how"
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
