"""Outcomes in words, for a frame: what a runner says of an attempt, and how the keeper reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django_jobqueue.policy.outcomes import (
    NO_FAILURE,
    Cancelled,
    Committed,
    Failed,
    Failure,
    Interrupted,
    Outcome,
    Snoozed,
    Succeeded,
    TimedOut,
    Verdict,
)

NONSENSE = (ValueError, TypeError, RecursionError)
"""What is raised where words are read that no runner says by itself."""


def wire(outcome: Outcome | Committed) -> list[Any]:
    """Put an outcome into words. Raises TypeError for one that only a keeper can know of."""
    match outcome:
        case Succeeded(result):
            return ["succeeded", result]
        case Failed(failure, verdict, after_seconds, trips):
            return ["failed", _words(failure), verdict, after_seconds, trips]
        case TimedOut(failure):
            return ["timed_out", _words(failure)]
        case Snoozed(seconds, failure, trips):
            return ["snoozed", seconds, _words(failure) if failure != NO_FAILURE else [], trips]
        case Cancelled(failure):
            return ["cancelled", _words(failure)]
        case Interrupted(failure, counted=False, suspect=True):
            return ["spoilt", _words(failure)]
        case Committed():
            return ["committed"]
        case _:
            raise TypeError(f"a runner cannot come to {outcome!r}")


def read_outcome(words: Sequence[Any]) -> Outcome | Committed:
    """Read an outcome from its words. Raises ValueError for what is none."""
    match words:
        case ["succeeded", result]:
            return Succeeded(result)
        case ["failed", failure, verdict, after_seconds, bool() | None as trips]:
            return Failed(Failure(*failure), Verdict(verdict), after_seconds, trips)
        case ["timed_out", failure]:
            return TimedOut(Failure(*failure))
        case ["snoozed", seconds, failure, bool() | None as trips]:
            return Snoozed(seconds, Failure(*failure), trips)
        case ["cancelled", failure]:
            return Cancelled(Failure(*failure))
        case ["spoilt", failure]:
            return Interrupted(Failure(*failure), counted=False, suspect=True)
        case ["committed"]:
            return Committed()
        case _:
            raise ValueError(f"no outcome: {words!r}")


def _words(failure: Failure) -> list[str]:
    return [failure.exception_class, failure.message, failure.traceback, failure.cause]
